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
from plimsoll.model.remark import counted
from plimsoll.model.times import Zone
from plimsoll.model.value_text import number, percent, quantity
from plimsoll.review.review import Review

_CURVE = 80  # points


def _blocks(steps: LoadSteps | None, review: Review, zone: Zone) -> tuple[Block, ...]:
    """Return the sentences, the table and the charts; nothing if the load was not stepped."""
    if steps is None:
        return ()
    chart = ChartSpec(
        (ChartSeries(steps.load.signal.title, "samples", steps.load.samples),),
        steps.load.signal.unit,
        f"Chart: {steps.load.signal.title}, with its {len(steps.steps)} load steps shaded.",
        spans=tuple(Span(step.start, step.end) for step in steps.steps),
    )
    curve = _curve(steps)
    paragraphs = tuple(Paragraph(sentence) for sentence in sentences(steps))
    blocks = (*paragraphs, _table(steps, zone), ChartBlock(chart), *([curve] if curve else ()))
    return (Section("", blocks, level=3, style="steps", noun="steps"),)


def _table(steps: LoadSteps, zone: Zone) -> DocumentTable:
    """Return a table with a row for each step; columns without any value are left out."""
    columns = [
        ("Step", [str(step.number) for step in steps.steps]),
        ("From – to", [f"{zone.clock(s.start, date=False)}–{zone.clock(s.end, date=False)}" for s in steps.steps]),
        (steps.load.signal.title, [_bare_load(steps, step.load) for step in steps.steps]),
        *((title, texts) for title, texts in _optional_columns(steps) if any(texts)),
        ("Samples", [number(step.samples) for step in steps.steps]),
        ("", marks := [_mark(steps, step) for step in steps.steps]),
    ]
    optimum = frozenset(at for at, mark in enumerate(marks) if mark == "optimum")
    heads = tuple(Column(title, numeric=bool(title)) for title, _ in columns)
    return DocumentTable(heads, tuple(zip(*(texts for _, texts in columns), strict=True)), "Load steps", optimum)


def _optional_columns(steps: LoadSteps) -> Iterator[tuple[str, list[str]]]:
    """Yield the heading and the cells of each column that is left out if it has no values."""
    yield "Processor", [_value(step.cpu, "%") for step in steps.steps]
    yield "Context switches", [_value(step.context_switches, "/s") for step in steps.steps]
    if steps.throughput is not None and steps.answers_load:
        unit = steps.throughput.signal.unit
        yield steps.throughput.signal.title, [_value(step.throughput, unit) for step in steps.steps]
    if steps.throughput is None or steps.throughput.kind != "bytes":
        yield "Bytes", [_value(step.bytes, "bytes/s") for step in steps.steps]
    if any(step.cost_seconds is not None for step in steps.steps):
        costs = [None if step.cost_seconds is None else step.cost_seconds * 1000 for step in steps.steps]
        yield "Processor for each", [_value(cost, "ms") for cost in costs]
    else:
        yield "Processor per 1/s", [_value(step.cost_percent, "%") for step in steps.steps]
    if steps.latency is not None:
        yield steps.latency.title, [_value(step.latency, steps.latency.unit) for step in steps.steps]


def _value(value: float | None, unit: str) -> str:
    return "" if value is None else quantity(value, unit)


def _bare_load(steps: LoadSteps, load: float) -> str:
    """Return a load as text; the unit is left out if the title of the load contains it."""
    unit = steps.load.signal.unit
    return number(load) if unit in steps.load.signal.title else quantity(load, unit)


def _mark(steps: LoadSteps, load_step: LoadStep) -> str:
    if steps.optimum is not None and load_step.number == steps.optimum.number:
        return "optimum"
    if steps.best is not None and load_step.number == steps.best.number:
        return "most"
    return "left out" if load_step.left_out else ""


