"""What the results of a load driver say against a good run: requests that failed, a load that paused or ended."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.log import Times, Values
from plimsoll.model.remark import listed
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, duration_text
from plimsoll.model.value_text import quantity
from plimsoll.review.doubts import LEAST_SHARE_ABSENT, SHORTEST_ABSENCE, long_absence
from plimsoll.review.findings import JUDGED, Doubt, Finding
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.standstill import is_between_levels

# Our choices, but for the first: what is answered within it does not break a user's flow of thought (Nielsen,
# "Usability Engineering", 1993, section 5.5).
_LONG_S = 1.0


_TIMES = 3.0  # as long as before


_NO_MORE = 1.1  # times as many requests answered are no more


_FEWEST_PARTS = 4


_WAITED = "client.response_time"


_OBJECTIVE_OF_TIMES = "say under [objective] in plimsoll.toml how long they may take"


class _Waits(NamedTuple):
    """Parts of the load one after another: the requests answered in each (per s), and how long they took (s)."""

    done: Values
    waited: Values
    part: int


# Our choices.
_MANY_FAILED = 0.05  # of all requests: from here on the system did not do what it was asked for
_SOME_FAILED = 0.01  # from here on it is said
_USUALLY_FAILED = 0.5  # of those of one operation: it does not work
_OFTEN_FAILED = 0.2  # of the requests of a minute, of which enough failed to tell
_ENOUGH_FAILED = 10
_MINUTE = 60 * SECOND
_LONG_FAILED = 2  # minutes
_LEAST_LOAD = 0.1  # of the load that was reached: below there is next to none
_REACHED = 0.9  # the quantile that is taken for it

_OBJECTIVE = "say under [objective] in plimsoll.toml how many may"
_DONE, _FAILED, _SHARE = "client.requests", "client.errors", "client.error_share"
_USERS = "client.users"
_DONE_OF_ONE, _FAILED_OF_ONE = "client.operation_requests", "client.operation_errors"
_MOST_NAMED = 3


def many_failed(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[Doubt]:
    """That many requests failed, in the whole run or for minutes, where no objective judges that."""
    requests = _requests(recorded, findings)
    if requests is None:
        return
    bad, worst = _bad_minutes(requests)
    broken = [f"{quantity(100 * share, '%')} of “{name}”" for name, share in _broken_operations(recorded)]
    most = f", above all {listed(broken, _MOST_NAMED)}" if broken else ""
    if requests.share >= _MANY_FAILED:
        yield Doubt(f"{_share_text(requests.share)} failed{most}", _OBJECTIVE)
    elif bad >= _LONG_FAILED:
        yield Doubt(f"up to {_share_text(worst)} failed for {bad:,} min{most}", _OBJECTIVE)
    elif broken:
        yield Doubt(f"of the requests of the load driver {listed(broken, _MOST_NAMED)} failed", _OBJECTIVE)


def some_failed(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield how many requests failed, as a sentence, where they are not few and no more is said of them."""
    requests = _requests(recorded, findings)
    if requests and requests.share >= _SOME_FAILED and not any(many_failed(recorded, findings)):
        yield f"{_share_text(requests.share)} failed, and no objective says how many may."


def unanswered(recorded: RecordedSignals, phases: Sequence[Phase]) -> Iterator[Doubt]:
    """That there was next to no answer for long between two times of load; `phases` set by hand tell when load was."""
    for samples in recorded.of(_DONE).values():
        times = _under_load(samples)
        if not len(times):
            continue
        inside = [phase for phase in phases if phase.start < times[-1] and phase.end > times[0]]
        spans = [(phase.start, phase.end) for phase in inside] or [(int(times[0]), int(times[-1]))]
        of = sum(end - start for start, end in spans)
        asking = _asked_until(recorded)
        is_last = asking > times[-1]
        steps = np.diff(times, append=[asking] if is_last else [])
        at = int(np.argmax(steps)) if len(steps) else 0
        if not len(steps):
            continue
        begin, end = int(times[at]), int(times[at] + steps[at])
        if end - begin <= long_absence(of) and not (
            end - begin >= SHORTEST_ABSENCE and _is_outage(samples, begin, end)
        ):
            continue
        if inside and not any(first <= begin and end <= last for first, last in spans):
            continue
        where = "at the end" if is_last and at == len(steps) - 1 else "in the middle"
        text = f"the load driver had next to no requests answered for {duration_text(end - begin)} {where}"
        yield Doubt(f"{text} of its load", "see whether it paused or the system did not answer")


def _is_outage(samples: Samples, begin: int, end: int) -> bool:
    """Return whether next to nothing was answered between two instants (UTC ns), and as usual before and after."""
    done = samples.present
    first, stop = np.searchsorted(done.times, begin, side="right"), np.searchsorted(done.times, end)
    return is_between_levels(done, int(first), int(stop))


def ended_early(recorded: RecordedSignals, start: int, end: int) -> Iterator[str]:
    """That the load ended long before the run, which is from `start` to `end` (UTC ns), as a sentence."""
    for samples in recorded.of(_DONE).values():
        under_load = _under_load(samples)
        if not len(under_load):
            continue
        rest = end - max(int(under_load[-1]), _asked_until(recorded))
        if rest > long_absence(end - start):
            of = f"{duration_text(rest)} of {duration_text(end - start)}"
            yield f"The load driver had next to no requests answered in the last {of}: that part was not under load."


