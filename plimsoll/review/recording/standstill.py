"""Doubts about counters that stand still, so that their recorder was broken, and about work that stops."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, merge_times
from plimsoll.model.remark import format_count
from plimsoll.model.run import Planned
from plimsoll.model.samples import Samples
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.review.doubts import SHORTEST_ABSENCE, compute_long_absence
from plimsoll.review.findings import Doubt
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import DRIVER
from plimsoll.review.recording.host_work import find_host_work
from plimsoll.review.sentences import add_subject
from plimsoll.rules.frozen import MANY_DIGITS, count_digits
from plimsoll.rules.schema.signal import Signal

# Our choices. A rounded counter may repeat a value many times; several counters of different kinds do not.
_LEAST_SAMPLES = 20
_LEAST_KINDS = 2
_FEW_DIGITS = 4  # of all values together: fewer than MANY_DIGITS recur by chance, but not for long
_PROCESSORS = "cpu.busy"
_CHECK = "see to what recorded them"
# Our choices. The share of samples beside the stop with hardly any work; for irregular work it is larger.
_MOST_IDLE = 0.01
_LEAST_WORK, _USUAL = 0.1, 0.9  # of the quantile that stands for what is usually done: below is next to none
_LONGEST_PARTLY = 1800 * SECOND  # little work for longer is a break or a night
_STANDSTILL = 0.05  # of the level before and after: it counts from SHORTEST_ABSENCE on, however long the run is
_HOST_AT_REST = 0.1  # of it: what a host does by itself remains
_FEWEST_IDLE = 2  # samples: one may be a slip
_MOST_STOPPED = 1 / 3  # of the run: work that rests for longer again and again has a rhythm
_SLIGHT = 0.1  # of the stops may lie beside the ends, where no level shows
_LEAST_REQUESTS = 5.0  # in each sample of the work beside it: fewer may be none by chance
_CHECK_PAUSE = "see whether the load paused or the system did not answer"


@dataclass
class _HostCounters:
    """The samples of a host's signals that always change in operation, and the times (UTC ns) of all changes."""

    name: str
    changes: Times = field(default_factory=lambda: np.empty(0, np.int64))
    recorded: list[tuple[str, Samples]] = field(default_factory=list[tuple[str, Samples]])

    def add(self, name: str, samples: Samples) -> None:
        changed = samples.times[1:][np.diff(samples.values) != 0]
        self.changes = merge_times([self.changes, changed]) if len(self.changes) else changed
        self.recorded.append((name, samples))

    @property
    def longest(self) -> tuple[int, int, int]:
        """The start and end (UTC ns) of the longest time without a change, and the length (ns) of the recording."""
        first = min(int(samples.times[0]) for _, samples in self.recorded)
        last = max(int(samples.times[-1]) for _, samples in self.recorded)
        bounds = np.concatenate(([first], self.changes, [last]))
        at = int(np.diff(bounds).argmax())
        return int(bounds[at]), int(bounds[at + 1]), last - first

    @property
    def is_long(self) -> bool:
        """Whether nothing changed for long enough to make a doubt."""
        start, end, of = self.longest
        return end - start > compute_long_absence(of)

    def _doubt(self, clause: str) -> Doubt:
        """Return a doubt: the clause, and for how long nothing changed."""
        start, end, of = self.longest
        when = "all the time" if end - start == of else f"for {format_duration(end - start)} of {format_duration(of)}"
        return Doubt(f"{clause} {when}", _CHECK)

    def doubt_standstill(self) -> Doubt | None:
        """Return a doubt if the signals stood still for long; else None, also if too few were recorded to show it."""
        start, end, _ = self.longest
        within = [(name, samples.between(start, end).values) for name, samples in self.recorded]
        # A value of 0 may be idleness, which proves nothing.
        still = [name for name, values in within if len(values) and values[0] != 0]
        kinds = {name.partition(".")[0] for name in still}
        longest = max(len(values) for _, values in within)
        if longest < _LEAST_SAMPLES or not self.is_long or len(kinds) < _LEAST_KINDS:
            return None
        which = f"the {len(still):,} counters of {self.name} that change all the time on a running host"
        return self._doubt(f"{which} stood still")

    def doubt_repeats(self, title: str) -> Doubt | None:
        """Return a doubt if the signal `title` repeated its values for long; None, too, if they have few digits."""
        start, end, of = self.longest
        parts = [samples.between(start, end).values for _, samples in self.recorded]
        digits = count_digits([float(values[0]) for values in parts if len(values)])
        long = end - start > (SHORTEST_ABSENCE if digits >= MANY_DIGITS else compute_long_absence(of))
        if not long or digits < _FEW_DIGITS or max(map(len, parts)) < _LEAST_SAMPLES:
            return None
        return self._doubt(f"{title} of {self.name} repeated the same values")