def _curve(steps: LoadSteps) -> Curve | None:
    """Return a chart of throughput and processor time over the load; None if throughput was not recorded separately."""
    measured = steps.measured
    if not steps.answers_load or steps.throughput is None or len(measured) < 2:
        return None
    unit, load_unit = steps.throughput.signal.unit, steps.load.signal.unit
    right = _round(max(step.load for step in measured))
    top = _round(max(step.throughput or 0.0 for step in measured)) * 1.04
    values = ", ".join(f"{quantity(s.load, load_unit)} {quantity(s.throughput or 0, unit)}" for s in measured)
    fit: tuple[tuple[float, float], ...] = ()
    marks = [Point(steps.knee.load, steps.knee.value, "knee")] if steps.knee else []
    if isinstance(steps.law, Law):
        loads = np.linspace(0, right, _CURVE)
        fit = tuple(zip(loads.tolist(), steps.law(loads).tolist(), strict=True))
        if steps.law.peak and steps.law.maximum:
            marks.append(Point(steps.law.peak.value, steps.law.maximum.value, "maximum by the law"))
    shares = tuple(
        Point(step.load, step.cpu, f"Step {step.number}: processors {quantity(step.cpu, '%')}")
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
                f"Step {step.number}: {quantity(step.load, load_unit)}, {quantity(step.throughput or 0, unit)}",
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


def sentences(steps: LoadSteps) -> tuple[str, ...]:
    """Return the sentences on the load steps, the most important first."""
    parts = (_range_of_load, _optimum, _after, _switching, _scaling, _latency)
    return tuple(sentence for part in parts for sentence in part(steps))


def _throughput_text(steps: LoadSteps, step: LoadStep) -> str:
    """Return the throughput of a step: `23.8 /s`."""
    return quantity(step.throughput or 0, steps.throughput.signal.unit if steps.throughput else "")


def _cost_text(step: LoadStep) -> str:
    """Return the cost of an operation: `29.6 ms of a processor`; in % of all processors if their number is unknown."""
    if step.cost_seconds is not None:
        ppem = f" ({number(step.cost_mhz)} MHz for one a second)" if step.cost_mhz is not None else ""
        return f"{quantity(step.cost_seconds * 1000, 'ms')} of a processor each{ppem}"
    return f"{number(step.cost_percent or 0)} % of processor time for one a second"


def _range_of_load(steps: LoadSteps) -> Iterator[str]:
    title = steps.load.signal.title
    lowest, highest = (pick(step.load for step in steps.steps) for pick in (min, max))
    span = f"{title} from {_bare_load(steps, lowest)} to {_bare_load(steps, highest)}"
    where = " in plimsoll.toml" if steps.by_hand else ""
    yield f"{counted(len(steps.steps), 'load step')}{where}: {span}."
    if steps.load.kind is None:
        yield "No load was recorded; the steps are those of processor time, which may have risen for another reason."
    elif steps.load.kind == "bytes" and not steps.by_hand:
        yield "No operations or connections show steps; the bytes moved stand for the load."


def _optimum(steps: LoadSteps) -> Iterator[str]:
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
    cost = f", {_cost_text(best)}" if best.cost_percent is not None else ""
    cpu = f" at {percent((best.cpu or 0) / 100)} processor time" if best.cpu is not None else ""
    did = "is the optimum" if steps.optimum else "answers most"
    yield f"Step {best.number} {did}{among}: {_throughput_text(steps, best)}{cpu}{cost}."
    if not steps.optimum:
        yield "No higher load was measured, so whether more would be answered is not known."


def _after(steps: LoadSteps) -> Iterator[str]:
    """Yield the sentences on falling throughput and on context switches after the best step."""
    if steps.falls_after is not None:
        top = steps.falls_after
        lowest = min(step.throughput or 0 for step in steps.measured if step.number > top.number)
        fall = percent(1 - lowest / (top.throughput or 1))
        yield (
            f"After step {top.number} ({_throughput_text(steps, top)}) throughput falls by up to {fall} "
            "although the load does not."
        )
    elif steps.last_step_is_lower:
        yield (
            f"After step {steps.top.number} throughput is lower. Whether less was asked or less was answered is "
            "not known: no connections or users were recorded as the load."
        )


def _switching(steps: LoadSteps) -> Iterator[str]:
    if steps.switching is None:
        return
    before, after = steps.switching
    growth = (after.throughput or 0) / (before.throughput or 1) - 1
    yield (
        f"From step {before.number} to {after.number} context switches rise from "
        f"{number(before.context_switches or 0)} to {number(after.context_switches or 0)}/s for "
        f"{percent(growth) if growth > 0 else 'no'} more throughput, and each "
        "operation costs more: the processors are spent on switching."
    )


def _scaling(steps: LoadSteps) -> Iterator[str]:
    """Yield the sentences on the knee and on the scalability law."""
    unit, load_unit = steps.throughput.signal.unit if steps.throughput else "", steps.load.signal.unit
    if steps.knee is not None:
        yield f"Throughput bends at {quantity(steps.knee.load, load_unit)} ({quantity(steps.knee.value, unit)})."
    law = steps.law
    if not isinstance(law, Law):
        return
    text = f"Universal scalability law: contention {_range(law.contention)}, coherency {_range(law.coherency)}"
    if law.peak is None or law.maximum is None:
        yield f"{text}; no maximum within what was measured."
        return
    yield (
        f"{text}; throughput is highest, {quantity(law.maximum.value, unit)}, at {quantity(law.peak.value, load_unit)} "
        f"({number(law.peak.low)} to {number(law.peak.high)})."
    )


def _range(estimate: CurveEstimate) -> str:
    return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"


def _latency(steps: LoadSteps) -> Iterator[str]:
    knee = steps.latency_knee
    if knee is None or steps.throughput is None or steps.latency is None:
        return
    unit = steps.throughput.signal.unit
    share, flat = percent(knee.rate / knee.highest), quantity(knee.flat, steps.latency.unit)
    yield (
        f"Latency stays near {flat} up to {quantity(knee.rate, unit)}, {share} of the "
        f"highest throughput ({quantity(knee.highest, unit)}), and rises beyond."
    )


INSIGHT = Insight("load_steps", Heading("load-steps", "Load steps", "Load steps", "beside"), load_steps, _blocks)
