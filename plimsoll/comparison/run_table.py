"""The run table of the OCS study: a row for each run, with its load, processor time, storage, cache and exceptions.

From "OCS 2007 on HP BladeSystem" (2008), Test results: processor time at ramp-up and in steady state, and exceptions
(the documented limits that were crossed, or `None`). A cold and a warm cache differ in the reads and the length of the
ramp-up, and in the page life expectancy at its start (Test methodology).
"""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.filters import compute_median
from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.hosts import find_role
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.remark import join_names
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.series import make_host_key
from plimsoll.model.times import format_duration
from plimsoll.model.value_text import format_value
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
    return [RunRow(side, dict(_list_cells(side.review))) for side in sides]


def list_columns(rows: Sequence[RunRow]) -> list[str]:
    """Return the names of the columns that have a text in at least one row, in order of first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row.cells))


def _list_cells(review: Review) -> Iterator[tuple[str, str]]:
    """Yield the column and text of each cell of a run."""
    signals = review.question.signals
    yield from review.run.labels.items()
    for load in review.loads[:2]:
        if load.kind is not None:
            yield from _list_phase_cells(review, load.signal.title, [load.samples], load.signal.unit)
    if ramp_up := _find_phase(review, _RAMP_UP):
        yield "Ramp-up", format_duration(ramp_up.end - ramp_up.start)
    for role, hosts in _group_roles(review).items():
        series = _list_samples(review, "cpu.busy", hosts)
        yield from _list_phase_cells(review, f"Processor time, {role}", series, "%", mean=True)
    for host in review.hosts:
        for name, title in (("disk.reads", "Disk reads"), ("disk.writes", "Disk writes")):
            yield from _list_phase_cells(review, f"{title}, {host}", _list_samples(review, name, [host]), "/s")
    for name in ("sql.buffer_cache_hit_ratio", "cache.copy_read_hits"):
        for subject, samples in review.signals.of(name).items():
            column = f"{signals[name].title}, {subject.host}"
            yield from _list_phase_cells(review, column, [samples], signals[name].unit)
    for subject, samples in review.signals.of("sql.page_life_expectancy").items():
        start = compute_median(samples.present.values[:_START])
        yield f"Page life expectancy at the start, {subject.host}", format_value(start, "s")
    titles = [group.worst.signal.title for group in review.groups if group.worst.severe]
    yield "Exceptions", join_names(titles, _MOST_NAMED) if titles else "None"


def _list_phase_cells(
    review: Review, column: str, series: Sequence[Samples], unit: str, *, mean: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield a column and its cell: the sums (or means) of the means of several series, if there are any.

    The cell has ramp-up and steady state (`65 % / 30 %`), or else the whole run.
    """
    phases = [_find_phase(review, name) for name in (_RAMP_UP, _STEADY)]
    cells = [_join_means(series, phase, mean=mean) for phase in (phases if any(phases) else [None])]
    if any(value is not None for value in cells):
        yield column, " / ".join("–" if value is None else format_value(value, unit) for value in cells)


def _join_means(series: Sequence[Samples], phase: Phase | None, *, mean: bool) -> float | None:
    """Return the sum (or mean) of the means of several series in a phase; None without samples."""
    values = [(samples.between(phase.start, phase.end) if phase else samples).present.values for samples in series]
    means = [float(item.mean()) for item in values if len(item)]
    return sum(means) / (len(means) if mean else 1) if means else None


def _find_phase(review: Review, name: str) -> Phase | None:
    return next((phase for phase in review.phases if phase.name == name), None)


def _list_samples(review: Review, name: str, hosts: Sequence[str]) -> list[Samples]:
    keys = {make_host_key(host) for host in hosts}
    return [samples for subject, samples in review.signals.of(name).items() if make_host_key(subject.host) in keys]


def _group_roles(review: Review) -> dict[str, list[str]]:
    """Return the hosts of each role, by a text that lists their names; a host without a role is alone."""
    roles = group_pairs((find_role(host, review) or host, host) for host in review.hosts)
    return {join_names(hosts, _MOST_NAMED): hosts for hosts in roles.values()}
