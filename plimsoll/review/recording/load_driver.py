"""What the results of a load driver say against a good run: requests that failed, a load that ended before the run."""

from collections.abc import Iterator, Sequence

import numpy as np

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.log import Values
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import quantity
from plimsoll.review.doubts import LEAST_SHARE_ABSENT, SHORTEST_ABSENCE, Doubt
from plimsoll.review.findings import JUDGED, Finding
from plimsoll.review.recorded_signals import RecordedSignals

# Our choices.
_MOST_FAILED = 0.5  # from here on the system did not do what it was asked for
_MANY_FAILED = 0.05  # from here on it is said
_LEAST_LOAD = 0.1  # of the load that was reached: below there is next to none
_REACHED = 0.9  # the quantile that is taken for it

_SEE = "see why before all else"
_DONE, _FAILED, _SHARE = "client.requests", "client.errors", "client.error_share"


def mostly_failed(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[Doubt]:
    """That most requests failed, in the whole run or for long, where no objective judges that."""
    found = _requests(recorded, findings)
    if found is None:
        return
    done, failed, step = found
    mostly = int((failed > _MOST_FAILED * done).sum())
    if (share := float(failed.sum() / done.sum())) > _MOST_FAILED:
        yield Doubt(f"{_share_text(share)} failed", _SEE)
    elif mostly * step > max(SHORTEST_ABSENCE, LEAST_SHARE_ABSENT * len(done) * step):
        yield Doubt(f"most requests of the load driver failed for {duration_text(mostly * step)}", _SEE)


def some_failed(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[str]:
    """How many requests failed, as a sentence, where they are not few and no more is said of them."""
    found = _requests(recorded, findings)
    if found is None or any(mostly_failed(recorded, findings)):
        return
    done, failed, _ = found
    if (share := float(failed.sum() / done.sum())) >= _MANY_FAILED:
        yield f"{_share_text(share)} failed, and no objective says how many may."


def ended_early(recorded: RecordedSignals, start: int, end: int) -> Iterator[str]:
    """That the load ended long before the run, which is from `start` to `end` (UTC ns), as a sentence."""
    for samples in recorded.of(_DONE).values():
        done = samples.present
        reached = float(np.quantile(done.values, _REACHED))
        under_load = done.times[done.values >= _LEAST_LOAD * reached]
        if not reached or not len(under_load):
            continue
        rest = end - int(under_load[-1])
        if rest > max(SHORTEST_ABSENCE, LEAST_SHARE_ABSENT * (end - start)):
            of = f"{duration_text(rest)} of {duration_text(end - start)}"
            yield f"The load driver had next to no requests answered in the last {of}: that part was not under load."


def _requests(recorded: RecordedSignals, findings: Sequence[Finding]) -> tuple[Values, Values, int] | None:
    """The rates of the requests that were answered and of those that failed, and the length of a step (ns).

    None where they are not known, or judged by an objective.
    """
    judged = any(one.pack.pack == OBJECTIVE and one.rule.signal == _SHARE and one.outcome in JUDGED for one in findings)
    done, failed = (next(iter(recorded.of(name).values()), None) for name in (_DONE, _FAILED))
    if judged or done is None or failed is None:
        return None
    _, at, other = np.intersect1d(done.present.times, failed.present.times, return_indices=True)
    rates = done.present.values[at], failed.present.values[other]
    return (*rates, done.interval or 0) if rates[0].any() else None


def _share_text(share: float) -> str:
    return f"{quantity(100 * share, '%')} of the requests of the load driver"
