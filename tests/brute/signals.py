"""Which columns a signal of a host is taken from: of its sources the first that holds samples."""

import fnmatch
from dataclasses import dataclass
from typing import Any

from . import pdh
from .recording import Column

# Of a column that a source does not mean.
OTHER = "\0"


@dataclass
class Leaf:
    """A column, whose samples become `scale * x + offset`; a growing count becomes a rate."""

    column: Column
    scale: float = 1.0
    offset: float = 0.0
    rate: bool = False


@dataclass
class Derived:
    """A combination of signals: sum, difference or ratio. An operand that is None was not recorded."""

    how: str
    operands: list["Leaf | Derived"]


Signal = Leaf | Derived


class Finder:
    """Finds signals among the columns of one host."""

    def __init__(self, catalogue: dict[str, dict[str, Any]], columns: list[Column]):
        self.catalogue = catalogue
        self.columns = columns

    def find(self, name: str) -> dict[str | None, Signal]:
        """The signal by instance, or under None alone if it keeps none; empty if it was not recorded."""
        described = self.catalogue[name]
        if "derived" in described:
            ((how, operands),) = described["derived"].items()
            return self._derived(how, operands)
        recorded: dict[str | None, Signal] = {}
        for source in described["sources"]:
            found = self._from(source)
            if any(leaf.column.times for leaf in found.values()):
                return dict(found)
            recorded = recorded or dict(found)
        return recorded

    def processors(self) -> int:
        """How many processors the log itself shows; 0 if it does not say."""
        for source in self.catalogue["cpu.processor_busy"]["sources"]:
            found = self._from(source)
            if found:
                return len(found)
        return 0

    def _derived(self, how: str, names: list[str]) -> dict[str | None, Signal]:
        """Joined on the instance where operands have one; what has none is the same for every instance."""
        operands = [self.find(name) for name in names]
        if not all(operands):
            return {}
        each = [operand for operand in operands if None not in operand]
        if not each:
            return {None: Derived(how, [operand[None] for operand in operands])}
        common = [instance for instance in each[0] if all(instance in operand for operand in each)]
        return {
            instance: Derived(how, [operand.get(None, operand.get(instance)) for operand in operands])  # pyright: ignore[reportArgumentType]
            for instance in common
        }

    def _from(self, source: str | dict[str, Any]) -> dict[str | None, Leaf]:
        described: dict[str, Any] = {"path": source} if isinstance(source, str) else source
        transform = described.get("transform", {})
        scale, offset = transform.get("scale", 1.0), transform.get("offset", 0.0)
        found: dict[str | None, Leaf] = {}
        for column in self.columns:
            if (instance := _instance(column, described)) is not OTHER:
                found[instance] = Leaf(column, scale, offset, described.get("rate", False))
        return found


def _instance(column: Column, source: dict[str, Any]) -> str | None:
    """The instance a column is of as the source takes it, None if the source keeps none, OTHER if it is not of it."""
    if "path" in source:
        object_, instance, counter = pdh.split(source["path"].lstrip("\\"))
        if not named(column.object, object_) or column.counter.casefold() != counter.casefold():
            return OTHER
        if instance == "*":
            is_total = column.instance is None or column.instance.casefold().split(",")[-1] == "_total"
            return OTHER if is_total else column.instance
        return _of_sql_server(column) if (column.instance or "").casefold() == (instance or "").casefold() else OTHER
    if column.measurement != source["measurement"] or column.counter != source["field"]:
        return OTHER
    if any(column.tags.get(tag) != value for tag, value in source.get("tags", {}).items()):
        return OTHER
    return column.tags.get(source["instance"], OTHER) if "instance" in source else None


def _of_sql_server(column: Column) -> str | None:
    """The name of a named instance of SQL Server: several on a host are several subjects."""
    server, colon, _ = column.object.partition(":")
    return server.partition("$")[2] if colon and server.casefold().startswith("mssql$") else None


def named(object_: str, pattern: str) -> bool:
    """Whether an object of Perfmon is the one of a pattern; SQL Server's are those of every instance of it."""
    own = object_.casefold()
    if own.startswith("mssql$"):
        own = "sqlserver:" + own.partition(":")[2]
    return fnmatch.fnmatchcase(own, pattern.casefold())
