"""The section on load steps: sentences, a table, the load over time, and throughput over the load."""

from collections.abc import Iterator

import numpy as np

from plimsoll.analysis.scalability import CurveEstimate, Law
from plimsoll.insights.insights import Heading, Insight
from plimsoll.insights.load_steps.find import LoadStep, LoadSteps, load_steps
from plimsoll.model.document import (
    Block,
    ChartBlock,
    ChartSeries,
    ChartSpec,
    Column,
    Curve,
    DocumentTable,
    Paragraph,
    Point,
    Section,
    Span,
)
from plimsoll.model.remark import format_count
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_percent, format_value, number
from plimsoll.review.review import Review

_CURVE = 80  # points


def _build_blocks(steps: LoadSteps | None, review: Review, zone: Zone) -> tuple[Block, ...]:
    """Return the sentences, the table and the charts; nothing if the load was not stepped."""
    if steps is None:
        return ()
    chart = ChartSpec(
        (ChartSeries(steps.load.signal.title, "samples", steps.load.samples),),
        steps.load.signal.unit,
        f"Chart: {steps.load.signal.title}, with its {len(steps.steps)} load steps shaded.",
        spans=tuple(Span(step.start, step.end) for step in steps.steps),
    )
    curve = _build_curve(steps)
    paragraphs = tuple(Paragraph(sentence) for sentence in list_sentences(steps))
    blocks = (*paragraphs, _build_table(steps, zone), ChartBlock(chart), *([curve] if curve else ()))
    return (Section("", blocks, level=3, style="steps", noun="steps"),)


def _build_table(steps: LoadSteps, zone: Zone) -> DocumentTable:
    """Return a table with a row for each step; columns without any value are left out."""
    columns = [
        ("Step", [str(step.number) for step in steps.steps]),
        ("From – to", [f"{zone.clock(s.start, date=False)}–{zone.clock(s.end, date=False)}" for s in steps.steps]),
        (steps.load.signal.title, [_format_bare_load(steps, step.load) for step in steps.steps]),
        *((title, texts) for title, texts in _list_optional_columns(steps) if any(texts)),
        ("Samples", [number(step.samples) for step in steps.steps]),
        ("", marks := [_mark(steps, step) for step in steps.steps]),
    ]
    optimum = frozenset(at for at, mark in enumerate(marks) if mark == "optimum")
    heads = tuple(Column(title, numeric=bool(title)) for title, _ in columns)
    return DocumentTable(heads, tuple(zip(*(texts for _, texts in columns), strict=True)), "Load steps", optimum)


def _list_optional_columns(steps: LoadSteps) -> Iterator[tuple[str, list[str]]]:
    """Yield the heading and the cells of each column that is left out if it has no values."""
    yield "Processor", [_format_value(step.cpu, "%") for step in steps.steps]
    yield "Context switches", [_format_value(step.context_switches, "/s") for step in steps.steps]
    if steps.throughput is not None and steps.answers_load:
        unit = steps.throughput.signal.unit
        yield steps.throughput.signal.title, [_format_value(step.throughput, unit) for step in steps.steps]
    if steps.throughput is None or steps.throughput.kind != "bytes":
        yield "Bytes", [_format_value(step.bytes, "bytes/s") for step in steps.steps]
    if any(step.cost_seconds is not None for step in steps.steps):
        costs = [None if step.cost_seconds is None else step.cost_seconds * 1000 for step in steps.steps]
        yield "Processor for each", [_format_value(cost, "ms") for cost in costs]
    else:
        yield "Processor per 1/s", [_format_value(step.cost_percent, "%") for step in steps.steps]
    if steps.latency is not None:
        yield steps.latency.title, [_format_value(step.latency, steps.latency.unit) for step in steps.steps]


def _format_value(value: float | None, unit: str) -> str:
    return "" if value is None else format_value(value, unit)


def _format_bare_load(steps: LoadSteps, load: float) -> str:
    """Return a load as text; the unit is left out if the title of the load contains it."""
    unit = steps.load.signal.unit
    return number(load) if unit in steps.load.signal.title else format_value(load, unit)


