"""Dips of throughput: times in which a load driver had far fewer requests answered than in the rest of its load.

What was offered meanwhile tells whether the system answered less: the users at work or, of a driver that has none, the
requests in flight. As work is measured by the users at work, ramps, stairs and the curve of a day are no dips.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from plimsoll.analysis.filters import find_runs, smooth_mean
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_percent
from plimsoll.review.doubts import SHORTEST_ABSENCE, compute_long_absence
from plimsoll.review.findings import Doubt
from plimsoll.review.phases.found_phases import average_on_grid
from plimsoll.review.phases.throughput_loss import fill_gaps, has_ramp
from plimsoll.review.recorded_signals import RecordedSignals

# Our choices.
_STEP = 10 * SECOND
_USUAL = 0.75  # the quantile of the rates, and of the users, that is usual
_FEWER = 0.5  # of the usual rate of as many users: below it is a dip
_NEXT_TO_NONE = 0.1
_AWAY, _LEAST_USERS = 0.15, 0.02  # of the usual users: the driver paused; below, a rate is compared with so many
_HELD = 0.85  # of the usual requests in flight: they waited
_STEADY, _MINUTE = 0.6, 6  # of the highest tenth of the means of as many steps is their lowest tenth, outside of dips
_BY_CHANCE = 2  # steps below, where hardly any others are; the more there are, the longer they last by chance
_FEWEST_LACKED = 30  # requests: fewer may be missing by chance
_FEWEST_STEPS = 12
# Less than two and five minutes, as noise hides a part.
_LONG_STOP, _LONG = 110 * SECOND, SHORTEST_ABSENCE - 10 * SECOND
_LONG_DIP, _NOTABLE = 60 * SECOND, 25 * SECOND
_CHECK_PAUSE = "see whether it paused or the system did not answer"
_Offered = Literal["held", "away", "unknown"]


@dataclass(frozen=True)
class _Dip:
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
        return self.left < _NEXT_TO_NONE


def doubt_unanswered(recorded: RecordedSignals, phases: Sequence[Phase]) -> Iterator[Doubt]:
    """Yield a doubt for each load driver whose throughput dipped for long, within `phases` if any are set by hand."""
    yield from (
        Doubt(f"the load driver {text}", _CHECK_PAUSE) for text, is_long in _describe_dips(recorded, phases) if is_long
    )


def describe_pauses(recorded: RecordedSignals, phases: Sequence[Phase]) -> Iterator[str]:
    """Yield sentences on dips of throughput that are too short for a doubt, or in which the load driver paused."""
    yield from (f"The load driver {text}." for text, is_long in _describe_dips(recorded, phases) if not is_long)


def _describe_dips(recorded: RecordedSignals, phases: Sequence[Phase]) -> Iterator[tuple[str, bool]]:
    """Yield a clause on the dips of each load driver by what was offered meanwhile, and whether it makes a doubt."""
    for subject, done in recorded.of("client.requests").items():
        users, waiting = (recorded.of(f"client.{name}").get(subject) for name in ("users", "in_flight"))
        dips = list(_find_dips(done, users, waiting))
        within = [phase for phase in phases if phase.start < done.times[-1] and phase.end > done.times[0]]
        if within:
            dips = [dip for dip in dips if any(phase.start <= dip.begin and dip.end <= phase.end for phase in within)]
        spans = within or [Phase("", int(done.times[0]), int(done.times[-1]))]
        long = compute_long_absence(sum(phase.end - phase.start for phase in spans))
        for offered, meanwhile in _MEANWHILE.items():
            chosen = [dip for dip in dips if dip.offered == offered]
            stops = [dip for dip in chosen if dip.is_stop]
            longest, total = (max((dip.lost for dip in stops), default=0), sum(dip.lost for dip in chosen))
            if offered == "held":
                is_long, is_notable = longest >= _LONG_STOP or total >= _LONG, total >= _NOTABLE
            else:
                is_long = offered == "unknown" and (longest >= _LONG or sum(dip.lost for dip in stops) >= long)
                is_notable = longest >= _LONG_STOP or (offered == "unknown" and total >= _LONG)
            if is_notable:
                counted = stops if longest >= _LONG_STOP else chosen
                yield f"{_format_dips(counted)}{meanwhile}", is_long


_MEANWHILE: dict[_Offered, str] = {
    "held": " while its users were at work",
    "unknown": "; whether fewer were sent is not known",
    "away": " while its users were away",
}


def _format_dips(dips: Sequence[_Dip]) -> str:
    """Return how much less was answered in the dips, and for how long."""
    left = float(np.average([dip.left for dip in dips], weights=[dip.end - dip.begin for dip in dips]))
    few = "next to no requests" if left < _NEXT_TO_NONE else f"only {format_percent(left)} of the usual requests"
    lengths = [dip.end - dip.begin if left >= _NEXT_TO_NONE else dip.lost for dip in dips]
    total, longest = (format_duration(round(length / _STEP) * _STEP) for length in (sum(lengths), max(lengths)))
    if len(dips) == 1:
        return f"had {few} answered for {total} {'at the end' if dips[0].ends_load else 'in the middle'} of its load"
    return f"had {few} answered for {total} in all, in {len(dips):,} pauses of at most {longest},"


def _find_dips(done: Samples, users: Samples | None, waiting: Samples | None) -> Iterator[_Dip]:
    """Yield the dips in a load driver's answered requests; a dip at the end only if the offered load stayed."""
    step = max(done.interval or 0, _STEP)
    start = int(done.present.times[0])
    count = (int(done.present.times[-1]) - start) // step + 1
    times = start + np.arange(count) * step
    rates = fill_gaps(average_on_grid(done.present, start, step, count))
    level, by = float(np.quantile(rates, _USUAL)), users or waiting
    share = np.ones(count) if by is None else np.interp(times, by.present.times, by.present.values)
    share = share / (float(np.quantile(share, _USUAL)) or 1.0)
    usual = level * np.clip(share, _LEAST_USERS, 1)
    low = rates < _FEWER * usual
    runs = find_runs(low)
    if count < _FEWEST_STEPS or not level or not runs:
        return
    tell = users is not None and not has_ramp(rates, share, step)
    shortest = max(_BY_CHANCE, np.ceil(_BY_CHANCE / (1.01 - float(low.mean())) ** 2))
    steady = _is_steady(rates[~low] / usual[~low])
    for first, stop in runs:
        inner = slice(first + 1, stop - 1) if stop - first > 3 else slice(first, stop)
        left, at_work = float(rates[inner].sum() / usual[inner].sum()), float(np.median(share[inner]))
        offered = _classify_offer(at_work, tell, users is None and waiting is not None)
        near = slice(max(first - 1, 0), stop + 1)
        lacked = np.clip(usual[near] - rates[near], 0, None)
        lost = int((lacked / usual[near]).sum() * step)
        counts = first and stop - first >= shortest and lacked.sum() * step >= _FEWEST_LACKED * SECOND
        # Rates that vary fall to a half by themselves, but they do not stay at nothing for minutes.
        is_long = (
            lost >= _LONG_STOP or steady if left < _NEXT_TO_NONE else steady and (stop - first) * step >= _LONG_DIP
        )
        if counts and is_long and (stop < count or offered == "held"):
            yield _Dip(int(times[first]) - step, int(times[stop - 1]), lost, left, offered, stop == count)


def _classify_offer(at_work: float, of_users: bool, of_waiting: bool) -> _Offered:
    """Return what was offered in a dip, from the share `at_work` of the usual users or requests in flight."""
    if of_users:
        return "away" if at_work < _AWAY else "held"
    return "held" if of_waiting and at_work >= _HELD else "unknown"


def _is_steady(rates: Values) -> bool:
    """Return whether the rates hardly vary from minute to minute."""
    low, high = np.quantile(smooth_mean(rates, min(_MINUTE, len(rates))), (0.1, 0.9))
    return bool(low >= _STEADY * high)
