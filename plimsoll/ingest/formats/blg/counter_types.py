"""The types of counters, as counter_types.yaml lists them."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from plimsoll.ingest.formats.blg.refused import Refused
from plimsoll.model.shipped_tables import shipped_table


class CounterType(NamedTuple):
    """A type of counter. `formula` is empty if its values are no numbers; `clock` is `ticks`, `100ns` or `object`."""

    code: int
    name: str
    formula: str
    clock: str
    base: bool

    @property
    def takes_difference(self) -> bool:
        """Whether a value needs the sample before."""
        return self.formula not in ("count", "fraction", "elapsed")


def is_base(code: int) -> bool:
    """Whether it is the type of a base: of what the counter before it is divided by. Bases are not shown."""
    return code & 0xC00 == 0x400 and code & 0x70000 == 0x30000


def type_of(code: int, of: str) -> CounterType:
    """The type with this code. Refused if it is not known, naming the counter."""
    found = _types().get(code)
    if found is None:
        raise Refused(f"holds a counter of a type that is not known (0x{code:08X}): {of}")
    return found


@cache
def _types() -> Mapping[int, CounterType]:
    told = shipped_table("plimsoll.ingest.formats.blg", "counter_types.yaml", dict[int, dict[str, Any]])
    return {
        code: CounterType(code, one["name"], one.get("formula", ""), one.get("clock", ""), one.get("base", False))
        for code, one in told.items()
    }
