"""A series: one quantity of one host over time, named as Telegraf would have named it."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

# The host of counters whose log does not name their computer.
UNNAMED = "unknown"
# Recorders differ in case here; objects and counters have theirs from a table.
_FOLDED = ("source", "instance")


@dataclass(frozen=True, slots=True)
class Series:
    r"""The identity of a series.

    `tags` are sorted by key and hold everything but the host. `path` is the Perfmon counter path
    people recognise, without its computer (`\Processor(_Total)\% Processor Time`); it is kept
    beside the identity and is not part of it. Hosts and
    instances compare without regard to case.
    """

    host: str
    measurement: str
    tags: tuple[tuple[str, str], ...]
    field: str
    path: str = dataclasses.field(compare=False, default="")

    @property
    def key(self) -> tuple[str, str, tuple[tuple[str, str], ...], str]:
        """What makes two series the same one."""
        tags = tuple((name, value.casefold() if name in _FOLDED else value) for name, value in self.tags)
        return (self.host.casefold(), self.measurement, tags, self.field)

    def tag(self, name: str) -> str | None:
        """The value of a tag, or None where the series does not have it."""
        for key, value in self.tags:
            if key == name:
                return value
        return None


def hosts_of(series: Iterable[Series]) -> tuple[str, ...]:
    """Their hosts in the order they appear, each written as first seen."""
    first: dict[str, str] = {}
    for one in series:
        first.setdefault(one.host.casefold(), one.host)
    return tuple(first.values())
