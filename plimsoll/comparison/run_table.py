"""The run table of the OCS study: a row for each run, with its load, processor time, storage, cache and exceptions.

"OCS 2007 on HP BladeSystem" (2008), Test results: processor time at ramp-up and in steady state, and exceptions against
documented limits, or None. Cold and warm caches differ in the reads and the time of the ramp-up, and in the page life
expectancy at its start (Test methodology).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analysis.filters import median
from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.treatments import scaled_labels
from plimsoll.model.log import Values
from plimsoll.model.remark import listed
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import number, percent, quantity
from plimsoll.review.phases.load import loads, together
from plimsoll.review.review import Review

_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([^\d\s].*)?")


@dataclass(frozen=True)
class _Measured:
    """A run: what was varied, its operations per second, and its processor time (%)."""

    varied: float
    operations: float
    busy: float | None


_RAMP_UP, _STEADY = "ramp-up", "steady"
_START = 12  # samples at the start of a run
_MOST_NAMED = 4


@dataclass(frozen=True)
class RunRow:
    """A run: the text of each column it has something for."""

    side: Side
    cells: Mapping[str, str]


def run_table(comparisons: Sequence[Comparison]) -> list[RunRow]:
    """A row for each run, the baseline first. The hosts of a role are together in a column."""
    sides = [comparisons[0].first, *(one.second for one in comparisons)]
    scaled = scaling([side.review for side in sides])
    return [RunRow(side, dict(_cells(side.review)) | dict(more)) for side, more in zip(sides, scaled, strict=True)]


def columns(rows: Sequence[RunRow]) -> list[str]:
    """The columns that any row has, in order."""
    return list(dict.fromkeys(name for row in rows for name in row.cells))


def _cells(review: Review) -> Iterator[tuple[str, str]]:
    yield from review.run.labels.items()
    yield from _load(review)
    ramp_up = _phase(review, _RAMP_UP)
    if ramp_up:
        yield "Ramp-up", duration_text(ramp_up.end - ramp_up.start)
    for role, hosts in _roles(review).items():
        yield from _both(review, f"Processor time, {role}", [_joined(review, "cpu.busy", hosts, mean=True)], "%")
    for host in review.hosts:
        for name, what in (("disk.reads", "Disk reads"), ("disk.writes", "Disk writes")):
            yield from _both(review, f"{what}, {host}", [_joined(review, name, [host], mean=False)], "/s")
    for name in ("sql.buffer_cache_hit_ratio", "cache.copy_read_hits"):
        for subject, samples in review.signals.of(name).items():
            signal = review.question.signals[name]
            yield from _both(review, f"{signal.title}, {subject.host}", [samples], signal.unit)
    for subject, samples in review.signals.of("sql.page_life_expectancy").items():
        values = samples.present.values
        yield f"Page life expectancy at the start, {subject.host}", quantity(median(values[:_START]), "s")
    yield "Exceptions", _exceptions(review)


def _load(review: Review) -> Iterator[tuple[str, str]]:
    for one in loads(review.signals, review.question.signals)[:2]:
        if one.kind is not None:
            yield from _both(review, one.signal.title, [one.samples], one.signal.unit)


def _both(review: Review, column: str, found: Sequence[Samples | None], unit: str) -> Iterator[tuple[str, str]]:
    """`65 % / 30 %`: the means of ramp-up and steady state, or of the whole run where phases are not known."""
    samples = next((one for one in found if one is not None), None)
    if samples is None:
        return
    phases = [_phase(review, name) for name in (_RAMP_UP, _STEADY)]
    parts = [_mean(samples, phase) for phase in phases] if any(phases) else [_mean(samples, None)]
    if any(part is not None for part in parts):
        yield column, " / ".join("–" if part is None else quantity(part, unit) for part in parts)


def _mean(samples: Samples, phase: Phase | None) -> float | None:
    values: Values = (samples.between(phase.start, phase.end) if phase else samples).present.values
    return float(values.mean()) if len(values) else None


def _phase(review: Review, name: str) -> Phase | None:
    return next((one for one in review.phases if one.name == name), None)


def _joined(review: Review, name: str, hosts: Sequence[str], *, mean: bool) -> Samples | None:
    wanted = {host_key(host) for host in hosts}
    found = {subject: s for subject, s in review.signals.of(name).items() if host_key(subject.host) in wanted}
    return together(found, mean=mean)[1] if found else None


def _roles(review: Review) -> dict[str, list[str]]:
    """The hosts of each role, by the packs for their kind; a host without one stands alone."""
    roles: dict[object, list[str]] = {}
    for host in review.hosts:
        packs = [a for a in review.applied if a.pack.applies_to and host_key(host) in map(host_key, a.hosts)]
        roles.setdefault(frozenset(one.pack.pack for one in packs) or host, []).append(host)
    return {listed(hosts, _MOST_NAMED): hosts for hosts in roles.values()}


def _exceptions(review: Review) -> str:
    """What was crossed, worst first; `None` where nothing was."""
    titles = [group.worst.signal.title for group in review.groups if group.worst.severe]
    return listed(titles, _MOST_NAMED) if titles else "None"


def scaling(reviews: Sequence[Review]) -> list[Mapping[str, str]]:
    """Cells of the run table, for each run; empty unless the runs differ in one label alone, which is a number."""
    name = _varied([review.run.labels for review in reviews])
    found = [_measure(review, name) for review in reviews] if name else []
    known = [one for one in found if one is not None]
    if name is None or len(known) < len(reviews):
        return [{} for _ in reviews]
    return [dict(_scaling_cells(name, one, known[0])) for one in known]


def _scaling_cells(name: str, one: _Measured, base: _Measured) -> Iterator[tuple[str, str]]:
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


def _measure(review: Review, name: str) -> _Measured | None:
    operations = next((one for one in loads(review.signals, review.question.signals) if one.kind == "operations"), None)
    match = _NUMBER.fullmatch(review.run.labels[name])
    rate = _steady_mean(review, operations.samples) if operations else None
    if match is None or not rate:
        return None
    busy = [mean for one in review.signals.of("cpu.busy").values() if (mean := _steady_mean(review, one)) is not None]
    return _Measured(float(match[1]), rate, sum(busy) / len(busy) if busy else None)


def _steady_mean(review: Review, samples: Samples) -> float | None:
    """The mean in the steady phase; of the whole run where that is not known."""
    steady = next((one for one in review.phases if one.name == "steady"), None)
    values = (samples.between(steady.start, steady.end) if steady else samples).present.values
    return float(values.mean()) if len(values) else None
