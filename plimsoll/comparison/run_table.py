"""The run table of the OCS study: a row for each run, with its load, processor time, storage, cache and exceptions.

From "OCS 2007 on HP BladeSystem" (2008), Test results: processor time at ramp-up and in steady state, and exceptions
(the documented limits that were crossed, or `None`). A cold and a warm cache differ in the reads and the length of the
ramp-up, and in the page life expectancy at its start (Test methodology).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analysis.filters import median
from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.hosts import find_role
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.remark import listed
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import quantity
from plimsoll.review.phases.found_phases import together
from plimsoll.review.review import Review

_RAMP_UP, _STEADY = "ramp-up", "steady"
_START = 12  # samples at the start of a run
_MOST_NAMED = 4


@dataclass(frozen=True)
class RunRow:
    """A run with the text in each column."""

    side: RunSide
    cells: Mapping[str, str]


def run_table(comparisons: Sequence[Comparison]) -> list[RunRow]:
    """Return a row for each run, the baseline first; the hosts of one role share a column of processor time."""
    sides = [comparisons[0].first, *(comparison.second for comparison in comparisons)]
    return [RunRow(side, dict(_cells(side.review))) for side in sides]


def columns(rows: Sequence[RunRow]) -> list[str]:
    """Return the names of the columns that have a text in at least one row, in order of first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row.cells))


def _cells(review: Review) -> Iterator[tuple[str, str]]:
    """Yield the column and text of each cell of a run."""
    signals = review.question.signals
    yield from review.run.labels.items()
    for load in review.loads[:2]:
        if load.kind is not None:
            yield from _both(review, load.signal.title, load.samples, load.signal.unit)
    if ramp_up := _phase(review, _RAMP_UP):
        yield "Ramp-up", duration_text(ramp_up.end - ramp_up.start)
    for role, hosts in _roles(review).items():
        yield from _both(review, f"Processor time, {role}", _joined(review, "cpu.busy", hosts, mean=True), "%")
    for host in review.hosts:
        for name, title in (("disk.reads", "Disk reads"), ("disk.writes", "Disk writes")):
            yield from _both(review, f"{title}, {host}", _joined(review, name, [host], mean=False), "/s")
    for name in ("sql.buffer_cache_hit_ratio", "cache.copy_read_hits"):
        for subject, samples in review.signals.of(name).items():
            yield from _both(review, f"{signals[name].title}, {subject.host}", samples, signals[name].unit)
    for subject, samples in review.signals.of("sql.page_life_expectancy").items():
        start = median(samples.present.values[:_START])
        yield f"Page life expectancy at the start, {subject.host}", quantity(start, "s")
    titles = [group.worst.signal.title for group in review.groups if group.worst.severe]
    yield "Exceptions", listed(titles, _MOST_NAMED) if titles else "None"


def _both(review: Review, column: str, samples: Samples | None, unit: str) -> Iterator[tuple[str, str]]:
    """Yield a column and its cell: the means of ramp-up and steady state (`65 % / 30 %`), or else of the whole run."""
    if samples is None:
        return
    phases = [_phase(review, name) for name in (_RAMP_UP, _STEADY)]
    means = [_mean(samples, phase) for phase in phases] if any(phases) else [_mean(samples, None)]
    if any(mean is not None for mean in means):
        yield column, " / ".join("–" if mean is None else quantity(mean, unit) for mean in means)


def _mean(samples: Samples, phase: Phase | None) -> float | None:
    values = (samples.between(phase.start, phase.end) if phase else samples).present.values
    return float(values.mean()) if len(values) else None


def _phase(review: Review, name: str) -> Phase | None:
    return next((phase for phase in review.phases if phase.name == name), None)


def _joined(review: Review, name: str, hosts: Sequence[str], *, mean: bool) -> Samples | None:
    keys = {host_key(host) for host in hosts}
    series = {subject: s for subject, s in review.signals.of(name).items() if host_key(subject.host) in keys}
    return together(series, mean=mean)[1] if series else None


def _roles(review: Review) -> dict[str, list[str]]:
    """Return the hosts of each role, by a text that lists their names; a host without a role is alone."""
    roles = group_pairs((find_role(host, review) or host, host) for host in review.hosts)
    return {listed(hosts, _MOST_NAMED): hosts for hosts in roles.values()}
