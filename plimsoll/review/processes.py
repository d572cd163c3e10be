"""The processes that used most of a resource while its threshold was crossed.

The resource is measured by the first signal per process that the rule names in `look_at`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Times, Values
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.review.findings import CROSSED, Finding, Processes, Use
from plimsoll.rules.crossings import CrossingColumns
from plimsoll.rules.schema.signal import Signal

_LEAST_SHARE = 0.05  # our choice: of the samples in a phase; fewer say nothing of it
MOST_BREACHES = 100  # of one finding, the longest
_PREFIX = "process."
_MOST = 3
_AT_ONCE = 64  # instances
RecordedOn = Callable[[str, str], Iterable[tuple[str, Samples]]]


def add_processes(
    findings: Sequence[Finding], signals: Mapping[str, Signal], recorded: RecordedOn, phases: Sequence[Phase] = ()
) -> list[Finding]:
    """Return the findings; crossed findings have the processes that used most in each crossing, if recorded.

    `recorded` returns the instances of a signal on a host. The use by a process in a crossing is compared with its use
    in the rest of the phase that contains the crossing.
    """
    with_users = list(findings)
    rows_by_signal: dict[tuple[str, str], list[int]] = {}
    for at, finding in enumerate(findings):
        name = next((name for name in finding.rule.look_at if name.startswith(_PREFIX)), "")
        if finding.outcome in CROSSED and finding.subject and name in signals:
            rows_by_signal.setdefault((name, finding.subject.host), []).append(at)
    for (name, host), places in rows_by_signal.items():
        users = _find_users([findings[at].counted for at in places], lambda n=name, h=host: recorded(n, h), phases)
        for at, by_breach in zip(places, users, strict=True):
            if by_breach:
                with_users[at] = replace(findings[at], processes=Processes(signals[name], by_breach))
    return with_users


def _find_users(
    breaches: Sequence[CrossingColumns],
    recorded: Callable[[], Iterable[tuple[str, Samples]]],
    phases: Sequence[Phase],
) -> list[dict[int, tuple[Use, ...]]]:
    """Return, for each finding's crossings, the processes that used most in a crossing, keyed by its start (UTC ns)."""
    chosen = [crossings.longest(MOST_BREACHES) for crossings in breaches]
    starts = np.concatenate([crossings.starts for crossings in chosen])
    names, means = _find_highest(recorded(), starts, np.concatenate([crossings.ends for crossings in chosen]))
    users = set(names[np.isfinite(means)].tolist())
    if not users:
        return [{} for _ in breaches]
    otherwise: dict[tuple[str, int, str], float | None] = {}
    phases_of = [_find_phases(crossings, phases) for crossings in chosen]
    for name, samples in recorded():
        if name in users:
            present = samples.present
            for at, breach in enumerate(breaches):
                for phase in {phase for phase in phases_of[at] if phase is not None}:
                    values = present.values[mark_rest_of_phase(present.times, phase, breach, phases)]
                    otherwise[name, at, phase] = float(values.mean()) if len(values) else None
    uses_list: list[dict[int, tuple[Use, ...]]] = []
    row = 0
    for at, breach in enumerate(chosen):
        by_breach: dict[int, tuple[Use, ...]] = {}
        for start, phase in zip(breach.starts.tolist(), phases_of[at], strict=True):
            ranked = zip(names[row].tolist(), means[row].tolist(), strict=True)
            uses = tuple(
                Use(name, mean, otherwise.get((name, at, phase or "")), phase or "")
                for name, mean in ranked
                if isfinite(mean)
            )
            by_breach |= {start: uses} if uses else {}
            row += 1
        uses_list.append(by_breach)
    return uses_list