def _asked_until(recorded: RecordedSignals) -> int:
    """Until when (UTC ns) as many users as make a load waited for answers; 0 where that is not known."""
    return max((int(_under_load(users).max(initial=0)) for users in recorded.of(_USERS).values()), default=0)


def _under_load(samples: Samples) -> Times:
    """Return when as many requests were answered as make a load; empty if none were."""
    done = samples.present
    reached = float(np.quantile(done.values, _REACHED)) if len(done.values) else 0.0
    return done.times[done.values >= _LEAST_LOAD * reached] if reached else done.times[:0]


class _Requests(NamedTuple):
    """The rates (per s) of the requests that were answered, and of those that failed, at the ends of steps (ns)."""

    times: Times
    done: Values
    failed: Values
    step: int

    @property
    def share(self) -> float:
        """The share of all that failed."""
        return float(self.failed.sum() / self.done.sum())


def _bad_minutes(requests: _Requests) -> tuple[int, float]:
    """In how many minutes many requests failed, and their share in the worst of them."""
    minute = (requests.times - requests.times[0]) // _MINUTE
    done, failed = (np.bincount(minute, weights=values) for values in (requests.done, requests.failed))
    bad = (failed >= _OFTEN_FAILED * done) & (failed * requests.step >= _ENOUGH_FAILED * SECOND)
    return int(bad.sum()), float((failed[bad] / done[bad]).max(initial=0.0))


def _broken_operations(recorded: RecordedSignals) -> list[tuple[str, float]]:
    """Return the operations of which most requests failed, and their share."""
    failed_of = {subject.key: samples for subject, samples in recorded.of(_FAILED_OF_ONE).items()}
    broken: list[tuple[str, float]] = []
    for subject, done in recorded.of(_DONE_OF_ONE).items():
        failed = failed_of.get(subject.key)
        if failed is None:
            continue
        together = _together(done, failed)
        enough = together.failed.sum() * together.step >= _ENOUGH_FAILED * SECOND
        if enough and together.share >= _USUALLY_FAILED:
            broken.append((subject.instance or "", together.share))
    return broken


def _requests(recorded: RecordedSignals, findings: Sequence[Finding]) -> _Requests | None:
    """Return the requests; None where they are not known, or judged by an objective."""
    judged = any(
        finding.pack.pack == OBJECTIVE and finding.rule.signal == _SHARE and finding.outcome in JUDGED
        for finding in findings
    )
    done, failed = (next(iter(recorded.of(name).values()), None) for name in (_DONE, _FAILED))
    if judged or done is None or failed is None:
        return None
    together = _together(done, failed)
    return together if together.done.any() else None


def _together(done: Samples, failed: Samples) -> _Requests:
    step = done.interval or _MINUTE
    done, failed = done.present, failed.present
    times, at, other = np.intersect1d(done.times, failed.times, return_indices=True)
    return _Requests(times, done.values[at], failed.values[other], step)


def _share_text(share: float) -> str:
    return f"{quantity(100 * share, '%')} of the requests of the load driver"


def slowed(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[Doubt]:
    """That requests took far longer in a later part of the load, although no more of them were answered."""
    waits = _waits(recorded, findings)
    if waits is None or len(waits.done) < _FEWEST_PARTS:
        return
    for at in np.argsort(-waits.waited).tolist():
        after = float(waits.waited[at])
        before = waits.waited[:at]
        alike = before[waits.done[at] <= _NO_MORE * waits.done[:at]]
        if after < _LONG_S or not len(alike) or after < _TIMES * float(alike.min()):
            continue
        took = f"{quantity(after, 's')} (mean of {duration_text(waits.part)}), after {quantity(alike.min(), 's')}"
        yield Doubt(f"requests of the load driver took {took}, and no more were answered", _OBJECTIVE_OF_TIMES)
        return


def slow(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield how long requests took, as a sentence, where that is long and no more is said of it."""
    waits = _waits(recorded, findings)
    if waits is None or any(slowed(recorded, findings)):
        return
    mean = float(np.average(waits.waited, weights=waits.done))
    if mean >= _LONG_S:
        yield f"Requests of the load driver took {quantity(mean, 's')} in the mean, and no objective limits that."


def _waits(recorded: RecordedSignals, findings: Sequence[Finding]) -> _Waits | None:
    """None where it is not known, or judged by an objective."""
    judged = any(
        finding.pack.pack == OBJECTIVE and "response" in finding.rule.signal and finding.outcome in JUDGED
        for finding in findings
    )
    done, waited = (next(iter(recorded.of(name).values()), None) for name in (_DONE, _WAITED))
    if judged or done is None or waited is None:
        return None
    done, waited = done.present, waited.present
    times, at, other = np.intersect1d(done.times, waited.times, return_indices=True)
    rates = done.values[at]
    if not len(times) or not rates.any():
        return None
    span = int(times[-1] - times[0])
    part = int(max(SHORTEST_ABSENCE, LEAST_SHARE_ABSENT * span))
    place = np.minimum((times - times[0]) // part, max(0, span // part - 1))
    sums, together = np.bincount(place, weights=rates), np.bincount(place, weights=rates * waited.values[other])
    answered = sums > 0
    counts = np.bincount(place)
    return _Waits(sums[answered] / counts[answered], together[answered] / sums[answered], part)
