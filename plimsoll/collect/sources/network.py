"""Network adapters: the plugin `net`."""

import sys
from collections.abc import Iterator

import psutil

from plimsoll.collect.sources.reading import SYS, Reading, text_of

_NAMES = {
    "bytes_sent": "bytes_sent",
    "bytes_recv": "bytes_recv",
    "packets_sent": "packets_sent",
    "packets_recv": "packets_recv",
    "errin": "err_in",
    "errout": "err_out",
    "dropin": "drop_in",
    "dropout": "drop_out",
}
_UNKNOWN = -1.0


def adapters() -> Iterator[Reading]:
    """The measurement `net`, for each adapter that is up, except the loopback."""
    stats = psutil.net_if_stats()
    # nowrap: psutil would add up counts over a restart of the count, which rates must see.
    for name, counts in psutil.net_io_counters(pernic=True, nowrap=False).items():
        if name not in stats:
            continue
        flags = stats[name].flags.split(",")
        if "up" in flags and "loopback" not in flags:
            fields: dict[str, float] = {_NAMES[key]: value for key, value in counts._asdict().items()}
            yield Reading("net", {**fields, "speed": _speed(name, stats[name].speed)}, (("interface", name),))


def _speed(name: str, known: int) -> float:
    """The speed of the link in Mbit/s, -1 if it is not known."""
    if sys.platform != "linux":
        return known or _UNKNOWN
    try:
        return float(text_of(SYS / "class" / "net" / name / "speed") or _UNKNOWN)
    except ValueError:
        return _UNKNOWN
