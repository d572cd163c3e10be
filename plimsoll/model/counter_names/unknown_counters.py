"""Finds the Windows counters of a log that no shipped signal reads."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from plimsoll.model.counter_names.name_clues import known_counters
from plimsoll.model.perfmon import TOTAL, CounterPath, generic_object, telegraf_name
from plimsoll.model.series import Series


@dataclass(frozen=True)
class UnknownCounter:
    """A counter that no signal reads, with the instances that were recorded."""

    object: str
    counter: str
    instances: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path for a signal: every instance, where there are any beside a total."""
        return str(CounterPath(None, self.object, self._instance, self.counter))

    @property
    def each(self) -> bool:
        """Whether its instances are judged one by one."""
        return self._instance == "*"

    @property
    def _instance(self) -> str | None:
        if not self.instances:
            return None
        return self.instances[0] if self.instances == (TOTAL,) else "*"


def unknown_counters(series: Iterable[Series]) -> list[UnknownCounter]:
    """The Windows counters among some series that no shipped signal reads, by object, as they were recorded."""
    found: dict[tuple[str, str], tuple[str, str, dict[str, None]]] = {}
    for one in series:
        if not one.path.startswith("\\"):
            continue
        path = CounterPath.parse(f"\\\\{one.host}{one.path}")
        object_ = generic_object(path.object)[0]
        # A path keeps the recorded language; the series has the English names.
        if one.field.casefold() in _known_fields(one.tag("objectname") or path.object):
            continue
        place = found.setdefault((object_.casefold(), path.counter.casefold()), (object_, path.counter, {}))
        if path.instance is not None:
            place[2][path.instance] = None
    return [UnknownCounter(object_, counter, tuple(names)) for _, (object_, counter, names) in sorted(found.items())]


@cache
def _known_fields(object_: str) -> frozenset[str]:
    return frozenset(telegraf_name(name).casefold() for name in known_counters(object_))
