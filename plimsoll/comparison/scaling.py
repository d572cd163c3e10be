"""How the work of runs grows with what was varied between them, such as processors, servers or offered users.

As in the tables of the studies of directories (Site Server Membership Directory, Scaling): speed-up is the
throughput of a run over that of the baseline, efficiency the speed-up over the growth of what was varied, and cost the
processor time for each operation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.comparison.treatments import scaled_labels
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import number, percent, quantity
from plimsoll.review.phases.load import loads
from plimsoll.review.review import Review

_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([^\d\s].*)?")


@dataclass(frozen=True)
class _Measured:
    """A run: what was varied, its operations per second, and its processor time (%)."""

    varied: float
    operations: float
    busy: float | None


def scaling(reviews: Sequence[Review]) -> list[Mapping[str, str]]:
    """Cells of the run table, for each run; empty unless the runs differ in one label alone, which is a number."""
    name = _varied([review.run.labels for review in reviews])
    found = [_measured(review, name) for review in reviews] if name else []
    known = [one for one in found if one is not None]
    if name is None or len(known) < len(reviews):
        return [{} for _ in reviews]
    return [dict(_cells(name, one, known[0])) for one in known]


def _cells(name: str, one: _Measured, base: _Measured) -> Iterator[tuple[str, str]]:
    speed_up, growth = one.operations / base.operations, one.varied / base.varied
    yield "Speed-up", f"{number(round(speed_up, 2))} ×"
    yield f"Efficiency over {name}", percent(speed_up / growth)
    if one.busy is not None:
        yield "Processor time for each operation/s", quantity(one.busy / one.operations, "points")


def _varied(labels: Sequence[Mapping[str, str]]) -> str | None:
    """The only label that differs, if throughput should grow with it and it is a number, in one unit in all runs."""
    names = dict.fromkeys(name for one in labels for name in one)
    differing = [name for name in names if len({one.get(name) for one in labels}) > 1]
    if len(differing) != 1:
        return None
    if not set(re.split(r"[_\W]+", differing[0].casefold())) & set(scaled_labels()):
        return None
    matches = [_NUMBER.fullmatch(one.get(differing[0], "")) for one in labels]
    units = {match[2] for match in matches if match}
    return differing[0] if len(units) == 1 and all(match and float(match[1]) > 0 for match in matches) else None


def _measured(review: Review, name: str) -> _Measured | None:
    operations = next((one for one in loads(review.signals, review.question.signals) if one.kind == "operations"), None)
    match = _NUMBER.fullmatch(review.run.labels[name])
    rate = _mean(review, operations.samples) if operations else None
    if match is None or not rate:
        return None
    busy = [mean for one in review.signals.of("cpu.busy").values() if (mean := _mean(review, one)) is not None]
    return _Measured(float(match[1]), rate, sum(busy) / len(busy) if busy else None)


def _mean(review: Review, samples: Samples) -> float | None:
    """The mean in the steady phase; of the whole run where that is not known."""
    steady = next((one for one in review.phases if one.name == "steady"), None)
    values = (samples.between(steady.start, steady.end) if steady else samples).present.values
    return float(values.mean()) if len(values) else None
