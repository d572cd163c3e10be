"""The counters that tell how well a resource of a host is, for advice on what to record."""

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import yaml

from plimsoll.review.findings import Applied

_LINUX = "linux"


def needed(resource: str, host: str, applied: Iterable[Applied]) -> str:
    """The counters to record for a resource: `cpu`, `memory`, `disk`, `space` or `network`.

    `cpu of guests` is that of a host of virtual machines.
    """
    return _COUNTERS[_LINUX if is_linux(host, applied) else "windows"][resource]


def is_linux(host: str, applied: Iterable[Applied]) -> bool:
    """Whether the host was judged as one of Linux."""
    return any(one.pack.pack == _LINUX and host in one.hosts for one in applied)


def _load() -> dict[str, dict[str, Any]]:
    return yaml.safe_load((files("plimsoll.review") / "needed.yaml").read_text(encoding="utf-8"))


_COUNTERS = _load()