def _find_highest(
    recorded: Iterable[tuple[str, Samples]], starts: Times, ends: Times
) -> tuple[NDArray[np.object_], Values]:
    """Return names and means of the instances with the highest means: a row for each span, padded by '' and -inf."""
    names = np.full((_MOST, len(starts)), "", dtype=object)
    means = np.full((_MOST, len(starts)), -np.inf)
    for instances, times, values in _group_by_times(recorded, int(starts.min()), int(ends.max())):
        mean = _compute_means(times, values, starts, ends)
        mean[~(mean > 0)] = -np.inf  # leaves out processes that used nothing
        candidates = np.concatenate((means, mean))
        best = np.argsort(-candidates, axis=0, kind="stable")[:_MOST]
        named = np.array(instances, dtype=object)[np.maximum(best - _MOST, 0)]
        before = np.take_along_axis(names, np.minimum(best, _MOST - 1), axis=0)
        names, means = np.where(best < _MOST, before, named), np.take_along_axis(candidates, best, axis=0)
    return names.T, means.T


def _group_by_times(
    recorded: Iterable[tuple[str, Samples]], first: int, last: int
) -> Iterator[tuple[list[str], Times, NDArray[np.float64]]]:
    """Yield groups of instances with equal times: names, times from `first` to `last`, and a row of values by name."""
    by_times = group_pairs((id(samples.times), (name, samples)) for name, samples in recorded if not is_idle(name))
    for alike in by_times.values():
        times = alike[0][1].times
        span = slice(int(np.searchsorted(times, first)), int(np.searchsorted(times, last, "right")))
        for at in range(0, len(alike), _AT_ONCE):
            group = alike[at : at + _AT_ONCE]
            yield [name for name, _ in group], times[span], np.stack([samples.values[span] for _, samples in group])


def is_idle(instance: str) -> bool:
    """Return whether an instance counts the time in which no process ran: `Idle`, or `Idle:0` of Process V2."""
    return instance.casefold().partition(":")[0] == "idle"


def _compute_means(times: Times, values: Values, starts: Times, ends: Times) -> Values:
    """Return the mean of each row of values in each span from `starts` to `ends`; NaN without samples."""
    first, last = np.searchsorted(times, starts, "left"), np.searchsorted(times, ends, "right")
    filled = np.isfinite(values)
    running = np.zeros((len(values), len(times) + 1))
    present = np.zeros(running.shape, dtype=np.int64)
    with np.errstate(invalid="ignore", over="ignore"):
        np.cumsum(np.where(filled, values, 0.0), axis=1, out=running[:, 1:])
        np.cumsum(filled, axis=1, out=present[:, 1:])
        count = present[:, last] - present[:, first]
        total = running[:, last] - running[:, first]
        return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def find_phase(crossings: CrossingColumns, phases: Sequence[Phase]) -> str | None:
    """Return the name of the phase that contains all of the crossings; None if no single phase does."""
    names = set(_find_phases(crossings, phases))
    return names.pop() if len(names) == 1 else None


def _find_phases(crossings: CrossingColumns, phases: Sequence[Phase]) -> list[str | None]:
    """Return, for each crossing, the name of the first phase that contains it; None if no single phase does."""
    names = np.full(len(crossings), None, dtype=object)
    for phase in reversed(phases):
        names[(crossings.starts >= phase.start) & (crossings.ends <= phase.end)] = phase.name
    return names.tolist()


def mark_rest_of_phase(
    times: Times, name: str, crossings: CrossingColumns, phases: Sequence[Phase]
) -> NDArray[np.bool_]:
    """Return which times are in phases called `name` but in no crossing; none if these are under 5 % of the phases."""
    inside = np.zeros(len(times), dtype=bool)
    for phase in phases:
        if phase.name == name:
            inside |= (times >= phase.start) & (times <= phase.end)
    rest = inside & ~mark_crossings(times, crossings)
    return rest if rest.sum() > _LEAST_SHARE * inside.sum() else np.zeros_like(rest)


def mark_crossings(times: Times, crossings: CrossingColumns) -> NDArray[np.bool_]:
    """Return which times are in a crossing; `crossings` are in time order."""
    at = np.searchsorted(crossings.starts, times, side="right") - 1
    return (at >= 0) & (times <= np.append(crossings.ends, 0)[at])