def doubt_frozen_counters(
    recorded: RecordedSignals, signals: Mapping[str, Signal], hosts: Iterable[str]
) -> Iterator[Doubt]:
    """Yield doubts about hosts whose counters stood still, and about processors that were idle in every sample."""
    by_key = {make_host_key(host): _HostCounters(host) for host in hosts}
    for name in (name for name, signal in signals.items() if signal.moves):
        for subject, samples in recorded.of(name).items() if by_key else ():
            host = by_key.get(subject.key[0])
            # On most hosts the first counter already changes, so the others need not be read.
            if host is not None and (not host.recorded or host.is_long):
                host.add(name, samples.present)
        by_key = {key: host for key, host in by_key.items() if not host.recorded or host.is_long}
    doubts = {key: doubt for key, host in by_key.items() if host.recorded and (doubt := host.doubt_standstill())}
    yield from doubts.values()
    frozen: dict[str, Doubt] = {}
    for key, doubt in _find_frozen_signals(recorded, signals):
        frozen.setdefault(key, doubt)
    yield from (doubt for key, doubt in frozen.items() if key not in doubts)
    for subject, samples in recorded.of(_PROCESSORS).items():
        values = samples.present.values
        if len(values) >= _LEAST_SAMPLES and not values.any():
            text = f"the processors of {subject.host} were busy for exactly 0 % in all {len(values):,} samples"
            yield Doubt(f"{text}, as those of no running host are", _CHECK)


