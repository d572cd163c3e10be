"""When a process or a host was started again: a trend must not bridge it."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, host_key
from plimsoll.review.review import Review
from plimsoll.rules.subjects import Subject

_ID, _AGE = r"\id process", r"\elapsed time"  # counters of a process: one stays, the other grows
_UPTIME = "system.uptime"


class Restarts:
    """The restarts in the logs of a review."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._of_process: dict[tuple[str, str | None], list[Series]] = {}
        for series in dict.fromkeys(one for log in review.logs for one in log.series):
            if series.path.casefold().endswith((_ID, _AGE)):
                process = Subject(review.host_of(series), series.tag("instance"))
                self._of_process.setdefault(process.key, []).append(series)
        self._of_host: dict[str, list[int]] = {}
        for subject, samples in review.signals.of(_UPTIME).items():
            self._of_host.setdefault(host_key(subject.host), []).extend(_times(samples.present, _falls))

    def longest(self, name: str, subject: Subject, samples: Samples) -> Samples:
        """The longest part of a signal's samples in which neither its process nor its host was started again."""
        edges = np.searchsorted(samples.times, sorted(self._of(name, subject)))
        bounds = np.concatenate(([0], edges, [len(samples.times)]))
        at = int(np.argmax(np.diff(bounds)))
        first, last = int(bounds[at]), int(bounds[at + 1])
        return Samples(samples.times[first:last], samples.values[first:last]) if len(edges) else samples

    def _of(self, name: str, subject: Subject) -> list[int]:
        """The times (UTC ns) of the first samples after a restart."""
        found = list(self._of_host.get(host_key(subject.host), ()))
        for series in self._of_process.get(subject.key, ()) if name.startswith("process.") else ():
            changes = _differs if series.path.casefold().endswith(_ID) else _falls
            found += _times(self._review.signals.counter(series).present, changes)
        return found


def _falls(values: Values) -> NDArray[np.bool_]:
    return values[1:] < values[:-1]


def _differs(values: Values) -> NDArray[np.bool_]:
    return values[1:] != values[:-1]


def _times(samples: Samples, changes: Callable[[Values], NDArray[np.bool_]]) -> list[int]:
    return samples.times[1:][changes(samples.values)].tolist()
