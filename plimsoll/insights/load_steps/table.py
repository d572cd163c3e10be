"""The load steps as a table, for the terminal and the HTML report."""

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.insights.load_steps.find import LoadSteps
from plimsoll.insights.load_steps.step_means import LoadStep
from plimsoll.model.times import Zone
from plimsoll.model.value_text import number, quantity


@dataclass(frozen=True)
class Row:
    """One step; `mark` says what it is: the optimum, the most that was answered, or left out."""

    cells: tuple[str, ...]
    mark: str


@dataclass(frozen=True)
class Table:
    """The columns that were recorded, and a row for each step."""

    heads: tuple[str, ...]
    rows: tuple[Row, ...]


def table(steps: LoadSteps, zone: Zone) -> Table:
    """The steps; columns without any value are left out."""
    heads = ["Step", "From – to", steps.load.signal.title]
    columns = [
        [str(one.number) for one in steps.steps],
        [f"{zone.clock(one.start, date=False)}–{zone.clock(one.end, date=False)}" for one in steps.steps],
        [_load(steps, one) for one in steps.steps],
    ]
    for head, values in _optional(steps):
        if any(values):
            heads.append(head)
            columns.append(values)
    heads.append("Samples")
    columns.append([number(one.samples) for one in steps.steps])
    cells = list(zip(*columns, strict=True))
    rows = [Row(tuple(line), _mark(steps, one)) for line, one in zip(cells, steps.steps, strict=True)]
    return Table(tuple(heads), tuple(rows))


def _optional(steps: LoadSteps) -> Iterator[tuple[str, list[str]]]:
    yield "Processor", [_text(one.cpu, "%") for one in steps.steps]
    yield "Context switches", [_text(one.context_switches, "/s") for one in steps.steps]
    if steps.throughput is not None and steps.answers_load:
        unit = steps.throughput.signal.unit
        yield steps.throughput.signal.title, [_text(one.throughput, unit) for one in steps.steps]
    if steps.throughput is None or steps.throughput.kind != "bytes":
        yield "Bytes", [_text(one.bytes, "bytes/s") for one in steps.steps]
    if any(one.cost_seconds is not None for one in steps.steps):
        costs = [None if one.cost_seconds is None else one.cost_seconds * 1000 for one in steps.steps]
        yield "Processor for each", [_text(cost, "ms") for cost in costs]
    else:
        yield "Processor per 1/s", [_text(one.cost_percent, "%") for one in steps.steps]
    if steps.latency is not None:
        yield steps.latency.title, [_text(one.latency, steps.latency.unit) for one in steps.steps]


def _text(value: float | None, unit: str) -> str:
    return "" if value is None else quantity(value, unit)


def _load(steps: LoadSteps, one: LoadStep) -> str:
    """The load, without a unit that its title names, too."""
    unit = steps.load.signal.unit
    return number(one.load) if unit in steps.load.signal.title else quantity(one.load, unit)


def _mark(steps: LoadSteps, one: LoadStep) -> str:
    if steps.optimum is not None and one.number == steps.optimum.number:
        return "optimum"
    if steps.best is not None and one.number == steps.best.number:
        return "most"
    return "left out" if one.left_out else ""
