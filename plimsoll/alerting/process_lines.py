"""The lines on processes that an alert is kept with."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import psutil

from plimsoll.collect.processes import MINUTE, ProcessUse, ProcessWatch, TopProcesses
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.series import host_key
from plimsoll.review.processes import IDLE
from plimsoll.review.recorded_signals import signal_samples
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder, series_of
from plimsoll.store.protocol import SampleReader

_PREFIX = "process."
_MOST = 3
# Most rules fire after a threshold was crossed for so long.
_BEFORE = 5 * MINUTE
_log = logging.getLogger(__name__)


class ProcessLines:
    """Says which processes of a host used most in the five minutes before an evaluation.

    Of the host that is called `own`, `watch` says it; of others, and where there is no watch, what their agents
    recorded.
    """

    def __init__(
        self,
        store: SampleReader,
        signals: Mapping[str, Signal],
        text: str = "",
        watch: ProcessWatch | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._signals = signals
        self._own_host = text.casefold()
        self._watch = watch
        self._clock = clock

    def __call__(self, at_ns: int, hosts: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """The lines of each of some hosts. What cannot be read is logged and left out: the alert matters more."""
        lines: dict[str, Sequence[str]] = {}
        for host in hosts:
            try:
                lines[host] = [str(top_processes) for top_processes in self._top(host, at_ns)]
            except (Unreachable, Unusable, psutil.Error, OSError) as error:
                _log.warning("the processes of %s: cannot be read: %s", host, error)
        return lines

    def _top(self, host: str, at_ns: int) -> Sequence[TopProcesses]:
        start = at_ns - _BEFORE
        if self._watch and host_key(host) == self._own_host:
            return self._watch.top(start, at_ns, self._clock())
        return recorded_top(self._store, self._signals, host, start, at_ns)


def recorded_top(
    store: SampleReader, signals: Mapping[str, Signal], host: str, start_ns: int, end_ns: int
) -> list[TopProcesses]:
    """The processes that used most of each resource, averaged from `start_ns` to `end_ns`; none if none is recorded."""
    recorded = {name: signal for name, signal in signals.items() if name.startswith(_PREFIX)}
    finder = Finder(recorded, store.series(start_ns, end_ns, [host]).series, lambda _: True)
    top: list[TopProcesses] = []
    for name, signal in recorded.items():
        items = list(finder.find(name).values())
        series = [series for _, origin in items for series in series_of(origin)]
        read = dict(zip([series.key for series in series], store.read(series, start_ns, end_ns), strict=True))
        uses: list[ProcessUse] = []
        for subject, origin in items:
            samples = signal_samples(origin, lambda series, read=read: read[series.key])
            values = samples.present.values if samples else ()
            if subject.instance and subject.instance.casefold() != IDLE and sum(values) > 0:
                uses.append(ProcessUse(subject.instance, None, float(sum(values) / len(values))))
        uses.sort(key=lambda process_use: (-process_use.value, process_use.name))
        if uses:
            top.append(TopProcesses(signal.title, signal.unit, tuple(uses[:_MOST])))
    return top
