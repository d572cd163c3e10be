"""Writes counters as a list with one path per line, for `typeperf -cf` and `logman create counter -cf`."""

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.rules.collectors.counters import Counters


def text(counters: Counters) -> str:
    """The list. Unusable if a path is not ASCII: each host would decode it differently."""
    lines = [str(path) for path in counters.recorded]
    for line in lines:
        if not line.isascii():
            raise Unusable(
                f"{line}: typeperf and logman read lists of ASCII alone; "
                f"use {Parameter.AS} logman or {Parameter.AS} telegraf"
            )
    return "".join(f"{line}\n" for line in lines)
