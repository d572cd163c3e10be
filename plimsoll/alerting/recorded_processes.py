"""The processes that used most on a host whose agent records processes."""

from collections.abc import Mapping

from plimsoll.collect.processes import ProcessUse, TopProcesses
from plimsoll.review.processes import IDLE
from plimsoll.review.signal_samples import signal_samples
from plimsoll.rules.origins import series_of
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder
from plimsoll.store.protocol import Store

_PREFIX = "process."
_MOST = 3


def recorded_top(
    store: Store, signals: Mapping[str, Signal], host: str, start_ns: int, end_ns: int
) -> list[TopProcesses]:
    """The processes that used most of each resource, averaged from `start_ns` to `end_ns`; none if none is recorded."""
    wanted = {name: signal for name, signal in signals.items() if name.startswith(_PREFIX)}
    finder = Finder(wanted, store.series(start_ns, end_ns, [host]).series, lambda _: True)
    top: list[TopProcesses] = []
    for name, signal in wanted.items():
        found = list(finder.find(name).values())
        series = [one for _, origin in found for one in series_of(origin)]
        read = dict(zip([one.key for one in series], store.read(series, start_ns, end_ns), strict=True))
        uses: list[ProcessUse] = []
        for subject, origin in found:
            samples = signal_samples(origin, lambda one, read=read: read[one.key])
            values = samples.present.values if samples else ()
            if subject.instance and subject.instance.casefold() != IDLE and sum(values) > 0:
                uses.append(ProcessUse(subject.instance, None, float(sum(values) / len(values))))
        uses.sort(key=lambda one: (-one.value, one.name))
        if uses:
            top.append(TopProcesses(signal.title, signal.unit, tuple(uses[:_MOST])))
    return top
