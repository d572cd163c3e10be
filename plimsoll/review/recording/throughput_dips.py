"""Dips of throughput: times in which a load driver had far fewer requests answered than in the rest of its load.

What was offered meanwhile tells whether the system answered less: the users at work or, of a driver that has none, the
requests in flight; of an operation, the other requests. As work is measured by them, ramps, stairs and the curve of a
day are no dips.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from plimsoll.analysis.episodes import count_cycles
from plimsoll.analysis.filters import find_runs, smooth_mean
from plimsoll.model.log import Values
from plimsoll.model.remark import join_names
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_percent
from plimsoll.review.doubts import SHORTEST_ABSENCE, compute_long_absence
from plimsoll.review.phases.found_phases import average_on_grid
from plimsoll.review.phases.throughput_loss import NEXT_TO_NONE, USUAL, fill_gaps, has_ramp
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import (
    REQUESTS,
    DriverClause,
    DriverOperation,
    DriverTest,
    list_operations,
    list_tests,
)

# Our choices.
_STEP = 10 * SECOND
_FEWER = 0.5  # of the usual rate of as many users: below it is a dip
_AWAY, _LEAST_USERS = 0.15, 0.02  # of the usual users: the driver paused; below, a rate is compared with so many
_WAITING = 0.85  # of the usual requests in flight: they waited
_STEADY, _MINUTE = 0.6, 6  # of the highest tenth of the means of as many steps is their lowest tenth, outside of dips
_BY_CHANCE = 2  # steps below, where hardly any others are; the more there are, the longer they last by chance
_FEWEST_LACKED = 30  # requests: fewer may be missing by chance
_FEWEST_STEPS = 12
# Less than two and five minutes, as noise hides a part.
_LONG_STOP, _LONG = 110 * SECOND, SHORTEST_ABSENCE - 10 * SECOND
_LONG_DIP, _NOTABLE = 60 * SECOND, 25 * SECOND
_OF_STEP = 30  # requests of an operation in each step
_REPLACED = 2.0  # times as many requests of another operation meanwhile: the script went on to it
_CHECK_OPERATION = "see whether the script left it out or it could not be reached"
_CHECK_PAUSE = "see whether it paused or the system did not answer"
_Offered = Literal["held", "away", "unknown"]
_MEANWHILE: dict[_Offered, str] = {
    "held": " while its users were at work",
    "unknown": "; whether fewer were sent is not known",
    "away": " while its users were away",
}


class _Dip(NamedTuple):
    """A dip from `begin` to `end` (UTC ns) to the share `left` of the usual rate.

    `lost` is how long (ns) the usual rate takes to answer the requests that the dip lacks. `offered` says whether the
    offered load stayed; with `ends_load`, the load ended in the dip.
    """

    begin: int
    end: int
    lost: int
    left: float
    offered: _Offered
    ends_load: bool

    @property
    def is_stop(self) -> bool:
        """Whether next to no requests were answered."""
        return self.left < NEXT_TO_NONE


def judge_dips(recorded: RecordedSignals, phases: Sequence[Phase]) -> Iterator[DriverClause]:
    """Yield clauses on dips of the load drivers' throughput, within `phases` if any are set by hand, and on pauses.

    Long dips make doubts. If there are none, an operation may have dipped while others went on.
    """
    dips = list(_describe_dips(recorded, phases))
    yield from dips
    if not any(dip.advice for dip in dips):
        yield from _describe_operations(recorded)
    for done in recorded.of(REQUESTS).values():
        tests, step = list_tests(done), done.interval or 0
        if pauses := [format_duration(after.start - before.end - step) for before, after in pairwise(tests)]:
            between = f"with {join_names(pauses, 2)} between them without requests"
            yield DriverClause(f"the load driver had {len(tests):,} tests, {between}; each was judged")


def _describe_dips(recorded: RecordedSignals, phases: Sequence[Phase]) -> Iterator[DriverClause]:
    """Yield a clause on the dips in each test of a load driver, by what was offered meanwhile."""
    for subject, done in recorded.of(REQUESTS).items():
        users, in_flight = (recorded.of(f"client.{name}").get(subject) for name in ("users", "in_flight"))
        for test in list_tests(done):
            within = [phase for phase in phases if phase.start < test.end and phase.end > test.start]
            dips = [
                dip
                for dip in _find_dips(test, done, users, in_flight)
                if not within or any(phase.start <= dip.begin and dip.end <= phase.end for phase in within)
            ]
            length = sum(phase.end - phase.start for phase in within) if within else test.end - test.start
            for offered, meanwhile in _MEANWHILE.items():
                chosen = [dip for dip in dips if dip.offered == offered]
                is_notable, is_long = _classify_dips(chosen, offered, compute_long_absence(length))
                if is_notable:
                    clause = f"the load driver {_format_dips(chosen, test)}{meanwhile}"
                    yield DriverClause(clause, _CHECK_PAUSE if is_long else "")


def _describe_operations(recorded: RecordedSignals) -> Iterator[DriverClause]:
    """Yield a clause on the operation that dipped most while others went on, in each test.

    Operations with few of the requests are named last, and make no doubt.
    """
    operations = list(list_operations(recorded))
    for done in recorded.of(REQUESTS).values():
        for test in list_tests(done):
            pairs = [(operation, _find_operation_dips(test, operation, done, operations)) for operation in operations]
            dipped = [(operation, dips) for operation, dips in pairs if dips]
            dipped.sort(key=lambda pair: (not pair[0].is_main, -sum(dip.lost for dip in pair[1])))
            if dipped:
                worst, dips = dipped[0]
                names = [f"“{operation.name}”" for operation, _ in dipped[1:]]
                also = f", and so with {join_names(names, 2)}" if names else ""
                clause = f"{_format_dips(dips, test, f' of “{worst.name}”')} while others went on{also}"
                yield DriverClause(f"the load driver {clause}", _CHECK_OPERATION if worst.is_main else "")


def _classify_dips(dips: Sequence[_Dip], offered: _Offered, long: float) -> tuple[bool, bool]:
    """Return whether dips with the same offer are worth a sentence, and whether they make a doubt."""
    stops = [dip.lost for dip in dips if dip.is_stop]
    longest, total = max(stops, default=0), sum(dip.lost for dip in dips)
    if offered == "held":
        return total >= _NOTABLE, longest >= _LONG_STOP or total >= _LONG
    is_unknown = offered == "unknown"
    is_long = is_unknown and (longest >= _LONG or sum(stops) >= long)
    return longest >= _LONG_STOP or (is_unknown and total >= _LONG), is_long


def _format_dips(dips: Sequence[_Dip], test: DriverTest, operation: str = "") -> str:
    """Return how much less was answered in the dips (of an operation: ` of “Pay”`), and for how long."""
    stops = [dip for dip in dips if dip.is_stop]
    dips = stops if max((dip.lost for dip in stops), default=0) >= _LONG_STOP else dips
    left = float(np.average([dip.left for dip in dips], weights=[dip.end - dip.begin for dip in dips]))
    few = "next to no requests" if left < NEXT_TO_NONE else f"only {format_percent(left)} of the usual requests"
    lengths = [dip.end - dip.begin if left >= NEXT_TO_NONE else dip.lost for dip in dips]
    total, longest = (format_duration(round(length / _STEP) * _STEP) for length in (sum(lengths), max(lengths)))
    answered = f"had {few}{operation} answered for {total}"
    if len(dips) == 1:
        whole = test.place.removeprefix(" in ") or "its load"
        return f"{answered} {'at the end' if dips[0].ends_load else 'in the middle'} of {whole}"
    return f"{answered} in all, in {len(dips):,} pauses of at most {longest},{test.place}"


def _find_dips(test: DriverTest, done: Samples, users: Samples | None, in_flight: Samples | None) -> Iterator[_Dip]:
    """Return the dips in a load driver's answered requests in a test."""
    rates = _Rates(test, done, max(done.interval or 0, _STEP))
    load = users or in_flight
    share = np.ones(len(rates.times))
    if load:
        share = _divide_by_usual(np.interp(rates.times, load.present.times, load.present.values))
    if users is not None and not has_ramp(rates.values, share, rates.step):
        return rates.find_dips(share, _AWAY, "away")
    is_waiting = users is None and in_flight is not None
    return rates.find_dips(share, _WAITING if is_waiting else np.inf, "unknown")


