"""The top processes that are recorded with an alert: a line for each resource."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import psutil

from plimsoll.collect.processes import MINUTE, ProcessUse, ProcessWatch, TopProcesses
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.series import make_host_key
from plimsoll.review.processes import is_idle
from plimsoll.review.recorded_signals import compute_signal_samples
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder, list_read_series
from plimsoll.store.protocol import SampleReader

_PREFIX = "process."
_MOST = 3
# Most rules fire when a threshold has been crossed for this long.
_BEFORE = 5 * MINUTE
_log = logging.getLogger(__name__)


class ProcessLines:
    """A function that names the processes of a host that used most resources in the five minutes before an evaluation.

    Processes of the host `own_host` come from `watch`; of other hosts, or without a watch, from recorded samples.
    """

    def __init__(
        self,
        store: SampleReader,
        signals: Mapping[str, Signal],
        own_host: str = "",
        watch: ProcessWatch | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._signals = signals
        self._own_host = own_host.casefold()
        self._watch = watch
        self._clock = clock

    def __call__(self, at_ns: int, hosts: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return the top processes of each host before `at_ns` (UTC ns), as a line of text for each resource.

        A host whose processes cannot be read is logged and left out.
        """
        lines: dict[str, Sequence[str]] = {}
        start = at_ns - _BEFORE
        for host in hosts:
            try:
                if self._watch and make_host_key(host) == self._own_host:
                    top = self._watch.top(start, at_ns, self._clock())
                else:
                    top = read_top_processes(self._store, self._signals, host, start, at_ns)
                lines[host] = [*map(str, top)]
            except (Unreachable, Unusable, psutil.Error, OSError) as error:
                _log.warning("the processes of %s: cannot be read: %s", host, error)
        return lines


def read_top_processes(
    store: SampleReader, signals: Mapping[str, Signal], host: str, start_ns: int, end_ns: int
) -> list[TopProcesses]:
    """Return, for each resource, the processes that used most of it on average in a range; empty if not recorded."""
    recorded = {name: signal for name, signal in signals.items() if name.startswith(_PREFIX)}
    finder = Finder(recorded, store.series(start_ns, end_ns, [host]).series, lambda _: True)
    top: list[TopProcesses] = []
    for name, signal in recorded.items():
        origins = list(finder.find(name).values())
        series = [series for _, origin in origins for series in list_read_series(origin)]
        read = dict(zip([series.key for series in series], store.read(series, start_ns, end_ns), strict=True))
        uses: list[ProcessUse] = []
        for subject, origin in origins:
            samples = compute_signal_samples(origin, lambda series, read=read: read[series.key])
            values = samples.present.values if samples else ()
            if subject.instance and not is_idle(subject.instance) and sum(values) > 0:
                uses.append(ProcessUse(subject.instance, None, float(sum(values) / len(values))))
        uses.sort(key=lambda process_use: (-process_use.value, process_use.name))
        if uses:
            top.append(TopProcesses(signal.title, signal.unit, tuple(uses[:_MOST])))
    return top
