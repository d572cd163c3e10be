"""Doubts about a time zone that was taken for UTC, because recordings do not name it while others do."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from plimsoll.model.log import Log
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import join_names
from plimsoll.model.samples import Samples
from plimsoll.model.series import LOAD_DRIVER, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import Doubt
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.load_driver import find_loaded_span

_QUARTER = 900 * SECOND  # zones are whole quarters of an hour from UTC
_MOST = 14 * 4  # quarters
# Our choices.
_FITS, _BETTER = 0.8, 0.2  # correlation of the load with the work of a host, and how much less of it is no fit
_RESPONDS = 1.5  # times what the host usually does without load
_LOWEST = 0.1  # the quantile of its work that must be above
_MOST_NAMED = 3


def doubt_zones(logs: Iterable[Log], recorded: RecordedSignals, *, partly: bool) -> Iterator[Doubt]:
    """Yield a doubt if either the hosts or the load driver were recorded without a zone, and their times do not match.

    They do not match if a host's work fits the load better by the clock of another zone, or if `partly`: hosts were
    recorded for a part of the load only.
    """
    logs = [log for log in logs if len(log.times)]
    drivers = [log for log in logs if log.series and all(series.measurement in LOAD_DRIVER for series in log.series)]
    hosts = [log for log in logs if log not in drivers]
    of_driver = not any(log.zone.is_specified for log in drivers)
    without = drivers if of_driver else [log for log in hosts if not log.zone.is_specified]
    if not drivers or not without or (of_driver and not any(log.zone.is_specified for log in hosts)):
        return
    names = {make_host_key(host): host for log in hosts if of_driver or log in without for host in log.hosts}
    shift = _find_shift(recorded, names)
    if not shift and not partly:
        return
    of = "the results of the load driver" if of_driver else join_names(list(names.values()), _MOST_NAMED)
    result = f"the times of {of} do not say their zone and were taken for UTC, so load and hosts may not match"
    yield Doubt(result, f"name it with {Parameter.ZONE}{_format_zone(-shift if of_driver else shift)}")


def _format_zone(quarters: int) -> str:
    """Return ` (+01:00 fits best)`; "" for 0."""
    hours, rest = divmod(abs(quarters), 4)
    return f" ({'+' if quarters > 0 else '-'}{hours:02}:{15 * rest:02} fits best)" if quarters else ""


def _find_shift(recorded: RecordedSignals, hosts: Iterable[str]) -> int:
    """Return by how many quarters of an hour a host's work follows the load; 0 if it fits as it is, or is unlike it."""
    loaded, keys = find_loaded_span(recorded), set(hosts)
    works = [
        samples.present for subject, samples in recorded.of("cpu.busy").items() if make_host_key(subject.host) in keys
    ]
    return next((shift for work in works if loaded and (shift := _find_better_shift(work, loaded))), 0)


def _find_better_shift(work: Samples, loaded: Sequence[int]) -> int:
    fits = {shift: _compute_fit(work, loaded, shift * _QUARTER) for shift in range(-_MOST, _MOST + 1)}
    best = max(fits, key=lambda shift: fits[shift])
    is_better = fits[best] >= max(_FITS, fits[0] + _BETTER)
    return best if is_better and not _responds(work, loaded) else 0


def _compute_fit(work: Samples, loaded: Sequence[int], shift: int) -> float:
    """Return the correlation of work with the load moved by `shift` (ns); 0 if the load lies mostly outside of it."""
    start, end = loaded[0] + shift, loaded[1] + shift
    inside = (work.times >= start) & (work.times <= end)
    if not inside.any() or inside.all() or not np.ptp(work.values):
        return 0.0
    covered = min(end, int(work.times[-1])) - max(start, int(work.times[0]))
    return float(np.corrcoef(inside, work.values)[0, 1]) if 2 * covered >= end - start else 0.0


def _responds(work: Samples, loaded: Sequence[int]) -> bool:
    """Return whether a host does more throughout the load than it usually does without it."""
    inside = (work.times >= loaded[0]) & (work.times <= loaded[1])
    if not inside.any() or inside.all():
        return False
    lowest = float(np.quantile(work.values[inside], _LOWEST))
    return lowest > _RESPONDS * float(np.median(work.values[~inside]))
