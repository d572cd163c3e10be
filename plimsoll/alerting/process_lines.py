"""The lines on processes that an alert is kept with."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import psutil

from plimsoll.alerting.recorded_processes import recorded_top
from plimsoll.collect.processes import MINUTE, ProcessWatch, TopProcesses
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.host_key import host_key
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.protocol import Store

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
        store: Store,
        signals: Mapping[str, Signal],
        own: str = "",
        watch: ProcessWatch | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._signals = signals
        self._own = own.casefold()
        self._watch = watch
        self._clock = clock

    def __call__(self, at_ns: int, hosts: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """The lines of each of some hosts. What cannot be read is logged and left out: the alert matters more."""
        found: dict[str, Sequence[str]] = {}
        for host in hosts:
            try:
                found[host] = [str(one) for one in self._top(host, at_ns)]
            except (Unreachable, Unusable, psutil.Error, OSError) as error:
                _log.warning("the processes of %s: cannot be read: %s", host, error)
        return found

    def _top(self, host: str, at_ns: int) -> Sequence[TopProcesses]:
        start = at_ns - _BEFORE
        if self._watch and host_key(host) == self._own:
            return self._watch.top(start, at_ns, self._clock())
        return recorded_top(self._store, self._signals, host, start, at_ns)
