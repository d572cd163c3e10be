"""Which columns a signal of a host is taken from: for each instance the first of its sources that holds samples."""

import fnmatch
import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .recording import Column, split


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
class Derived:
    """A combination of signals: sum, difference, ratio, or the product of a sum and the last.

    A total is of a host's instances, of which those without data are left out.
    """

    operation: str
    operands: list["Signal"]
    weights: list[float] = field(default_factory=list)


@dataclass(eq=False)
class PerRequest:
    """The time that each request takes, and how many there are in a second, if that was recorded.

    Below `minimum_rate` a second there are too few to tell.
    """

    time: Leaf
    rate: Leaf | None
    minimum_rate: float

    @cached_property
    def is_together(self) -> bool:
        """Whether the two were ever recorded at the same time."""
        assert self.rate is not None
        return not set(self.time.column.times).isdisjoint(self.rate.column.times)


Signal = Leaf | Derived | PerRequest
Instances = dict[str | None, Signal]


class Finder:
    """Finds signals among the columns of one host; instances of another case are the same."""

    def __init__(self, catalogue: dict[str, dict[str, Any]], columns: list[Column]):
        self.catalogue = catalogue
        self.columns = columns
        self._cache: dict[str, Instances] = {}

    def find(self, name: str) -> Instances:
        """Return the signal by instance, or under None alone if it keeps none; empty if it was not recorded."""
        if name not in self._cache:
            self._cache[name] = self._find(name)
        return self._cache[name]

    @cached_property
    def processors(self) -> int:
        """How many processors the log itself shows, by the object that has most; 0 if it does not say.

        The file server has a queue for each processor; a single one may have been chosen among many.
        """
        counts = [len(self._from(source)) for source in self.catalogue["cpu.processor_busy"]["sources"]]
        queues = [name for name in self._from(r"\Server Work Queues(*)\Queue Length") if (name or "").isdecimal()]
        return max(*counts, len(queues) if len(queues) > 1 else 0)

    def _find(self, name: str) -> Instances:
        described = self.catalogue[name]
        if "fact" in described:
            return {}
        if "derived" in described:
            return self._derived(**described["derived"])
        recorded = self._recorded(described)
        if weight := described.get("weight"):
            return {name: self._per_request(name, time, weight) for name, time in recorded.items()}
        if described.get("instances") == "sum" and recorded:
            return {None: Derived("total", list(recorded.values()))}
        return recorded

    def _per_request(self, name: str | None, time: Signal, weight: dict[str, Any]) -> PerRequest:
        assert isinstance(time, Leaf)
        rates = {(other or "").casefold(): rate for other, rate in self.find(weight["rate"]).items()}
        rate = rates.get((name or "").casefold())
        assert rate is None or isinstance(rate, Leaf)
        return PerRequest(time, rate if rate and _has_samples(rate) else None, weight.get("least", 0.0))

    def _recorded(self, described: dict[str, Any]) -> Instances:
        recorded: Instances = {}
        full: set[str | None] = set()
        for source in described["sources"]:
            details = source if isinstance(source, dict) else {}
            result = self._from(source)
            if "across" in details:
                result = self._across(result, details)
            elif details.get("fallback") and described.get("instances") == "each" and None in result:
                result = {} if full else {"_Total": result[None]}
            names = {(name or "").casefold(): name for name in recorded}
            for name, signal in result.items():
                key = (name or "").casefold()
                if key not in names or (names[key] not in full and _has_samples(signal)):
                    recorded.pop(names.get(key, name), None)
                    recorded[name] = signal
                    full |= {name} if _has_samples(signal) else set()
        return recorded

    def _across(self, instances: Instances, details: dict[str, Any]) -> Instances:
        sign = details.get("part_after")
        wholes: dict[str | None, list[Signal]] = {}
        for name, signal in instances.items():
            if _has_samples(signal):
                wholes.setdefault(str(name).split(sign)[0] if sign else None, []).append(signal)
        return {whole: Derived(details["across"], parts) for whole, parts in wholes.items()}

    def _derived(
        self, weights: Any = None, *, partial: bool = False, times: str | None = None, **operation: list[str]
    ) -> Instances:
        """Join operands on the instance where they have one; what has none is the same for every instance."""
        ((result, names),) = operation.items()
        if times:
            result, names = "product", [*names, times]
        operands = [self.find(name) for name in names]
        if partial:  # of whatever operands there are
            recorded = dict.fromkeys(name for operand in operands for name in operand)
            return {name: Derived("total", [other[name] for other in operands if name in other]) for name in recorded}
        if not all(operands):
            return {}
        several = [operand for operand in operands if None not in operand]
        common = [name for name in several[0] if all(name in other for other in several)] if several else [None]
        factors = [float((weights or {}).get(name, {}).get("unknown", 1)) for name in names]  # by facts nobody told
        return {
            name: Derived(result, [operand[name if name in operand else None] for operand in operands], factors)
            for name in common
        }

    def _from(self, source: str | dict[str, Any]) -> Instances:
        described: dict[str, Any] = {"path": source} if isinstance(source, str) else source
        if "path" not in described or "per" in described:
            return {}
        transform = described.get("transform", {})
        scale, offset = transform.get("scale", 1.0), transform.get("offset", 0.0)
        rate = described.get("rate", False)
        columns = ((_instance(column, described), column) for column in self.columns)
        most = transform.get("most", math.inf)
        return {name: Leaf(column, scale, offset, rate, most) for name, column in columns if name != _OTHER}


def _has_samples(signal: Signal) -> bool:
    return not isinstance(signal, Leaf) or bool(signal.column.times)


_OTHER = "\0"  # of a column that a source does not mean


def _instance(column: Column, source: dict[str, Any]) -> str | None:
    """The instance a column is of as the source takes it; None if the source keeps none."""
    object_, instance, counter = split(source["path"].lstrip("\\"))
    result = re.sub(r"^mssql\$.*?:", "sqlserver:", column.object.casefold())
    if not fnmatch.fnmatchcase(result, object_.casefold()) or column.counter.casefold() != counter.casefold():
        return _OTHER
    name = (column.instance or "").casefold()
    if instance == "*":
        is_total = column.instance is None or re.fullmatch(r"(\d+,|_total/)?_total", name)
        patterns = (".*".join(map(re.escape, text.casefold().split("*"))) for text in source.get("but", ()))
        is_left_out = any(re.fullmatch(pattern, name, re.DOTALL) for pattern in patterns)
        return _OTHER if is_total or is_left_out else column.instance
    return None if name == (instance or "").casefold() else _OTHER
