"""A series: one quantity of one host over time, with the names that Telegraf gives."""

import dataclasses
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import NewType

from plimsoll.model.lazy_dataclass import dataclass

HostKey = NewType("HostKey", str)
# The host of a log that does not name its computer.
UNNAMED = "unknown"
# Measurements of a load driver, which is not a host with processors, memory and disks.
LOAD_DRIVER = ("load_driver", "load_driver_operation", "load_driver_failure")
# Tags whose case differs between recorders, and has no canonical form as those of objects and counters have.
_FOLDED = ("source", "instance")


@dataclass(frozen=True)
class Series:
    r"""The identity of a series.

    `tags` are sorted by key and do not include the host. `path` is the Perfmon counter path for display, without the
    computer (`\Processor(_Total)\% Processor Time`); it is not part of the identity. Hosts and instances are compared
    without regard to case.
    """

    host: str
    measurement: str
    tags: tuple[tuple[str, str], ...]
    field: str
    path: str = dataclasses.field(compare=False, default="")

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        # Without cached hashes, which differ between processes.
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @cached_property
    def _hash(self) -> int:
        return hash((self.host, self.measurement, self.tags, self.field))

    @cached_property
    def key(self) -> tuple[str, str, tuple[tuple[str, str], ...], str]:
        """The identity of the series: series with equal keys are the same series."""
        tags = tuple((name, value.casefold() if name in _FOLDED else value) for name, value in self.tags)
        return (make_host_key(self.host), self.measurement, tags, self.field)

    def tag(self, name: str) -> str | None:
        """Return the value of a tag, or None if the series does not have it."""
        for key, value in self.tags:
            if key == name:
                return value
        return None


def list_hosts(series: Iterable[Series]) -> tuple[str, ...]:
    """Return the hosts of series in order of appearance, each spelled as it first appears."""
    first: dict[str, str] = {}
    for member in series:
        first.setdefault(make_host_key(member.host), member.host)
    return tuple(first.values())


@lru_cache(maxsize=4096)
def make_host_key(name: str) -> HostKey:
    """Return the key of a host, from its name in any case."""
    return HostKey(name.casefold())
