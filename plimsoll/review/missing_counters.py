"""The counters that tell how well a resource of a host is, for advice on what to record."""

from collections.abc import Iterable, Sequence
from functools import cache

from plimsoll.model.series import HostKey
from plimsoll.model.shipped_tables import shipped_table
from plimsoll.review.findings import Applied, Finding

_LINUX = "linux"
_OF_GUESTS = ("hyper_v.virtual_processor_busy", "hyper_v.memory_pressure", "hyper_v.critical_guests")


def needed(resource: str, host: str, applied: Iterable[Applied]) -> str:
    """Return the counters to record for a resource: `cpu`, `memory`, `disk`, `space` or `network`.

    `cpu of guests` is that of a host of virtual machines.
    """
    return _counters()[_LINUX if is_linux(host, applied) else "windows"][resource]


def is_linux(host: str, applied: Iterable[Applied]) -> bool:
    """Return whether the host was judged as one of Linux."""
    return any(applied.pack.pack == _LINUX and host in applied.hosts for applied in applied)


def hosts_with_guests(findings: Sequence[Finding]) -> set[HostKey]:
    """The hosts on which counters of guests were recorded: their object Processor is the root partition alone."""
    of_guests = (finding for finding in findings if finding.rule.signal in _OF_GUESTS and finding.track is not None)
    return {of_guest.subject.key[0] for of_guest in of_guests if of_guest.subject}


@cache
def _counters() -> dict[str, dict[str, str]]:
    return shipped_table("plimsoll.review", "missing_counters.yaml", dict[str, dict[str, str]])
