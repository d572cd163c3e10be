"""Memory and swap space: the plugins `mem` and `swap`."""

import sys
from collections.abc import Iterator

import psutil

from plimsoll.collect.sources.reading import Reading

# psutil's names of what Telegraf calls otherwise.
_NAMES = {"buffers": "buffered"}
_FIELDS = ("total", "available", "used", "free", "active", "inactive", "wired", "buffers", "cached", "shared", "slab")


def memory() -> Iterator[Reading]:
    """The measurement `mem`."""
    found = psutil.virtual_memory()._asdict()
    fields: dict[str, float] = {_NAMES.get(name, name): found[name] for name in _FIELDS if name in found}
    for part in ("used", "available"):
        fields[f"{part}_percent"] = 100 * fields[part] / fields["total"]
    yield Reading("mem", fields)


def swap() -> Iterator[Reading]:
    """The measurement `swap`."""
    found = psutil.swap_memory()
    used = 100 * found.used / found.total if found.total else 0.0
    fields = {"total": found.total, "used": found.used, "free": found.free, "used_percent": used}
    if sys.platform == "linux":  # that of macOS counts pages of mapped files as well
        fields |= {"in": found.sin, "out": found.sout}
    yield Reading("swap", fields)
