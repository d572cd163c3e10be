"""Load steps, as JSON."""

from dataclasses import asdict
from typing import Literal

from pydantic import Field

from plimsoll.analysis.scalability import Estimate, Law, Refused
from plimsoll.insights.insight import JsonField, Part
from plimsoll.insights.load_steps.find import LoadSteps
from plimsoll.insights.load_steps.step_means import LoadStep
from plimsoll.insights.load_steps.words import sentences
from plimsoll.model.times import iso


class StepHostPart(Part):
    """A host during a load step."""

    host: str
    cpu: float | None = Field(description="Processor time in %.")
    context_switches: float | None = Field(description="A second.")


class LoadStepPart(Part):
    """One load step: the means of its samples, without those at its edges."""

    number: int
    start: str
    end: str
    samples: int
    load: float
    throughput: float | None
    throughput_error: float | None = Field(
        description="Standard error of the throughput, with the autocorrelation of the samples."
    )
    cpu: float | None = Field(description="Processor time in %, the mean of the hosts that do the work.")
    context_switches: float | None = Field(description="A second, the sum of these hosts.")
    bytes: float | None = Field(description="Bytes a second.")
    latency: float | None
    cost_percent: float | None = Field(description="Processor time (%) for one operation a second.")
    cost_core_seconds: float | None = Field(
        description="Processor seconds for one operation; null if the number of processors is not known."
    )
    cost_ppem: float | None = Field(
        description="Megahertz for one operation a second (the studies' PPEM); null if the number of processors or "
        "their clock is not known."
    )
    left_out: bool = Field(description="It has more context switches than the studies measure with.")
    hosts: list[StepHostPart]


class EstimatePart(Part):
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


class ScalabilityPart(Part):
    """The universal scalability law of throughput over load, or why it is not fitted."""

    refused: str | None = Field(description="Why it is not fitted; the other fields are then null.")
    rate: EstimatePart | None = Field(default=None, description="Throughput of a load of 1 (lambda).")
    contention: EstimatePart | None = Field(default=None, description="Sigma.")
    coherency: EstimatePart | None = Field(default=None, description="Kappa.")
    peak_load: EstimatePart | None = Field(
        default=None, description="The load with the highest throughput; null if no maximum was measured."
    )
    maximum: EstimatePart | None = Field(default=None, description="The throughput at that load.")
    extrapolated: bool | None = Field(
        default=None, description="False: a maximum beyond the measured loads is not claimed."
    )
    r_squared: float | None = None
    aic: float | None = Field(default=None, description="Akaike's criterion of the law; less is better.")
    aic_line: float | None = Field(default=None, description="The same of a straight line through 0.")


class KneePart(Part):
    """Where throughput stops to grow with the load."""

    load: float
    throughput: float


class LatencyKneePart(Part):
    """Up to which throughput latency is flat."""

    latency: float = Field(description="While it is flat.")
    rate: float = Field(description="The last throughput with flat latency.")
    maximum: float = Field(description="The highest throughput.")


class LoadStepsPart(Part):
    """The steps of a load that was raised, or lowered, from level to level."""

    load: str = Field(description="The signal that has the steps.")
    load_kind: Literal["operations", "connections", "bytes"] | None = Field(
        description="Null for processor time, where no load was recorded."
    )
    load_unit: str
    throughput: str | None = Field(description="The signal of the throughput.")
    throughput_unit: str | None
    latency: str | None = Field(description="The title of the signal of the latency.")
    latency_unit: str | None
    by_hand: bool = Field(description="The steps are phases of plimsoll.toml.")
    switches_limit: float | None = Field(
        description="Context switches a second, beyond which steps are left out when the optimum is chosen."
    )
    steps: list[LoadStepPart]
    optimum: int | None = Field(
        description="The number of the step with the highest throughput at the least cost; null if no higher load than "
        "in it was measured."
    )
    falls_after: int | None = Field(
        description="The number of the step after which throughput falls although the load does not."
    )
    switching: list[int] = Field(
        description="Two steps between which context switches double for less than 10 % more throughput; or empty."
    )
    knee: KneePart | None
    latency_knee: LatencyKneePart | None
    scalability: ScalabilityPart
    sentences: list[str]


def load_steps_part(steps: LoadSteps | None) -> LoadStepsPart | None:
    """The load steps and what they show; None if the load was not stepped."""
    if steps is None:
        return None
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
        latency_knee=LatencyKneePart(latency=latency.flat, rate=latency.rate, maximum=latency.highest)
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
        extrapolated=False if law.peak else None,
        r_squared=law.r_squared,
        aic=law.aic,
        aic_line=law.aic_line,
    )


def _estimate(one: Estimate) -> EstimatePart:
    return EstimatePart(value=one.value, low=one.low, high=one.high)


FIELD = JsonField("load_steps", LoadStepsPart | None, "Null if the load was not stepped.", load_steps_part)