def _mark(steps: LoadSteps, load_step: LoadStep) -> str:
    if steps.optimum is not None and load_step.number == steps.optimum.number:
        return "optimum"
    if steps.best is not None and load_step.number == steps.best.number:
        return "most"
    return "left out" if load_step.left_out else ""


def _build_curve(steps: LoadSteps) -> Curve | None:
    """Return a chart of throughput and processor time over the load; None if throughput was not recorded separately."""
    measured = steps.measured
    if not steps.answers_load or steps.throughput is None or len(measured) < 2:
        return None
    unit, load_unit = steps.throughput.signal.unit, steps.load.signal.unit
    right = _round(max(step.load for step in measured))
    top = _round(max(step.throughput or 0.0 for step in measured)) * 1.04
    values = ", ".join(f"{format_value(s.load, load_unit)} {format_value(s.throughput or 0, unit)}" for s in measured)
    fit: tuple[tuple[float, float], ...] = ()
    marks = [Point(steps.knee.load, steps.knee.value, "knee")] if steps.knee else []
    if isinstance(steps.law, Law):
        loads = np.linspace(0, right, _CURVE)
        fit = tuple(zip(loads.tolist(), steps.law(loads).tolist(), strict=True))
        if steps.law.peak and steps.law.maximum:
            marks.append(Point(steps.law.peak.value, steps.law.maximum.value, "maximum by the law"))
    shares = tuple(
        Point(step.load, step.cpu, f"Step {step.number}: processors {format_value(step.cpu, '%')}")
        for step in measured
        if step.cpu is not None and step.cpu <= 100
    )
    title = steps.throughput.signal.title
    legend = [("samples", f"{title}, with the universal scalability law" if fit else title)]
    return Curve(
        f"{title} over {steps.load.signal.title}: {values}.",
        steps.load.signal.title,
        right,
        top,
        unit,
        points=tuple(
            Point(
                step.load,
                step.throughput or 0,
                f"Step {step.number}: {format_value(step.load, load_unit)}, {format_value(step.throughput or 0, unit)}",
            )
            for step in measured
        ),
        shares=shares,
        fit=fit,
        marks=tuple(marks),
        legend=(*legend, ("other", "processor time (squares, right scale)")) if shares else tuple(legend),
    )


def _round(value: float) -> float:
    """Return the next round number as the end of a scale: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten."""
    power = 10 ** np.floor(np.log10(value)) if value > 0 else 1.0
    return next(float(factor * power) for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if factor * power >= value)


def list_sentences(steps: LoadSteps) -> tuple[str, ...]:
    """Return the sentences on the load steps, the most important first."""
    parts = (
        _describe_load_range,
        _describe_optimum,
        _describe_after_optimum,
        _describe_switching,
        _describe_scaling,
        _describe_latency,
    )
    return tuple(sentence for part in parts for sentence in part(steps))


def _format_throughput(steps: LoadSteps, step: LoadStep) -> str:
    """Return the throughput of a step: `23.8 /s`."""
    return format_value(step.throughput or 0, steps.throughput.signal.unit if steps.throughput else "")


def _format_cost(step: LoadStep) -> str:
    """Return the cost of an operation: `29.6 ms of a processor`; in % of all processors if their number is unknown."""
    if step.cost_seconds is not None:
        ppem = f" ({number(step.cost_mhz)} MHz for one a second)" if step.cost_mhz is not None else ""
        return f"{format_value(step.cost_seconds * 1000, 'ms')} of a processor each{ppem}"
    return f"{number(step.cost_percent or 0)} % of processor time for one a second"


def _describe_load_range(steps: LoadSteps) -> Iterator[str]:
    title = steps.load.signal.title
    lowest, highest = (pick(step.load for step in steps.steps) for pick in (min, max))
    span = f"{title} from {_format_bare_load(steps, lowest)} to {_format_bare_load(steps, highest)}"
    where = " in plimsoll.toml" if steps.by_hand else ""
    yield f"{format_count(len(steps.steps), 'load step')}{where}: {span}."
    if steps.load.kind is None:
        yield "No load was recorded; the steps are those of processor time, which may have risen for another reason."
    elif steps.load.kind == "bytes" and not steps.by_hand:
        yield "No operations or connections show steps; the bytes moved stand for the load."