def _find_frozen_signals(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> Iterator[tuple[str, Doubt]]:
    """Yield the key of each host on which all instances of a signal repeat their values for long, with a doubt."""
    for name in (name for name, signal in signals.items() if signal.moves):
        hosts: dict[str, _HostCounters] = {}
        for subject, samples in recorded.of(name).items():
            host = hosts.setdefault(subject.key[0], _HostCounters(subject.host))
            if not host.recorded or host.longest[1] - host.longest[0] > SHORTEST_ABSENCE:
                host.add(name, samples.present)
        for key, host in hosts.items():
            if doubt := host.doubt_repeats(signals[name].title):
                yield key, doubt


class _Stop(NamedTuple):
    """A stop of work, from the last work before the stop (`begin`) to the first work after it (`end`), in UTC ns.

    `is_whole`: work ceased completely. Repeated stops are described as one stop, from the first to the last: `times` is
    the number of stops, `length` their total length (ns).
    """

    begin: int
    end: int
    is_whole: bool
    times: int = 1
    length: int = 0

    @property
    def shown(self) -> str:
        """How long the stop lasted, and how often it occurred: `13 min in all, 3 times`."""
        often = f" in all, {self.times:,} times," if self.times > 1 else ""
        return format_duration(self.length) + often


def doubt_stopped_work(
    recorded: RecordedSignals, signals: Mapping[str, Signal], planned: Sequence[Planned], tests: int
) -> Iterator[Doubt]:
    """Yield a doubt about hosts whose steady operations stopped for long and then continued, outside planned work.

    `tests` is how many tests the log seems to have; 0 for a single test.
    """
    entries: dict[str, tuple[int, str]] = {}
    works = [
        (signal, *item, _STANDSTILL)
        for name, signal in signals.items()
        if signal.load == "operations" and not name.startswith(DRIVER)
        for item in recorded.of(name).items()
    ]
    host_work = find_host_work(recorded, signals)
    works += [(load.signal, load.subjects[0], load.samples, _HOST_AT_REST) for load in host_work]
    for signal, subject, samples, rest in works:
        stop = _find_stop(samples.present, rest)
        if stop and not any(work.covers(stop.begin, stop.end) for work in planned):
            did = "stopped" if stop.is_whole else "all but stopped"
            text = f"{add_subject(signal.title, subject)} {did} for {stop.shown}"
            entries[subject.host] = max(entries.get(subject.host, (0, "")), (stop.length, text))
    if entries:
        _, longest = max(entries.values())
        result = f", and so did {format_count(len(entries) - 1, 'more host')}" if len(entries) > 1 else ""
        where = "between what may be tests of one log" if tests else "in the middle of steady work"
        yield Doubt(f"{longest} {where}{result}", _CHECK_PAUSE)


def _find_stop(samples: Samples, rest: float) -> _Stop | None:
    """Return the longest stop of steady work, else its repeated stops; None without.

    `rest` is the share of the levels of work beside a stop below which no work was done.
    """
    usual = float(np.quantile(samples.values, _USUAL)) if len(samples.values) else 0.0
    busy = np.flatnonzero(samples.values > _LEAST_WORK * usual)
    if len(busy) < _LEAST_SAMPLES:
        return None
    is_enough = usual * (samples.interval or 0) >= _LEAST_REQUESTS * SECOND
    longest = _find_longest_stop(samples, busy, rest)
    return longest or (_find_repeated_stops(samples, busy, rest) if is_enough else None)


def _find_longest_stop(samples: Samples, busy: NDArray[np.intp], rest: float) -> _Stop | None:
    """Return the longest stop between `busy` rows, if long for the run or between two levels of work; else None.

    What a host does by itself varies, so that its work must stop between levels.
    """
    at = int(np.diff(samples.times[busy]).argmax())
    last, following = int(busy[at]), int(busy[at + 1])
    begin, end = int(samples.times[last]), int(samples.times[following])
    length, between = end - begin, following - last - 1
    whole = int(samples.times[busy[-1]] - samples.times[busy[0]])
    is_long = rest < _HOST_AT_REST and length > compute_long_absence(whole)
    is_long |= length >= SHORTEST_ABSENCE and _is_between_levels(samples, last + 1, following, rest)
    idle = int(busy[-1] - busy[0]) + 1 - len(busy) - between
    # The first and last of several samples hold some of the work beside the stop.
    rim = int(between > _FEWEST_IDLE)
    is_whole = not samples.values[last + 1 + rim : following - rim].any()
    counts = between and is_long and idle <= _MOST_IDLE * len(busy) and (is_whole or length <= _LONGEST_PARTLY)
    return _Stop(begin, end, is_whole, 1, length) if counts else None


def _find_repeated_stops(samples: Samples, busy: NDArray[np.intp], rest: float) -> _Stop | None:
    """Return two or more stops between levels of work, as a single stop, if their total is long; else None.

    If work rests for more than a third of the run, the stops are regular, and the result is None.
    """
    gaps = [(int(last) + 1, int(stop)) for last, stop in pairwise(busy.tolist()) if stop > last + 1]
    stops = [gap for gap in gaps if _is_between_levels(samples, *gap, rest)]
    rows = sum(stop - first for first, stop in stops)
    idle = sum(stop - first for first, stop in gaps) - rows
    is_steady = idle <= _MOST_IDLE * len(busy) + _SLIGHT * rows and rows <= _MOST_STOPPED * (busy[-1] - busy[0])
    length = rows * (samples.interval or 0)
    shortest = max(SHORTEST_ABSENCE, int(samples.times[-1] - samples.times[0]) // 50)
    if len(stops) < 2 or length < shortest or not is_steady:
        return None
    begin, end = int(samples.times[stops[0][0] - 1]), int(samples.times[stops[-1][1]])
    is_whole = not any(samples.values[first:stop].any() for first, stop in stops)
    return _Stop(begin, end, is_whole, len(stops), length)


def _is_between_levels(samples: Samples, first: int, stop: int, rest: float) -> bool:
    """Return whether hardly any work was done from row `first` to before row `stop`, between two levels of work.

    The levels are medians of at least as many rows on each side. The lower level must be at least half of the higher,
    and the mean of the rows below the share `rest` of it.
    """
    rows = max(stop - first, _LEAST_SAMPLES // 2)
    before, after = samples.values[max(0, first - rows) : first], samples.values[stop : stop + rows]
    if stop - first < _FEWEST_IDLE or min(len(before), len(after)) < rows // 2:
        return False
    low, high = sorted((float(np.median(before)), float(np.median(after))))
    return 2 * low >= high and float(samples.values[first:stop].mean()) < rest * low
