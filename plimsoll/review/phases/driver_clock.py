"""By how much the clock of a load driver differs from those of the hosts, as the load shows it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.lag import Lag, lag
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, duration_text
from plimsoll.review.phases.load import means_on_grid
from plimsoll.review.recorded_signals import RecordedSignals

_SENT, _ANSWERED = "client.requests_begun", "client.requests"
_WORK = ("cpu.busy", "web.requests")
_MOST = 30 * 60  # seconds: what differs by more was set to another zone, and has no time in common as a rule
_MOST_ROWS = 20_000
_ALIKE = 2  # rows: below, the clocks agree


@dataclass(frozen=True)
class DriverClock:
    """The offset (ns) from the clock of the load driver to that of the hosts, with the bounds of its interval.

    `by` names the signal of the hosts that it was estimated from. `no_common_time`: the two recordings do not overlap.
    """

    offset: int = 0
    low: int = 0
    high: int = 0
    by: str = ""
    no_common_time: bool = False


def driver_clock(signals: RecordedSignals) -> DriverClock | None:
    """Return the offset of the load driver's clock; None if it is not certain, or without a load driver."""
    requested = _requested(signals)
    if requested is None:
        return None
    if no_common_time(signals):
        return DriverClock(no_common_time=True)
    sent = requested.present
    lags = [(name, lag, _step(sent, samples)) for name, samples in _work(signals) if (lag := _lag(sent, samples))]
    if not lags:
        return None
    name, best, step = min(lags, key=lambda pair: (pair[1].high - pair[1].low) * pair[2])
    differ = any(abs(lag.best * length - best.best * step) > 2 * _ALIKE * max(step, length) for _, lag, length in lags)
    if differ or (best.low <= _ALIKE and best.high >= -_ALIKE):
        return None
    return DriverClock(best.best * step, best.low * step, best.high * step, name)


def no_common_time(signals: RecordedSignals) -> bool:
    """Return whether the recordings of the load driver and of the hosts do not overlap."""
    samples, work = _requested(signals), [samples.present.times for _, samples in _work(signals)]
    sent = samples.present.times if samples is not None and work else None
    return sent is not None and all(times[-1] < sent[0] or times[0] > sent[-1] for times in work)


def _requested(signals: RecordedSignals) -> Samples | None:
    return next((samples for name in (_SENT, _ANSWERED) for samples in signals.of(name).values()), None)


def _work(signals: RecordedSignals) -> list[tuple[str, Samples]]:
    return [(f"{name} of {subject.host}", samples) for name in _WORK for subject, samples in signals.of(name).items()]


def remarks_on(clock: DriverClock | None) -> Iterator[Remark]:
    """Yield a remark on the clock of the load driver; no times are changed."""
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
        f"the clock of the load driver seems to be {duration_text(abs(clock.offset))} {behind} those of the hosts "
        f"({duration_text(low)} to {duration_text(high)}): so its requests and {clock.by} fit each other best; "
        "its times were left as they are",
    )


def _step(sent: Samples, work: Samples) -> int:
    return max(sent.interval or SECOND, work.interval or SECOND, SECOND)


def _lag(sent: Samples, work: Samples) -> Lag | None:
    """Return by how many steps the work follows the requests; there were none before and after the driver's run."""
    step = _step(sent, work)
    start = min(int(sent.times[0]), int(work.present.times[0]))
    end = max(int(sent.times[-1]), int(work.present.times[-1]))
    rows = (end - start) // step + 1
    if rows > _MOST_ROWS:
        return None
    requests = np.nan_to_num(means_on_grid(sent, start, step, rows))
    done = means_on_grid(work.present, start, step, rows)
    return lag(requests, done, int(min(_MOST * SECOND // step, rows // 3)))