def _describe_optimum(steps: LoadSteps) -> Iterator[str]:
    """Yield the sentences on the best step, if a higher load was measured too."""
    best = steps.best
    if best is None or len(steps.measured) < 2:
        return
    left_out = [step for step in steps.measured if step.left_out]
    among, limit = "", number(steps.switches_limit or 0)
    if left_out and len(left_out) < len(steps.measured):
        among = f" of the steps with at most {limit} context switches/s ({len(left_out)} left out, as the studies do)"
    elif left_out:
        among = f" (every step has more than the {limit} context switches/s that the studies allow)"
    cost = f", {_format_cost(best)}" if best.cost_percent is not None else ""
    cpu = f" at {format_percent((best.cpu or 0) / 100)} processor time" if best.cpu is not None else ""
    did = "is the optimum" if steps.optimum else "answers most"
    yield f"Step {best.number} {did}{among}: {_format_throughput(steps, best)}{cpu}{cost}."
    if not steps.optimum:
        yield "No higher load was measured, so whether more would be answered is not known."


def _describe_after_optimum(steps: LoadSteps) -> Iterator[str]:
    """Yield the sentences on falling throughput and on context switches after the best step."""
    if steps.falls_after is not None:
        top = steps.falls_after
        lowest = min(step.throughput or 0 for step in steps.measured if step.number > top.number)
        fall = format_percent(1 - lowest / (top.throughput or 1))
        yield (
            f"After step {top.number} ({_format_throughput(steps, top)}) throughput falls by up to {fall} "
            "although the load does not."
        )
    elif steps.last_step_is_lower:
        yield (
            f"After step {steps.top.number} throughput is lower. Whether less was asked or less was answered is "
            "not known: no connections or users were recorded as the load."
        )


def _describe_switching(steps: LoadSteps) -> Iterator[str]:
    if steps.switching is None:
        return
    before, after = steps.switching
    growth = (after.throughput or 0) / (before.throughput or 1) - 1
    yield (
        f"From step {before.number} to {after.number} context switches rise from "
        f"{number(before.context_switches or 0)} to {number(after.context_switches or 0)}/s for "
        f"{format_percent(growth) if growth > 0 else 'no'} more throughput, and each "
        "operation costs more: the processors are spent on switching."
    )


def _describe_scaling(steps: LoadSteps) -> Iterator[str]:
    """Yield the sentences on the knee and on the scalability law."""
    unit, load_unit = steps.throughput.signal.unit if steps.throughput else "", steps.load.signal.unit
    if steps.knee is not None:
        yield (
            f"Throughput bends at {format_value(steps.knee.load, load_unit)} ({format_value(steps.knee.value, unit)})."
        )
    law = steps.law
    if not isinstance(law, Law):
        return
    text = (
        f"Universal scalability law: contention {_format_range(law.contention)}, coherency "
        f"{_format_range(law.coherency)}"
    )
    if law.peak is None or law.maximum is None:
        yield f"{text}; no maximum within what was measured."
        return
    yield (
        f"{text}; throughput is highest, {format_value(law.maximum.value, unit)}, at "
        f"{format_value(law.peak.value, load_unit)} ({number(law.peak.low)} to {number(law.peak.high)})."
    )


def _format_range(estimate: CurveEstimate) -> str:
    return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"


def _describe_latency(steps: LoadSteps) -> Iterator[str]:
    knee = steps.latency_knee
    if knee is None or steps.throughput is None or steps.latency is None:
        return
    unit = steps.throughput.signal.unit
    share, flat = format_percent(knee.rate / knee.highest), format_value(knee.flat, steps.latency.unit)
    yield (
        f"Latency stays near {flat} up to {format_value(knee.rate, unit)}, {share} of the "
        f"highest throughput ({format_value(knee.highest, unit)}), and rises beyond."
    )


INSIGHT = Insight("load_steps", Heading("load-steps", "Load steps", "Load steps", "beside"), load_steps, _build_blocks)
