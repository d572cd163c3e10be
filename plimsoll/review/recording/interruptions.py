"""What interrupted the recording of a host in the middle of a run: pauses of the recorder, and restarts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

import numpy as np

from plimsoll.model.log import Times, Values
from plimsoll.model.remark import RESTARTED, Remark, counted, listed
from plimsoll.model.run import Planned
from plimsoll.model.sampling import merge_times, other_intervals, sampling_interval
from plimsoll.model.times import SECOND, duration_text
from plimsoll.review.doubts import PAUSE, SHORTEST_ABSENCE, long_absence
from plimsoll.review.findings import Doubt
from plimsoll.review.recorded_signals import RecordedSignals

_UPTIME = "system.uptime"
_MOST_NAMED = 3
_BOOT = 60 * SECOND  # a system counts its uptime from before or after its first program, by so much at most
# Our choice: what was recorded by itself, as on two days, lies further apart than it is long.
_APART = 1.5
_MEANT = "if that was meant, name the time under [[run.except]] in plimsoll.toml"


def paused(recordings: Mapping[str, Sequence[Times]], planned: Sequence[Planned]) -> Iterator[Doubt]:
    """Hosts of which nothing was recorded for a part of the run, between samples.

    `recordings` are the times of each recording of each host (UTC ns).
    """
    texts: list[str] = []
    for host, parts in recordings.items():
        absent, of = _absence(parts, planned)
        if absent > long_absence(of):
            texts.append(f"{host} for {duration_text(absent)} of {duration_text(of)}")
    if texts:
        which = texts[0] if len(texts) == 1 else f"{len(texts):,} hosts: {listed(texts, _MOST_NAMED)}"
        yield Doubt(f"nothing was recorded of {which}", "what happened in that time is not known")


def _absence(parts: Sequence[Times], planned: Sequence[Planned]) -> tuple[int, int]:
    """For how long nothing was recorded, and of how long a time (ns), without pauses between days."""
    times = merge_times(parts)
    steps = np.diff(times)
    longest = _longest_steps(times)
    at = np.flatnonzero(steps > longest)
    bounds = np.concatenate(([0], at + 1, [len(times)]))
    lengths = times[bounds[1:] - 1] - times[bounds[:-1]]
    absent, of = 0, int(times[-1] - times[0])
    for place, row in enumerate(at.tolist()):
        before, after, pause = int(times[row]), int(times[row + 1]), int(steps[row])
        within = any(part[0] <= before and part[-1] >= after for part in parts)
        if not within and pause > _APART * int(lengths[place : place + 2].max()):
            of -= pause
        elif not any(_covers(work, before, after, float(longest[row])) for work in planned):
            absent += pause
    return absent, of


def _longest_steps(times: Times) -> Values:
    """Return how long (ns) each step may be before it is a pause, by the interval of the part that it lies in."""
    longest = np.full(len(times) - 1, PAUSE * (sampling_interval(times) or 0))
    for part in other_intervals(times):
        inside = (times[:-1] >= part.start) & (times[1:] <= part.end)
        borders = ~inside & (times[:-1] >= part.before) & (times[1:] <= part.until)
        longest[inside] = PAUSE * part.interval
        longest[borders] = np.maximum(longest[borders], PAUSE * part.interval)
    return np.maximum(longest, SHORTEST_ABSENCE)


def _covers(planned: Planned, before: int, after: int, slack: float) -> bool:
    return not planned.rules and planned.start <= before + slack and planned.end >= after - slack


def restarted(recorded: RecordedSignals, remarks: Sequence[Remark], planned: Sequence[Planned]) -> Iterator[Doubt]:
    """Hosts that were started again in the middle of the run."""
    for subject, samples in recorded.of(_UPTIME).items():
        result = samples.present
        steps = np.diff(result.times)
        begun = (np.diff(result.values) < 0) & (result.values[1:] * SECOND <= steps + _BOOT)
        instants = result.times[1:][begun].tolist()
        unplanned = [
            instant
            for instant in instants
            if not any(work.start <= instant <= work.end and not work.rules for work in planned)
        ]
        if unplanned:
            yield Doubt(f"{subject.host} was restarted{_times(len(unplanned))} in the middle of the run", _MEANT)
    entries: dict[str, int] = {}
    for remark in remarks:
        if remark.text.startswith(RESTARTED) and remark.file:
            entries[remark.file] = entries.get(remark.file, 0) + remark.count
    # A remark has no time: planned work of all rules may be what it is about.
    for file, count in entries.items() if all(work.rules for work in planned) else ():
        yield Doubt(f"{PurePath(file).name} says that its host was restarted{_times(count)}", _MEANT)


def _times(count: int) -> str:
    return "" if count == 1 else f" {counted(count, 'time')}"