def _find_operation_dips(
    test: DriverTest, operation: DriverOperation, done: Samples, operations: Sequence[DriverOperation]
) -> list[_Dip]:
    """Return the dips of an operation in a test, if long; none if the script has it in one phase or now and then.

    Its steps are so long that they have `_OF_STEP` requests, of which half are hardly ever missing by chance. `done`
    are the requests of all `operations`.
    """
    cut = test.cut(operation.done)
    mean = float(cut.values.mean()) if len(cut.values) else 0.0
    if mean * (test.end - test.start) < _OF_STEP * _FEWEST_STEPS * SECOND:
        return []
    rates = _Rates(test, operation.done, int(max(cut.interval or 0, _STEP, np.ceil(_OF_STEP / mean / 10) * _STEP)))
    share = _divide_by_usual(_Rates(test, done, rates.step).values - rates.values)
    dips = [dip for dip in rates.find_dips(share, _FEWER, "unknown") if dip.offered == "held"]
    if not _classify_dips(dips, "held", 0)[1]:
        return []
    absent = np.any([(rates.times > dip.begin) & (rates.times <= dip.end) for dip in dips], axis=0)
    if 2 * absent.sum() > len(absent) and count_cycles(rates.values):
        return []
    in_ramp = float(np.median(share[~absent])) < _WAITING * float(np.median(share[absent]))
    begins_late = rates.values[: SHORTEST_ABSENCE // rates.step + 1].max() < NEXT_TO_NONE * rates.values.max()
    if dips[-1].ends_load and (in_ramp or begins_late):
        return []
    rates_beside = (_Rates(test, other.done, rates.step).values for other in operations if other.name != operation.name)
    lacked = float(rates.values[~absent].mean() - rates.values[absent].mean())
    is_replaced = any(
        other[absent].mean() >= _REPLACED * other[~absent].mean() and other[absent].mean() >= _FEWER * lacked
        for other in rates_beside
    )
    return [] if is_replaced else dips


def _divide_by_usual(offered: Values) -> Values:
    return offered / (float(np.quantile(offered, USUAL)) or 1.0)


class _Rates:
    """The rates (per s) of answered requests in steps of `step` ns of a test."""

    def __init__(self, test: DriverTest, done: Samples, step: int) -> None:
        self.step = step
        self.times = test.start + np.arange((test.end - test.start) // step + 1) * step
        self.values = fill_gaps(average_on_grid(test.cut(done), test.start, step, len(self.times)))

    def find_dips(self, share: Values, stayed: float, below: _Offered) -> Iterator[_Dip]:
        """Yield the dips; a dip at the end only if the offered load stayed.

        `share` is the share of the usual offered load in each step: from `stayed` on the load was held, else `below`
        says what was offered.
        """
        step, rates, count = self.step, self.values, len(self.times)
        level = float(np.quantile(rates, USUAL))
        # While the driver paused, nothing tells one quiet step from the next.
        pauses = (share < _AWAY) & (rates < NEXT_TO_NONE * level)
        usual = level * np.where(pauses, 1, np.clip(share, _LEAST_USERS, 1))
        low = rates < _FEWER * usual
        runs = find_runs(low)
        if count < _FEWEST_STEPS or not level or not runs:
            return
        shortest = max(_BY_CHANCE, np.ceil(_BY_CHANCE / (1.01 - float(low.mean())) ** 2))
        steady = _is_steady(rates[~low] / usual[~low])
        for first, stop in runs:
            inner = slice(first + 1, stop - 1) if stop - first > 3 else slice(first, stop)
            left = float(rates[inner].sum() / usual[inner].sum())
            offered: _Offered = "held" if float(np.median(share[inner])) >= stayed else below
            near = slice(max(first - 1, 0), stop + 1)
            lacked = np.clip(usual[near] - rates[near], 0, None)
            lost = int((lacked / usual[near]).sum() * step)
            counts = first and stop - first >= shortest and lacked.sum() * step >= _FEWEST_LACKED * SECOND
            # Rates that vary fall to a half by themselves, but they do not stay at nothing for minutes.
            is_long = (
                lost >= _LONG_STOP or steady if left < NEXT_TO_NONE else steady and (stop - first) * step >= _LONG_DIP
            )
            if counts and is_long and (stop < count or offered == "held"):
                yield _Dip(int(self.times[first]) - step, int(self.times[stop - 1]), lost, left, offered, stop == count)


def _is_steady(rates: Values) -> bool:
    """Return whether the rates hardly vary from minute to minute."""
    low, high = np.quantile(smooth_mean(rates, min(_MINUTE, len(rates))), (0.1, 0.9))
    return bool(low >= _STEADY * high)
