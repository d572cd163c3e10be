"""Counters as a list, a path in each line, which `typeperf -cf` and `logman create counter -cf` read."""

from model.errors import Unusable
from rules.counters import Counters


def text(counters: Counters) -> str:
    """The list. Unusable if a path holds letters beyond ASCII: what they are taken for differs from host to host."""
    lines = [str(path) for path in counters.recorded]
    for line in lines:
        if not line.isascii():
            raise Unusable(f"{line}: typeperf and logman read lists of ASCII alone; use --as logman or --as telegraf")
    return "".join(f"{line}\n" for line in lines)
