"""Which columns a signal of a host is taken from: for each instance the first of its sources that holds samples."""

import fnmatch
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from . import pdh
from .recording import Column

Known = Callable[[str | None, str], float | None]

# Of a column that a source does not mean.
OTHER = "\0"


@dataclass(eq=False)
class Leaf:
    """A column, whose samples become `scale * x + offset`; a growing count becomes a rate."""

    column: Column
    scale: float = 1.0
    offset: float = 0.0
    rate: bool = False
    most: float = math.inf

    @cached_property
    def values(self) -> list[float]:
        """What its samples become."""
        return [min(self.scale * value + self.offset, self.most) for value in self.column.values]


@dataclass(eq=False)
class Made:
    """Several columns of one thing, made into one sample by sample: added up, subtracted or divided."""

    how: str
    parts: list[Leaf]
    scale: float
    offset: float


@dataclass(eq=False)
class Derived:
    """A combination of signals: sum, difference, ratio, or the product of a sum and the last. In a sum an operand may
    count more than once.

    A total is of a host's instances, of which those without data are left out.
    """

    how: str
    operands: list["Signal"]
    weights: list[float]


@dataclass(eq=False)
class Fact:
    """A fact of the host, which it has throughout."""

    value: float


@dataclass(eq=False)
class PerRequest:
    """The time that each request takes, and how many there are in a second, if that was recorded.

    Below `least` a second there are too few to tell.
    """

    time: Leaf | Made
    rate: Leaf | Made | None
    least: float

    @cached_property
    def is_together(self) -> bool:
        """Whether the two were ever recorded at the same time."""
        assert self.rate is not None
        times = [{time for leaf in leaves(one) for time in leaf.column.times} for one in (self.time, self.rate)]
        return bool(times[0] & times[1])


Signal = Leaf | Made | Derived | Fact | PerRequest


