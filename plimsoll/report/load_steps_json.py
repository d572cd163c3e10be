"""Fills the part of the JSON document about load steps."""

from dataclasses import asdict

from plimsoll.analysis.scalability import Estimate, Law, Refused
from plimsoll.insights.load_steps.find import LoadSteps
from plimsoll.insights.load_steps.step_means import LoadStep
from plimsoll.insights.load_steps.words import sentences
from plimsoll.model.times import iso
from plimsoll.report.json_schema import (
    EstimatePart,
    KneePart,
    LatencyKneePart,
    LoadStepPart,
    LoadStepsPart,
    ScalabilityPart,
    StepHostPart,
)


def load_steps_part(steps: LoadSteps) -> LoadStepsPart:
    """The load steps and what they show."""
    throughput, knee, latency = steps.throughput, steps.knee, steps.latency_knee
    return LoadStepsPart(
        load=steps.load.name,
        load_kind=steps.load.kind,
        load_unit=steps.load.signal.unit,
        throughput=throughput.name if throughput else None,
        throughput_unit=throughput.signal.unit if throughput else None,
        latency=steps.latency.title if steps.latency else None,
        latency_unit=steps.latency.unit if steps.latency else None,
        by_hand=steps.by_hand,
        switches_limit=steps.switches_limit,
        steps=[_step(one) for one in steps.steps],
        optimum=steps.optimum.number if steps.optimum else None,
        falls_after=steps.falls_after.number if steps.falls_after else None,
        switching=[one.number for one in steps.switching or ()],
        knee=KneePart(load=knee.load, throughput=knee.value) if knee else None,
        latency_knee=LatencyKneePart(latency=latency.flat, rate=latency.rate, maximum=latency.maximum)
        if latency
        else None,
        scalability=_scalability(steps.law),
        sentences=list(sentences(steps)),
    )


def _step(one: LoadStep) -> LoadStepPart:
    return LoadStepPart(
        number=one.number,
        start=iso(one.start),
        end=iso(one.end),
        samples=one.samples,
        load=one.load,
        throughput=one.throughput,
        throughput_error=None if one.throughput is None else one.error,
        cpu=one.cpu,
        context_switches=one.context_switches,
        bytes=one.bytes,
        latency=one.latency,
        cost_percent=one.cost_percent,
        cost_core_seconds=one.cost_seconds,
        cost_ppem=one.cost_mhz,
        left_out=one.left_out,
        hosts=[StepHostPart(**asdict(host)) for host in one.hosts],
    )


def _scalability(law: Law | Refused) -> ScalabilityPart:
    if isinstance(law, Refused):
        return ScalabilityPart(refused=law.why)
    return ScalabilityPart(
        refused=None,
        rate=_estimate(law.rate),
        contention=_estimate(law.contention),
        coherency=_estimate(law.coherency),
        peak_load=_estimate(law.peak) if law.peak else None,
        maximum=_estimate(law.maximum) if law.maximum else None,
        extrapolated=law.peak.value > law.measured_to if law.peak else None,
        r_squared=law.r_squared,
        aic=law.aic,
        aic_line=law.aic_line,
    )


def _estimate(one: Estimate) -> EstimatePart:
    return EstimatePart(value=one.value, low=one.low, high=one.high)
