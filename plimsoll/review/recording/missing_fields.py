"""Remarks on fields that were not recorded although a signal needs them together with fields that were recorded."""

from collections.abc import Iterator, Mapping

from plimsoll.model.remark import Kind, Remark, join_names
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.rules.schema.signal import Signal

_MOST_HOSTS = 3


def remark_missing_fields(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> Iterator[Remark]:
    """Yield a remark on each field that a signal of a resource lacks beside recorded fields: `disk.free`.

    Without the field no limit on the signal is judged. Keep-lists of node_exporter often leave such fields out.
    """
    hosts: dict[str, dict[str, None]] = {}
    for name, signal in signals.items():
        for host, field in recorded.finder.missing_fields(name) if signal.resource else ():
            hosts.setdefault(field, {})[host] = None
    for field, lacking in sorted(hosts.items()):
        text = (
            f"{field} of {join_names(sorted(lacking), _MOST_HOSTS)} was not recorded, although fields that limits need "
            "beside it were: these limits are not judged; record it, too"
        )
        yield Remark(Kind.NOTED, text)
