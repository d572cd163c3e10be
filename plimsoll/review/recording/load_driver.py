"""When a load driver worked, and by which clock: doubts of results that were cut off, or are of another time."""

from collections.abc import Iterator

import numpy as np

from plimsoll.analysis.filters import compute_median
from plimsoll.analysis.lag import Lag, find_lag
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.review.doubts import compute_long_absence
from plimsoll.review.phases.found_phases import average_on_grid
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import REQUESTS, USERS, DriverClause

_SENT = "client.requests_begun"
_WORK = ("cpu.busy", "web.requests")
# Our choices.
_LARGEST_OFFSET = 1800 * SECOND  # a larger one means another time zone, and usually no common time
_MOST_ROWS = 20_000
_ALIKE = 2  # rows: below, the clocks agree
_LEAST_LOAD = 0.1  # of the load that was reached: below there is next to none
_REACHED = 0.9  # the quantile that is taken for it
_WORKS_ON, _BUSY = 0.75, 5.0  # of the processor time under the load, and in %: the load goes on
_NOTABLE_REST = 180 * SECOND
_AFTER = 60 * SECOND  # the last requests may be at work for so long


@dataclass(frozen=True)
class DriverClock:
    """How far (ns) the load driver's clock is behind the hosts' clocks (negative: ahead), with bounds of the estimate.

    `by` names the signal of a host from which the offset was estimated. `no_common_time`: the recordings of the load
    driver and of the hosts do not overlap.
    """

    offset: int = 0
    low: int = 0
    high: int = 0
    by: str = ""
    no_common_time: bool = False


def judge_end(recorded: RecordedSignals, start: int, end: int) -> Iterator[DriverClause]:
    """Yield a clause if the load of the load drivers ended long before a run from `start` to `end` (UTC ns).

    It makes a doubt if a host works on as under the load, so that results may be lost.
    """
    loaded = find_loaded_span(recorded)
    rest = end - loaded[1] if loaded else 0
    is_long = rest > compute_long_absence(end - start)
    if not loaded or rest < _NOTABLE_REST or is_without_common_time(recorded):
        return
    for subject, samples in recorded.of("cpu.busy").items() if is_long else ():
        spans = loaded, (loaded[1] + _AFTER, end)
        before, after = (compute_median(samples.present.between(*span).values) for span in spans)
        if after >= max(_WORKS_ON * before, _BUSY):
            clause = f"the results of the load driver end {format_duration(rest)} before the run, while {subject.host}"
            yield DriverClause(f"{clause} worked on as before", "see whether they are whole")
            return
    last = f"the last {format_duration(rest)} of {format_duration(end - start)}"
    yield DriverClause(f"the load driver had next to no requests answered in {last}: that part was not under load")


def find_loaded_span(recorded: RecordedSignals) -> tuple[int, int] | None:
    """Return when (UTC ns) the load of the load drivers began and ended; None without one.

    It ends with the last requests, or when the last users enough for a load were at work.
    """
    under_load = [times for samples in recorded.of(REQUESTS).values() if len(times := _find_times_under_load(samples))]
    if not under_load:
        return None
    users = [int(_find_times_under_load(users).max(initial=0)) for users in recorded.of(USERS).values()]
    return min(int(times[0]) for times in under_load), max(*users, 0, *(int(times[-1]) for times in under_load))


def _find_times_under_load(samples: Samples) -> Times:
    """Return the times at which enough requests were answered to count as a load; empty if none."""
    done = samples.present
    reached = float(np.quantile(done.values, _REACHED)) if len(done.values) else 0.0
    return done.times[done.values >= _LEAST_LOAD * reached] if reached else done.times[:0]


def find_clock_offset(signals: RecordedSignals) -> DriverClock | None:
    """Return the offset of the load driver's clock; None if it is uncertain or near 0, or without a load driver."""
    requested = _find_requested(signals)
    if requested is None:
        return None
    if is_without_common_time(signals):
        return DriverClock(no_common_time=True)
    sent = requested.present
    work = ((name, samples, _choose_step(sent, samples)) for name, samples in _list_work(signals))
    lags = [(name, lag, step) for name, samples, step in work if (lag := _find_lag(sent, samples, step))]
    if not lags:
        return None
    name, best, step = min(lags, key=lambda pair: (pair[1].high - pair[1].low) * pair[2])
    differ = any(abs(lag.best * length - best.best * step) > 2 * _ALIKE * max(step, length) for _, lag, length in lags)
    if differ or (best.low <= _ALIKE and best.high >= -_ALIKE):
        return None
    return DriverClock(best.best * step, best.low * step, best.high * step, name)


def is_without_common_time(signals: RecordedSignals) -> bool:
    """Return whether the recordings of the load driver and of the hosts do not overlap."""
    samples, work = _find_requested(signals), [samples.present.times for _, samples in _list_work(signals)]
    sent = samples.present.times if samples is not None and work else None
    return sent is not None and all(times[-1] < sent[0] or times[0] > sent[-1] for times in work)


def _find_requested(signals: RecordedSignals) -> Samples | None:
    return next((samples for name in (_SENT, REQUESTS) for samples in signals.of(name).values()), None)


def _list_work(signals: RecordedSignals) -> list[tuple[str, Samples]]:
    return [(f"{name} of {subject.host}", samples) for name in _WORK for subject, samples in signals.of(name).items()]


def remark_clock(clock: DriverClock | None) -> Iterator[Remark]:
    """Yield a remark if the load driver's clock differs from the hosts' clocks; no times are changed."""
    if clock is None:
        return
    if clock.no_common_time:
        yield Remark(
            Kind.NOTED,
            "the results of the load driver and the recordings of the hosts have no time in common; "
            "are they of one run, and are zones and clocks right?",
        )
        return
    behind = "behind" if clock.offset > 0 else "ahead of"
    low, high = sorted((abs(clock.low), abs(clock.high)))
    yield Remark(
        Kind.NOTED,
        f"the clock of the load driver seems to be {format_duration(abs(clock.offset))} {behind} those of the hosts "
        f"({format_duration(low)} to {format_duration(high)}): so its requests and {clock.by} fit each other best; "
        "its times were left as they are",
    )


def _choose_step(sent: Samples, work: Samples) -> int:
    return max(sent.interval or SECOND, work.interval or SECOND, SECOND)


def _find_lag(sent: Samples, work: Samples, step: int) -> Lag | None:
    """Return by how many steps of `step` ns work follows the requests sent; None if unknown, or the time is too long.

    Outside the load driver's recording, requests count as 0.
    """
    start = min(int(sent.times[0]), int(work.present.times[0]))
    end = max(int(sent.times[-1]), int(work.present.times[-1]))
    rows = (end - start) // step + 1
    if rows > _MOST_ROWS:
        return None
    requests = np.nan_to_num(average_on_grid(sent, start, step, rows))
    done = average_on_grid(work.present, start, step, rows)
    return find_lag(requests, done, int(min(_LARGEST_OFFSET // step, rows // 3)))