class Finder:
    """Finds signals among the columns of one host. `fact` tells what is known of an instance, or of the host."""

    def __init__(self, catalogue: dict[str, dict[str, Any]], columns: list[Column], fact: Known):
        self.catalogue = catalogue
        self.columns = columns
        self.fact = fact
        self._found: dict[str, dict[str | None, Signal]] = {}

    def find(self, name: str) -> dict[str | None, Signal]:
        """The signal by instance, or under None alone if it keeps none; empty if it was not recorded."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> dict[str | None, Signal]:
        described = self.catalogue[name]
        if "fact" in described:
            value = self.fact(None, described["fact"])
            return {} if value is None else {None: Fact(value)}
        if "derived" in described:
            return self._derived(**described["derived"])
        recorded = self._recorded(described)
        if weight := described.get("weight"):
            return {name: self._per_request(name, one, weight) for name, one in recorded.items()}
        if described.get("instances") == "sum" and recorded:
            return {None: Derived("total", list(recorded.values()), [1.0] * len(recorded))}
        return recorded

    def _per_request(self, name: str | None, time: Signal, weight: dict[str, Any]) -> PerRequest:
        assert isinstance(time, Leaf | Made)
        rates = self.find(weight["rate"])
        of_name = {(other or "").casefold(): one for other, one in rates.items()}
        rate = of_name.get((name or "").casefold())
        assert rate is None or isinstance(rate, Leaf | Made)
        known = rate is not None and all(leaf.column.times for leaf in leaves(rate))
        return PerRequest(time, rate if known else None, weight.get("least", 0.0))

    def _recorded(self, described: dict[str, Any]) -> dict[str | None, Signal]:
        recorded: dict[str | None, Signal] = {}
        full: set[str | None] = set()
        for source in described["sources"]:
            wanted = source if isinstance(source, dict) else {}
            found = self._from(source)
            if "across" in wanted:
                parts: dict[str | None, Signal] = {name: one for name, one in found.items() if _is_full(one)}
                sign = wanted.get("part_after")
                wholes = {name: str(name).split(sign)[0] if sign else None for name in parts}
                found = {
                    whole: Derived(wanted["across"], alike, [1.0] * len(alike))
                    for whole in wholes.values()
                    if (alike := [one for name, one in parts.items() if wholes[name] == whole])
                }
            elif wanted.get("fallback") and described.get("instances") == "each" and None in found:
                found = {} if full else {"_Total": found[None]}
            for name, one in found.items():
                known = next((other for other in recorded if _same(name, other, list(recorded))), OTHER)
                if known is OTHER or (known not in full and _is_full(one)):
                    recorded.pop(known, None)
                    recorded[name] = one
                    full |= {name} if _is_full(one) else set()
        return recorded

    @cached_property
    def processors(self) -> int:
        """How many processors the log itself shows, by the object that has most; 0 if it does not say.

        The file server has a queue for each processor; a single one may have been chosen among many.
        """
        counts = [len(self._from(source)) for source in self.catalogue["cpu.processor_busy"]["sources"]]
        queues = [name for name in self._from(r"\Server Work Queues(*)\Queue Length") if (name or "").isdecimal()]
        return max(*counts, len(queues) if len(queues) > 1 else 0)

    @cached_property
    def memory_mb(self) -> int:
        """How much memory the log shows, in MB; 0 if it does not say."""
        used, share = (
            [
                value
                for one in self._columns({"measurement": "mem_util", "field": field}).values()
                for value in one.values
            ]
            for field in ("kbmemused", "pct_memused")
        )
        return round(sum(used) / len(used) / (sum(share) / len(share) / 100) / 1024) if used and sum(share) > 0 else 0

    def _derived(
        self,
        weights: dict[str, Any] | None = None,
        *,
        partial: bool = False,
        times: str | None = None,
        **operation: list[str],
    ) -> dict[str | None, Signal]:
        """Joined on the instance where operands have one; what has none is the same for every instance."""
        ((how, names),) = operation.items()
        if times:
            how, names = "product", [*names, times]
        operands = [self.find(name) for name in names]
        if partial:  # of whatever operands there are
            every = {name for operand in operands for name in operand}
            there = {name: [operand[name] for operand in operands if name in operand] for name in every}
            return {name: Derived("total", parts, [1.0] * len(parts)) for name, parts in there.items()}
        if not all(operands):
            return {}
        each = [operand for operand in operands if None not in operand]
        common = [name for name in each[0] if all(name in operand for operand in each)] if each else [None]
        return {
            name: Derived(
                how,
                [operand[name if name in operand else None] for operand in operands],
                [self._weight((weights or {}).get(operand), name) for operand in names],
            )
            for name in common
        }

    def _weight(self, described: dict[str, Any] | None, instance: str | None) -> float:
        if described is None:
            return 1.0
        fact = self.fact(instance, described["by"])
        return float(described["unknown"] if fact is None else described["values"].get(int(fact), described["unknown"]))

    def _from(self, source: str | dict[str, Any]) -> dict[str | None, Leaf | Made]:
        described: dict[str, Any] = {"path": source} if isinstance(source, str) else source
        transform = described.get("transform", {})
        scale, offset = transform.get("scale", 1.0), transform.get("offset", 0.0)
        most = transform.get("most", math.inf)
        rate = described.get("rate", False)
        if "per" in described:
            fact = self.fact(None, described["per"])
            if not fact:
                return {}
            scale /= fact
        if not isinstance(described.get("field"), dict):
            return {name: Leaf(column, scale, offset, rate, most) for name, column in self._columns(described).items()}
        ((how, names),) = described["field"].items()
        several = [self._columns({**described, "field": name}) for name in names]
        whole = [instance for instance in several[0] if all(instance in columns for columns in several)]
        return {
            instance: Made(how, [Leaf(columns[instance], rate=rate) for columns in several], scale, offset)
            for instance in whole
        }

    def _columns(self, source: dict[str, Any]) -> dict[str | None, Column]:
        found: dict[str | None, Column] = {}
        for column in self.columns:
            if (instance := _instance(column, source)) is not OTHER:
                found[instance] = column
        return found


def leaves(signal: Leaf | Made) -> list[Leaf]:
    """The columns it is taken from."""
    return [signal] if isinstance(signal, Leaf) else signal.parts


def _is_full(signal: Signal) -> bool:
    return not isinstance(signal, Leaf | Made) or all(leaf.column.times for leaf in leaves(signal))


def _same(name: str | None, other: str | None, every: list[str | None]) -> bool:
    """Whether two objects mean the same instance: a volume is on the disk that has its letter."""
    if name is None or other is None or name.casefold() == other.casefold():
        return (name or "").casefold() == (other or "").casefold()
    if re.fullmatch(r"\d+(,\d+)?", name):
        return same_processor(name, [one for one in every if one is not None]) == other
    disk = re.fullmatch(r"\d+(( [a-z]:)*)", other.casefold())
    if disk and name.casefold() in disk[1].split():
        return True
    if disk and re.fullmatch(r"harddiskvolume\d+", name.casefold()):
        return True
    own = re.fullmatch(r"\d+ ([a-z]:)", name.casefold())
    return own is not None and own[1] == other.casefold()


def same_disk(name: str, other: str) -> bool:
    """Whether a disk or volume is another, or lies on it."""
    return _same(name, other, [other])


def stands_for(name: str, others: list[str]) -> bool:
    """Whether an instance is among others, as written by any object."""
    return any(_same(name, other, list(others)) and not name.casefold().startswith("hard") for other in others)


def _instance(column: Column, source: dict[str, Any]) -> str | None:
    """The instance a column is of as the source takes it, None if the source keeps none, OTHER if it is not of it."""
    if "path" in source:
        object_, instance, counter = pdh.split(source["path"].lstrip("\\"))
        if not named(column.object, object_) or column.counter.casefold() != counter.casefold():
            return OTHER
        if instance == "*":
            is_total = column.instance is None or re.fullmatch(r"(\d+,|_total/)?_total", column.instance.casefold())
            if is_total or _left_out(column.instance or "", source):
                return OTHER
            server = _of_sql_server(column)
            return f"{server}/{column.instance}" if server else column.instance
        return _of_sql_server(column) if (column.instance or "").casefold() == (instance or "").casefold() else OTHER
    if column.measurement != source["measurement"] or column.counter != source["field"]:
        return OTHER
    if any(column.tags.get(tag) != value for tag, value in source.get("tags", {}).items()):
        return OTHER
    instance = column.tags.get(source["instance"], OTHER) if "instance" in source else None
    return OTHER if isinstance(instance, str) and _left_out(instance, source) else instance


def _left_out(instance: str, source: dict[str, Any]) -> bool:
    """Whether a source names the instance as none of its own; `*` is any text, and case does not count."""
    patterns = (".*".join(map(re.escape, name.split("*"))) for name in source.get("but", ()))
    return any(re.fullmatch(pattern, instance, re.IGNORECASE | re.DOTALL) for pattern in patterns)


def _of_sql_server(column: Column) -> str | None:
    """The name of a named instance of SQL Server: several on a host are several subjects."""
    server, colon, _ = column.object.partition(":")
    return server.partition("$")[2] if colon and server.casefold().startswith("mssql$") else None


def same_processor(instance: str, others: list[str]) -> str | None:
    """The processor among others that is written the other way: `5`, or `1,1` where nodes have four processors."""
    if instance.isdecimal():
        numbers = _through_all_nodes(others)
        return next((name for name, number in numbers.items() if number == int(instance)), None)
    number = _through_all_nodes([instance]).get(instance)
    return str(number) if str(number) in others else None


def _through_all_nodes(names: list[str]) -> dict[str, int]:
    """Processors written `node,processor`, counted through all nodes; only where all nodes before are there."""
    written = {name: tuple(map(int, name.split(","))) for name in names if re.fullmatch(r"\d+,\d+", name)}
    sizes: dict[int, int] = {}
    for node, processor in written.values():
        sizes[node] = max(sizes.get(node, 0), processor + 1)
    return {
        name: sum(sizes[before] for before in range(node)) + processor
        for name, (node, processor) in written.items()
        if all(before in sizes for before in range(node))
    }


@cache
def named(object_: str, pattern: str) -> bool:
    """Whether an object of Perfmon is the one of a pattern; SQL Server's are those of every instance of it."""
    own = object_.casefold()
    if own.startswith("mssql$"):
        own = "sqlserver:" + own.partition(":")[2]
    return fnmatch.fnmatchcase(own, pattern.casefold())
