"""Perfmon counter paths, and the series Telegraf's `win_perf_counters` would make of them.

`perfmon.yaml` holds the measurement of each object and the canonical case of object and counter
names: recorders differ in case (Export-Counter writes whole paths in lower case), series must not.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from model.series import Series

TOTAL = "_Total"
SQL_DEFAULT = "SQLServer"
_SQL_NAMED = "MSSQL$"
_OTHER = "win_perf_counters"
_REPLACEMENTS = {"/sec": "_persec", "/Sec": "_persec", " ": "_", "%": "Percent", "\\": ""}
_REPLACED = re.compile("|".join(map(re.escape, _REPLACEMENTS)))


@dataclass(frozen=True, slots=True)
class CounterPath:
    r"""`\\Computer\Object(Instance)\Counter`; computer and instance are None where there are none."""

    computer: str | None
    object: str
    instance: str | None
    counter: str

    @classmethod
    def parse(cls, text: str) -> "CounterPath":
        """Take a path apart. ValueError if the text is not one.

        Instances may hold backslashes and brackets of any kind, even unbalanced ones, so the
        path is read from the right: the counter, then a bracketed instance, then the object.
        """
        rest, computer = text, None
        if rest.startswith("\\\\"):
            computer, slash, rest = rest[2:].partition("\\")
            rest = slash + rest
        if not rest.startswith("\\") or computer == "":
            raise ValueError(f'"{text}" is not a counter path')
        head, _, counter = rest[1:].rpartition("\\")
        if head.endswith(")"):
            object_, instance = _split_instance(head)
        else:
            object_, _, counter = rest[1:].partition("\\")
            instance = None
        if not object_ or not counter:
            raise ValueError(f'"{text}" is not a counter path')
        return cls(computer, object_, instance, counter)

    def __str__(self) -> str:
        computer = f"\\\\{self.computer}" if self.computer else ""
        instance = f"({self.instance})" if self.instance is not None else ""
        return f"{computer}\\{self.object}{instance}\\{self.counter}"


def _split_instance(head: str) -> tuple[str, str]:
    if head.count("(") == 1 == head.count(")"):
        object_, _, instance = head[:-1].partition("(")
        return object_, instance
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth == 0 and head[:at].count("(") == head[:at].count(")"):
            return head[:at], head[at + 1 : -1]
    object_, _, instance = head[:-1].partition("(")
    return object_, instance


def telegraf_name(name: str) -> str:
    """A counter or measurement name as `win_perf_counters` writes it; replaced left to right."""
    return _REPLACED.sub(lambda found: _REPLACEMENTS[found[0]], name)


def to_series(path: CounterPath, host: str) -> Series:
    """The series of a counter of `host`, under its canonical name."""
    names = _names(path.object, path.counter)
    instance = path.instance
    if instance is None:
        tags = (("objectname", names.object), ("source", host))
        return Series(host, names.measurement, tags, names.field, f"\\{names.object}\\{names.counter}")
    if instance[-len(TOTAL) :].casefold() == TOTAL.casefold():
        instance = instance[: -len(TOTAL)] + TOTAL
    tags = (("instance", instance), ("objectname", names.object), ("source", host))
    return Series(host, names.measurement, tags, names.field, f"\\{names.object}({instance})\\{names.counter}")


def measurement(object_: str) -> str:
    """The measurement of an object, given in its canonical case."""
    known = _objects().get(generic_object(object_)[0].casefold())
    return known.measurement if known else _OTHER


def generic_object(object_: str) -> tuple[str, str | None]:
    """An SQL Server object as the default instance names it, and the named instance it is of.

    `MSSQL$PAYROLL:Buffer Manager` gives `SQLServer:Buffer Manager` and `PAYROLL`; any other
    object gives itself and None.
    """
    if object_[: len(_SQL_NAMED)].casefold() == _SQL_NAMED.casefold() and ":" in object_:
        instance, _, rest = object_[len(_SQL_NAMED) :].partition(":")
        return f"{SQL_DEFAULT}:{rest}", instance
    return object_, None


@dataclass(frozen=True)
class _Object:
    name: str
    measurement: str
    counters: dict[str, str]


@cache
def _objects() -> dict[str, _Object]:
    table = yaml.load(files("model").joinpath("perfmon.yaml").read_bytes(), yaml.CSafeLoader)
    return {
        name.casefold(): _Object(name, entry["measurement"], {c.casefold(): c for c in entry["counters"]})
        for name, entry in table["objects"].items()
    }


class _Names(NamedTuple):
    object: str
    counter: str
    measurement: str
    field: str


@lru_cache(maxsize=65536)
def _names(object_: str, counter: str) -> _Names:
    """Object and counter in their canonical case (unknown names stay as they are), and what Telegraf makes of them."""
    generic, instance = generic_object(object_)
    known = _objects().get(generic.casefold())
    if known is None:
        return _Names(object_, counter, _OTHER, telegraf_name(counter))
    counter = known.counters.get(counter.casefold(), counter)
    name = known.name if instance is None else f"{_SQL_NAMED}{instance}:{known.name.partition(':')[2]}"
    return _Names(name, counter, known.measurement, telegraf_name(counter))
