"""What load steps show, in sentences."""

from collections.abc import Iterator

from plimsoll.analysis.scalability import Estimate, Law
from plimsoll.insights.insight import Told
from plimsoll.insights.load_steps.find import LoadSteps
from plimsoll.insights.load_steps.step_means import LoadStep
from plimsoll.insights.load_steps.table import table
from plimsoll.model.remark import counted
from plimsoll.model.styled import Line
from plimsoll.model.times import Zone
from plimsoll.model.value_text import number, percent, quantity

_MOST_ROWS = 24


def told(steps: LoadSteps | None, zone: Zone) -> Told:
    """The sentences and the table; nothing if the load was not stepped."""
    if steps is None:
        return Told()
    lines: list[Line] = [(f"  {sentence}",) for sentence in sentences(steps)]
    shown = table(steps, zone)
    rows = [(*row.cells, row.mark) for row in shown.rows]
    widths = [max(len(line[at]) for line in ((*shown.heads, ""), *rows)) for at in range(len(shown.heads) + 1)]

    def text(cells: tuple[str, ...]) -> str:
        return ("  " + "  ".join(cell.rjust(width) for cell, width in zip(cells[:-1], widths, strict=False))) + (
            f"  {cells[-1]}" if cells[-1] else ""
        )

    lines.append(((text((*shown.heads, "")), "dim"),))
    lines += [(text(row),) for row in rows[:_MOST_ROWS]]
    return Told(tuple(lines), max(0, len(rows) - _MOST_ROWS), "steps")


def sentences(steps: LoadSteps) -> tuple[str, ...]:
    """The sentences, the most important first."""
    return (*_found(steps), *_optimum(steps), *_after(steps), *_switching(steps), *_scaling(steps), *_latency(steps))


def load_text(steps: LoadSteps, load: float) -> str:
    """`600 connections`."""
    return quantity(load, steps.load.signal.unit)


def throughput_text(steps: LoadSteps, one: LoadStep) -> str:
    """`23.8 /s`."""
    return quantity(one.throughput or 0, steps.throughput.signal.unit if steps.throughput else "")


def cost_text(one: LoadStep) -> str:
    """`29.6 ms of a processor`, or in percent of processor time where the number of processors is not known."""
    if one.cost_seconds is not None:
        ppem = f" ({number(one.cost_mhz)} MHz for one a second)" if one.cost_mhz is not None else ""
        return f"{quantity(one.cost_seconds * 1000, 'ms')} of a processor each{ppem}"
    return f"{number(one.cost_percent or 0)} % of processor time for one a second"


def _found(steps: LoadSteps) -> Iterator[str]:
    title = steps.load.signal.title
    lowest, highest = (pick(one.load for one in steps.steps) for pick in (min, max))
    least = number(lowest) if steps.load.signal.unit in title else load_text(steps, lowest)
    most = number(highest) if steps.load.signal.unit in title else load_text(steps, highest)
    span = f"{title} from {least} to {most}"
    where = " in plimsoll.toml" if steps.by_hand else ""
    yield f"{counted(len(steps.steps), 'load step')}{where}: {span}."
    if steps.load.kind is None:
        yield "No load was recorded; the steps are those of processor time, which may have risen for another reason."
    elif steps.load.kind == "bytes" and not steps.by_hand:
        yield "No operations or connections show steps; the bytes moved stand for the load."


def _optimum(steps: LoadSteps) -> Iterator[str]:
    best = steps.best
    if best is None or len(steps.measured) < 2:
        return
    left_out = [one for one in steps.measured if one.left_out]
    among = ""
    limit = number(steps.switches_limit or 0)
    if left_out and len(left_out) < len(steps.measured):
        among = f" of the steps with at most {limit} context switches/s ({len(left_out)} left out, as the studies do)"
    elif left_out:
        among = f" (every step has more than the {limit} context switches/s that the studies allow)"
    cost = f", {cost_text(best)}" if best.cost_percent is not None else ""
    cpu = f" at {percent((best.cpu or 0) / 100)} processor time" if best.cpu is not None else ""
    did = "is the optimum" if steps.optimum else "answers most"
    yield f"Step {best.number} {did}{among}: {throughput_text(steps, best)}{cpu}{cost}."
    if not steps.optimum:
        yield "No higher load was measured, so whether more would be answered is not known."


def _after(steps: LoadSteps) -> Iterator[str]:
    top = steps.falls_after
    if top is not None:
        later = [one for one in steps.measured if one.number > top.number]
        worst = min(later, key=lambda one: one.throughput or 0)
        fall = percent(1 - (worst.throughput or 0) / (top.throughput or 1))
        yield (
            f"After step {top.number} ({throughput_text(steps, top)}) throughput falls by up to {fall} "
            "although the load does not."
        )
    elif steps.last_step_is_lower:
        top = max(steps.measured, key=lambda one: one.throughput or 0)
        yield (
            f"After step {top.number} throughput is lower. Whether less was asked or less was answered is not known: "
            "no connections or users were recorded as the load."
        )


def _switching(steps: LoadSteps) -> Iterator[str]:
    if steps.switching is None:
        return
    one, other = steps.switching
    more = (other.throughput or 0) / (one.throughput or 1) - 1
    yield (
        f"From step {one.number} to {other.number} context switches rise from {number(one.context_switches or 0)} to "
        f"{number(other.context_switches or 0)}/s for {percent(more) if more > 0 else 'no'} more throughput, and each "
        "operation costs more: the processors are spent on switching."
    )


def _scaling(steps: LoadSteps) -> Iterator[str]:
    if steps.knee is not None:
        knee = steps.knee
        unit = steps.throughput.signal.unit if steps.throughput else ""
        yield f"Throughput bends at {load_text(steps, knee.load)} ({quantity(knee.value, unit)})."
    law = steps.law
    if not isinstance(law, Law) or steps.throughput is None:
        return
    text = f"Universal scalability law: contention {_range(law.contention)}, coherency {_range(law.coherency)}"
    if law.peak is None or law.maximum is None:
        yield f"{text}; no maximum within what was measured."
        return
    unit = steps.throughput.signal.unit
    yield (
        f"{text}; throughput is highest, {quantity(law.maximum.value, unit)}, at {load_text(steps, law.peak.value)} "
        f"({number(law.peak.low)} to {number(law.peak.high)})."
    )


def _range(one: Estimate) -> str:
    return f"{number(one.value)} ({number(one.low)} to {number(one.high)})"


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
