"""Losses of throughput: work that falls or sinks while the offered load stays, or that ends for an unknown reason.

The offered load is users, requests in flight, or connections. If work falls while the offered load stays, the system
answers less: this is no ramp-down. If work ends for good before the recording does, the load was finished or
interrupted; which is unknown if the offered load was not recorded, or ended as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from plimsoll.analysis.filters import EqualParts, filter_median, find_runs, smooth_mean
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.run import Planned, leave_out_planned
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.review.doubts import SHORTEST_ABSENCE, compute_long_absence
from plimsoll.review.findings import Doubt
from plimsoll.review.phases.found_phases import Load
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import DRIVER
from plimsoll.rules.schema.signal import Signal

_PROCESSORS = "cpu.busy"
# Our choices.
_PARTS, _FEWEST = 120, 20
_FELL = 0.7  # of the work before: below it is less
_FELL_UNDER_USERS = 0.77  # of it, at once, a quarter with its noise: users stayed, so the system answers less
_FELL_SLIGHTLY = 0.85  # of it: less, but no reason for a doubt
_SUNK = 0.05  # of it: work that sank little by little counts from this much less on
_ERRORS = 4  # standard errors: a fall between two means that is smaller may be chance
USUAL = 0.75  # the quantile of the rates of work (or of offered load) that is taken as the usual rate
_RAMP, _RAMPED = 120 * SECOND, 0.5  # of the usual rate, for so long at first
NEXT_TO_NONE = 0.1  # of it: below there is next to none
_STAYED = 0.85  # of what was offered before
_LEAST_BEFORE = 0.15  # of the run, at the level from which work falls: less may be a storm of logons
# Of a host, and of a load driver, whose users are known:
_LONG_OF_DRIVER = 0.02  # of the run, and five minutes: its users are still at work, so it is no pause
_ABRUPT, _AT_LEAST = (0.05, 0.2), 2  # of the run, or parts: what falls more slowly may be fewer people
_CLEAR = (0.5, 0.3)  # of a fall: levels further apart are no wave
_AT_ONCE = 0.03  # of the run, in which a load that is gone ended; a ramp-down takes longer
_GONE_FOR = 600 * SECOND  # or long for the run: a recorder that goes on for less was just not stopped at once
_LONGEST_TEST = 12 * 3600 * SECOND  # work of a host that falls in a longer run may be a night
_OFF_LEVEL = 0.1  # the quantile of a level that is still off the other level
# Work that sinks little by little. Of a host only in a short run, as in a longer one fewer people may be at work.
_BLOCKS, _CLIMBS = 10, 0.2  # means of the run; of the fall: what climbs again by more is a wave
_LONGEST_SINKING = 2 * 3600 * SECOND
_LONGEST_COSTLY = 6 * 3600 * SECOND  # where processors stay as busy, or responses take so much longer:
_AS_BUSY, _LONGER = 0.95, 1.5
# Times the wait before the fall. Of as many clients at work, seven tenths of the requests would take 1.4 times as long.
_NO_LONGER = 1.2
_AT_A_TIME = 0.8  # of the fall, within two means: it fell at once
_LATEST_TOP = 0.5  # of the blocks: work that falls from later on is a fall at once, or a ramp-down
_RAMP_DOWN = 0.2  # of the work before: a host that ends below may have had a planned ramp-down


_CostKind = Literal["processors", "disk", "requests"]


@dataclass(frozen=True, eq=False)
class ThroughputLoss:
    """A fall of `work` from the rate `before` to the rate `after`, from `start` to `end` (UTC ns).

    `offered` is the load that stayed; None if it is unknown whether the load ended or the system broke. `begun` is
    how long (ns) the run had lasted. `is_slow`: work sank little by little. `is_slight`: work fell by less than makes a
    doubt.
    """

    work: Load
    offered: Load | None
    before: float
    after: float
    start: int
    end: int
    begun: int
    is_slow: bool = False
    is_slight: bool = False

    @property
    def ended(self) -> bool:
        """Whether the work of a host ended for good for an unknown reason."""
        return self.offered is None and not (self.is_slow or self.is_slight or self.work.name.startswith(DRIVER))

    @property
    def clause(self) -> str:
        """A clause on which work fell, when, and what the offered load did meanwhile."""
        title, lasts = self.work.signal.title, format_duration(round((self.end - self.start) / SECOND) * SECOND)
        title = title if self.work.name.startswith(DRIVER) else f"{title} of {self.work.hosts[0]}"
        if self.ended:
            title = title.replace(" (% of the usual)", "")
            return f"{title}: the load is gone {format_duration(self.begun)} after the start, for {lasts}"
        before, after = (format_value(rate, self.work.signal.unit) for rate in (self.before, self.after))
        rates = f"from {before} to {after}"
        begun = f", {format_duration(self.begun)} after the start," if self.offered else ""
        fall = f"sank {rates} little by little within" if self.is_slow else f"fell {rates}{begun} for"
        if self.offered is None:
            return f"{title} {fall} {lasts}; whether less was asked for is not known"
        offered = self.offered.signal.title
        offered = offered[0].lower() + offered[1:] if offered[1:2].islower() else offered
        return f"{title} {fall} {lasts}, though as many {offered} were held"

    @property
    def doubt(self) -> Doubt | None:
        """A doubt about the loss; None if it is slight, or if perhaps fewer requests were made."""
        if self.ended:
            return Doubt(f"{self.clause}; whether it ended or broke is not known")
        if self.is_slight or self.offered is None:
            return None
        return Doubt(self.clause, "see what kept the system from answering as before")


class _Fall(NamedTuple):
    """A time with less work, in a run cut into equal parts: from part `first` to before part `last`.

    `before` and `after` are the levels of work, `took` is how many parts the fall between them took. `gap` is the
    distance from the lower end of the higher level to the upper end of the lower level, as a share of the fall.
    `is_slow`: work sank little by little.
    """

    first: int
    last: int
    before: float
    after: float
    took: int
    gap: float
    is_slow: bool = False


class WorkCost(NamedTuple):
    """A quantity that falls with the work of a `host`, unless each request takes more: of processors, disks or waits.

    The kinds are processor time, the latency of a disk, and times and queues of requests.
    """

    host: str
    samples: Samples
    kind: _CostKind

    def stays(self, parts: EqualParts, first: int) -> bool:
        """Return whether the last tenth of a run has as much of it as the tenth from part `first` on."""
        values, tenth = self._compute_means(parts), max(1, parts.count // _BLOCKS)
        stays_at = _AS_BUSY if self.kind == "processors" else _LONGER
        return bool(values[-tenth:].mean() >= stays_at * values[first : first + tenth].mean() > 0)

    def allows_less_demand(self, parts: EqualParts, fall: "_Fall") -> bool:
        """Return whether processor time fell with the work, by half as much or more; of a wait, whether it stayed."""
        values = self._compute_means(parts)
        before = float(values[max(0, 2 * fall.first - fall.last) : fall.first].mean())
        most = (1 + fall.after / fall.before) / 2 if self.kind == "processors" else _NO_LONGER
        return bool(values[fall.first : fall.last].mean() <= most * before)

    def _compute_means(self, parts: EqualParts) -> Values:
        return fill_gaps(parts.means(self.samples)) if self.samples.any_present else np.zeros(parts.count)


def list_costs(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> list[WorkCost]:
    """Return the processor time of each host, the latencies of its disks, and what shows that requests wait."""
    kinds: dict[str, _CostKind | None] = {name: _find_kind_of_cost(name, signal) for name, signal in signals.items()}
    return [
        WorkCost(subject.host, samples, kind)
        for name, kind in kinds.items()
        if kind is not None
        for subject, samples in recorded.of(name).items()
    ]


def _find_kind_of_cost(name: str, signal: Signal) -> _CostKind | None:
    if name == _PROCESSORS:
        return "processors"
    if signal.response_time or (signal.pressure and signal.pressure.resource == "software"):
        return "requests"
    return "disk" if signal.resource == "disk" and signal.unit in ("s", "ms") else None


def _is_less_demand(work: Load, fall: "_Fall", costs: Sequence[WorkCost], parts: EqualParts) -> bool:
    """Return whether less was asked for, as far as is recorded: processor time fell too, and nothing waited longer.

    Idle clients hold the connections of a pool. Where next to nothing is done, queues that are always empty show
    nothing, since a service that hangs accepts no requests.
    """
    of_hosts = [cost for cost in costs if cost.host in work.hosts]
    requests = [cost for cost in of_hosts if cost.kind == "requests"]
    if fall.after <= NEXT_TO_NONE * fall.before:
        requests = [cost for cost in requests if np.nanmax(cost.samples.values, initial=0) > 0]
    has_processors = any(cost.kind == "processors" for cost in of_hosts)
    return bool(requests and has_processors) and all(cost.allows_less_demand(parts, fall) for cost in of_hosts)


def find_throughput_loss(
    loads: Sequence[Load],
    start: int,
    end: int,
    planned: Sequence[Planned] = (),
    costs: Sequence[WorkCost] = (),
    *,
    is_slight: bool = False,
) -> ThroughputLoss | None:
    """Return the loss of throughput in a run from `start` to `end` (UTC ns), without `planned` work; None without loss.

    Work that sinks while the `costs` of its host do not is no end of a day. With `is_slight`, the result is a loss of a
    load driver that is too slight for a doubt.
    """
    loads = [replace(load, samples=leave_out_planned(load.samples, planned)) for load in loads] if planned else loads
    works = [load for load in loads if load.kind == "operations"]
    # The load driver shows the offered load best; otherwise use the connections of the busiest service.
    work = next((load for load in works if load.name.startswith(DRIVER)), next(iter(works), None))
    if work is None or len(work.samples.between(start, end).present.times) < _FEWEST:
        return None
    is_driver = work.name.startswith(DRIVER)
    connections = [load for load in loads if load.kind == "connections"]
    service = work.name.partition(".")[0] + "."
    of_service = [load for load in connections if load.name.startswith(service)]
    offered = next(iter(of_service if is_driver else (*of_service, *connections)), None)
    fell = _FELL_SLIGHTLY if is_slight and is_driver else _FELL
    loss = _find_loss(work, offered, start, end, fell, costs, is_slight=is_slight)
    if loss is None and is_driver and (quarter := _find_loss(work, offered, start, end, _FELL_SLIGHTLY, costs)):
        falls = _FELL < quarter.after / quarter.before <= _FELL_UNDER_USERS
        loss = quarter if falls and quarter.offered and not quarter.is_slow else None
    return replace(loss, is_slight=True) if loss and is_slight else loss


def _find_loss(
    work: Load,
    offered: Load | None,
    start: int,
    end: int,
    fell: float,
    costs: Sequence[WorkCost],
    *,
    is_slight: bool = False,
) -> ThroughputLoss | None:
    """Return the loss of work while the offered load stayed; else the end of load for an unknown reason; or None.

    A loss leaves less than the share `fell` of the work before. A slight one of a host may take longer.
    """
    is_driver = work.name.startswith(DRIVER)
    end = min(end, int(work.samples.present.times[-1]))  # nothing is known of the work after its last sample
    length = end - start
    if length > _LONGEST_TEST and not is_driver:
        return None
    parts = EqualParts(start, end, min(_PARTS, len(work.samples.present.times)))
    width = length / parts.count
    done = fill_gaps(parts.means(work.samples.present))
    load = None if offered is None else fill_gaps(parts.means(offered.samples.present))
    if load is not None and is_driver and has_ramp(done, load, int(width)):
        load = None
    enough = max(SHORTEST_ABSENCE, _LONG_OF_DRIVER * length) if is_driver else compute_long_absence(length)
    long = max(3, int(np.ceil(enough / width)))

    def loss(fall: _Fall, stayed: Load | None, *, is_slight: bool = False) -> ThroughputLoss:
        begin, stop = int(start + fall.first * width), int(start + fall.last * width)
        return ThroughputLoss(
            work, stayed, fall.before, fall.after, begin, stop, begin - start, fall.is_slow, is_slight
        )

    if load is not None:
        fall = _find_fall_under_load(done, load, long, fell, is_driver=is_driver or is_slight)
        costly = [cost for cost in costs if cost.host in work.hosts and fall and cost.stays(parts, fall.first)]
        is_costly = bool(costly) or is_slight
        if fall and (is_driver or not fall.is_slow or _is_no_ramp_down(fall, length, is_costly=is_costly)):
            if not is_driver and not is_slight and _is_less_demand(work, fall, costs, parts):
                return loss(fall, None, is_slight=True)
            return loss(fall, offered)
    if load is not None if is_driver else is_slight:
        return None
    if (
        load is None
        and (sinking := _find_sinking(done, np.ones_like(done), fell))
        and _is_no_ramp_down(sinking, length)
    ):
        return loss(sinking, None)
    fall = _find_fall(done, long, long, fell)
    if fall and not is_driver and _is_gone(fall, done):
        return loss(fall, None) if (fall.last - fall.first) * width >= _GONE_FOR else None
    if not fall or load is not None or not _is_clear(fall, parts.count, is_driver=False):
        return None
    return loss(fall, None, is_slight=not is_driver) if is_driver or fall.after > NEXT_TO_NONE * fall.before else None


def _find_fall_under_load(done: Values, load: Values, long: int, fell: float, *, is_driver: bool) -> _Fall | None:
    """Return the fall of work within the time of the full load, at once or little by little; None without."""
    full = np.flatnonzero(load >= _STAYED * np.quantile(load, USUAL))
    first, stop = int(full[0]), int(full[-1]) + 1
    work, offered = done[first:stop], load[first:stop]
    fall = _find_fall(work, long, max(long, int(_LEAST_BEFORE * len(done))), fell)
    if not (fall and _is_clear(fall, len(done), is_driver=is_driver) and _is_steady(offered, fall, fell)):
        fall = _find_sinking(work, offered, fell)
    return fall._replace(first=fall.first + first, last=fall.last + first) if fall else None


def has_ramp(done: Values, offered: Values, step: int) -> bool:
    """Return whether far less work was done in the first two minutes or more, though as much was offered as later.

    `done` and `offered` have a value for each step of `step` ns. A load driver that sends requests by a schedule may
    hold all its users while it sends few requests: then its users do not show how much work was asked for.
    """
    before = int(np.argmax(smooth_mean(done, 3) >= _RAMPED * np.quantile(done, USUAL)))
    usual = _STAYED * np.quantile(offered, USUAL)
    return before * step >= _RAMP and bool(np.median(offered[:before]) >= usual)


def fill_gaps(values: Values) -> Values:
    """Return the values with missing values interpolated between their neighbours."""
    present = np.flatnonzero(np.isfinite(values))
    return np.interp(np.arange(len(values)), present, values[present])


def _find_fall(done: Values, long: int, long_before: int, fell: float) -> _Fall | None:
    """Return the longest clear fall of work, of `long` parts or more, after `long_before` parts on a level; or None."""
    if len(done) < long + long_before:
        return None
    smooth = filter_median(done, 3, "edge")
    reached = float(smooth_mean(smooth, max(3, long // 2)).max())
    low = [(first, last) for first, last in find_runs(smooth < fell * reached) if last - first >= long and first]
    if not reached or not low:
        return None
    first, last = max(low, key=lambda run: run[1] - run[0])
    begin = int(np.argmax(smooth >= fell * reached))
    level, less = smooth[begin:first], smooth[first:last]
    if first - begin < long_before:
        return None
    before, after = float(np.median(level)), float(np.median(less))
    gap = float(np.quantile(level, _OFF_LEVEL) - np.quantile(less[1:], 1 - _OFF_LEVEL))
    if after > fell * before or gap <= 0:
        return None
    high_end = begin + int(np.flatnonzero(level >= after + 0.8 * (before - after)).max(initial=0))
    low_start = first + int(np.argmax(less <= after + 0.2 * (before - after)))
    return _Fall(first, last, before, after, low_start - high_end - 1, gap / (before - after))


def _find_sinking(done: Values, offered: Values, fell: float) -> _Fall | None:
    """Return the fall in which work sank and never climbed again while the offered load stayed; else None.

    Work is averaged over tenths of the run. As a mean shows the middle of its tenth, half of the usual change from
    tenth to tenth is added at each end of the fall.
    """
    if len(done) < 2 * _BLOCKS:
        return None
    blocks = np.array_split(done, _BLOCKS)
    work = np.array([block.mean() for block in blocks])
    offers = [float(part.mean()) for part in np.array_split(offered, _BLOCKS)]
    top = int(np.argmax(work))
    fall = float(work[top] - work[-1])
    half = fall / (2 * max(1, _BLOCKS - 1 - top))
    before, after = work[top] + (0 if top else half), work[-1] - half
    error = float(np.hypot(*(float(block.std()) / len(block) ** 0.5 for block in (blocks[top], blocks[-1]))))
    climbs = work[top:] - np.minimum.accumulate(work[top:])
    is_low = after < (fell + _SUNK) * before and max(work[-2:]) < (fell + 2 * _SUNK) * before
    is_low &= float((work[top:-2] - work[top + 2 :]).max(initial=0)) < _AT_A_TIME * fall
    is_low &= top < _LATEST_TOP * _BLOCKS and fall > _ERRORS * error
    if not is_low or climbs.max() > _CLIMBS * fall or min(offers) < _STAYED * max(offers):
        return None
    first = top * len(done) // _BLOCKS
    gap = float(work[-2] - work[-1]) / fall
    return _Fall(first, len(done), float(work[top]), float(work[-1]), len(done) - first, gap, is_slow=True)


def _is_no_ramp_down(sinking: _Fall, length: int, *, is_costly: bool = False) -> bool:
    """Return whether work of a host that sank slowly is unlike a planned ramp-down, and unlike the evening of a day."""
    return (
        length <= (_LONGEST_COSTLY if is_costly else _LONGEST_SINKING)
        and sinking.after > _RAMP_DOWN * sinking.before
        and sinking.gap < _CLIMBS
    )


def _is_steady(offered: Values, fall: _Fall, fell: float) -> bool:
    """Return whether the median of the offered load hardly fell while less work was done, less for each of it, too."""
    during, before = float(np.median(offered[fall.first : fall.last])), float(np.median(offered[: fall.first]))
    return during >= _STAYED * before and fall.after * before <= fell * min(during, before) * fall.before


def _is_clear(fall: _Fall, parts: int, *, is_driver: bool) -> bool:
    """Return whether work fell between two clear levels; on a host also fast, as users who leave lower work slowly."""
    return fall.gap >= _CLEAR[is_driver] and fall.took <= max(_AT_LEAST, _ABRUPT[is_driver] * parts)


def _is_gone(fall: _Fall, done: Values) -> bool:
    """Return whether work ended suddenly and for good, and the recording did not begin with a long idle time, too."""
    parts = len(done)
    idle_at_first = int(np.argmax(done >= _FELL * fall.before))
    ends_recording = fall.last == parts and fall.last - fall.first > 2 * idle_at_first
    return ends_recording and fall.after <= NEXT_TO_NONE * fall.before and fall.took <= max(2, _AT_ONCE * parts)
