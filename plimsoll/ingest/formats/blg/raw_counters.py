"""Reads blocks of counters as PDH stores them: two raw values for each counter or instance."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg.container import Entry
from plimsoll.ingest.formats.blg.cooking import (
    ByteRange,
    CounterColumn,
    CounterType,
    Counts,
    Flags,
    RawCounter,
    Room,
    cook_values,
    find_counter_type,
    is_base,
)
from plimsoll.ingest.formats.blg.structures import BlgError, Structure, read_text_at

Places = NDArray[np.int64]


class InstanceNumbers:
    """The instances in all samples of a counter, numbered in order of first appearance."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._numbers: dict[str, int] = {}
        self._latest: tuple[Hashable, Places] | None = None
        self._samples: list[Places] = []
        self._rows: list[int] = []
        self.names: list[str | None] = []

    def add(self, row: int, names: Sequence[str | None], sign: Hashable) -> None:
        """Add the instances of the sample at a file row; `names` is not used if the last sample had the same `sign`."""
        if self._latest is None or self._latest[0] != sign:
            numbers: list[int] = []
            for name in self._number_instances(names):
                number = self._numbers.setdefault((name or "").casefold(), len(self.names))
                if number == len(self.names):
                    self.names.append(name)
                numbers.append(number)
            self._latest = sign, np.array(numbers, dtype=np.int64)
        self._rows.append(row)
        self._samples.append(self._latest[1])

    def sign_is(self, sign: Hashable) -> bool:
        """Return whether the last sample had this `sign`, a key of its list of instance names."""
        return self._latest is not None and self._latest[0] == sign

    def present(self, order: Places) -> NDArray[np.bool_]:
        """Return which samples (columns) have which instances (rows); `order` is the time rank of each file row."""
        array = np.zeros((len(self.names), len(order)), dtype=bool)
        array.reshape(-1)[self.places(order)] = True
        return array

    def places(self, order: Places) -> Places:
        """Return the flat index, in the array of `present`, of each instance of each sample, in file order."""
        if not self._samples:
            return np.zeros(0, dtype=np.int64)
        counts = [len(sample) for sample in self._samples]
        rows = np.repeat(order[np.array(self._rows, dtype=np.int64)], counts)
        return np.concatenate(self._samples) * len(order) + rows

    def _number_instances(self, names: Sequence[str | None]) -> list[str | None]:
        """Return the instance names, with `#1`, `#2` and so on appended to the second and later of equal names."""
        counts: Counter[str] = Counter()
        labels: list[str | None] = []
        for name in names:
            key = (name or "").casefold()
            labels.append(f"{name or ''}#{counts[key]}" if counts[key] else name)
            counts[key] += 1
        if len({(label or "").casefold() for label in labels}) < len(labels):
            raise BlgError(f"has two instances of one name: {self._of}")
        return labels


KIND_OF_ONE, KIND_OF_ARRAY = 0x0103, 0x0203
MARK = 0x4C42  # "BL"
_COUNTER, _ARRAY, _ITEM = Structure("raw_counter"), Structure("raw_array"), Structure("raw_item")
_HEAD = 8  # of a block
_VALID = (0, 1)  # PDH_CSTATUS_VALID_DATA and PDH_CSTATUS_NEW_DATA
_NONE = np.zeros((1, 1), dtype=np.int64)


class _Values(NamedTuple):
    """The raw values of a counter: a row for each instance, a column for each sample.

    `several` is the number of the counter's components, such as the disks of an array.
    """

    first: Counts
    second: Counts
    several: Counts
    present: Flags


class SingleCounters:
    """Reads the blocks of consecutive single counters, which each sample contains."""

    def __init__(self, counts: Sequence[Entry]) -> None:
        self._entries = counts
        self._types = [_find_type(entry) for entry in counts]
        self._taken: list[bytes] = []
        self._rows: list[int] = []

    @property
    def size(self) -> int:
        """The size (bytes) of the blocks in one sample."""
        return len(self._entries) * _COUNTER.size

    @property
    def skipped(self) -> list[str]:
        """The paths of the counters whose values are not numbers."""
        return [entry.path for entry, type_ in zip(self._entries, self._types, strict=True) if _is_text(type_)]

    def take(self, row: int, block: ByteRange) -> None:
        """Keep the blocks of the sample at a file row; `block` has the bytes of all of them."""
        self._taken.append(block.data[block.start : block.end])
        self._rows.append(row)

    def utc(self, rows: int) -> Iterator[Counts]:
        """Yield the recorded UTC clocks (FILETIME, 0: none), each as an array of all samples in file order.

        There is one clock for each counter whose formula divides by the UTC clock.
        """
        table = self._build_table(np.arange(rows))
        for at, type_ in enumerate(self._types):
            if type_ and type_.clock == "100ns":
                yield np.where(_is_valid(table[at]), table[at]["second"], 0)

    def columns(self, order: NDArray[np.int64], room: Room) -> Iterator[CounterColumn]:
        """Yield the values of each counter; `order` is the time rank of each file row."""
        room.take(len(self._entries) * len(order), self._entries[0].path)
        table = self._build_table(order)
        for at, (entry, type_) in enumerate(zip(self._entries, self._types, strict=True)):
            if type_ is None or not type_.formula:
                continue
            row = table[at : at + 1]
            flags = _is_valid(row)
            values = _cook_values(
                type_, entry, _Values(row["first"], row["second"], row["multi"].astype(np.int64), flags)
            )
            yield CounterColumn(entry.host, entry.object, entry.instance, entry.counter, type_, values[0], flags[0])

    def _build_table(self, order: NDArray[np.int64]) -> NDArray[np.void]:
        """Return the block of each counter (row) in each sample (column).

        Raise BlgError if a block is not that of a single counter.
        """
        blocks = np.frombuffer(b"".join(self._taken), dtype=_COUNTER.dtype).reshape(len(self._rows), len(self._entries))
        is_one = (blocks["mark"] == MARK) & (blocks["kind"] == KIND_OF_ONE) & (blocks["size"] == _COUNTER.size)
        if not is_one.all():
            at = int(np.argwhere(~is_one)[0][1])
            raise BlgError(f"holds another block than its list of counters says: {self._entries[at].path}")
        values = np.zeros((len(self._entries), len(order)), dtype=_COUNTER.dtype)
        values["status"] = 0xFFFFFFFF
        values[:, order[np.array(self._rows, dtype=np.int64)]] = blocks.T
        return values


class CounterOfInstances:
    """Reads the blocks with one counter of all instances of an object; each sample has one such block."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._type = _find_type(entry)
        if self._type and self._type.formula.endswith("of_several"):
            raise BlgError(f"holds a counter of several components of all instances, which is not read: {entry.path}")
        self._instances = InstanceNumbers(entry.path)
        self._items: list[bytes] = []

    @property
    def skipped(self) -> list[str]:
        """The path of the counter, in a list, if its values are not numbers."""
        return [self._entry.path] if _is_text(self._type) else []

    def take(self, row: int, block: ByteRange) -> None:
        """Keep the block of the sample at a file row. Raise BlgError if it is damaged, or of an unknown form."""
        data, at, end = block
        size, count, *unknown = _ARRAY.read(data, at, end)
        if size != end - at - _HEAD or any(unknown):
            raise BlgError(f"holds an array of counters in a form that is not known: {self._entry.path}")
        if count > (end - at - _ARRAY.size) // _ITEM.size:
            raise BlgError(f"is damaged: an array holds more counters than fit into it ({self._entry.path})")
        start = at + _ARRAY.size
        array = data[start : start + count * _ITEM.size]
        items = np.frombuffer(array, dtype=_ITEM.dtype)
        if items["unknown"].any():
            raise BlgError(f"holds an array of counters in a form that is not known: {self._entry.path}")
        sign = (items["name"].tobytes(), data[start + len(array) : end])
        places = [] if self._instances.sign_is(sign) else items["name"].tolist()
        self._instances.add(row, [read_text_at(data, at + _HEAD + place, end) for place in places], sign)
        self._items.append(array)

    def utc(self, rows: int) -> Iterator[Counts]:
        """Yield one array of the recorded UTC clock (FILETIME, 0: none) by sample, if the formula divides by it."""
        if self._type and self._type.clock == "100ns" and self._instances.names:
            values = self._read_values(np.arange(rows))
            yield values.second.max(axis=0)

    def columns(self, order: NDArray[np.int64], room: Room) -> Iterator[CounterColumn]:
        """Yield the values of each instance; `order` is the time rank of each file row."""
        if self._type is None or not self._type.formula:
            return
        room.take(len(self._instances.names) * len(order), self._entry.path)
        entry, recorded = self._entry, self._read_values(order)
        values = _cook_values(self._type, entry, recorded)
        for instance, row, present in zip(self._instances.names, values, recorded.present, strict=True):
            yield CounterColumn(entry.host, entry.object, instance, entry.counter, self._type, row, present)

    def _read_values(self, order: NDArray[np.int64]) -> _Values:
        values, places = self._instances.present(order), self._instances.places(order)
        items = np.frombuffer(b"".join(self._items), dtype=_ITEM.dtype)
        first, second = np.zeros(values.shape, dtype=np.int64), np.zeros(values.shape, dtype=np.int64)
        first.reshape(-1)[places], second.reshape(-1)[places] = items["first"], items["second"]
        return _Values(first, second, _NONE, values)


def _cook_values(type_: CounterType, entry: Entry, values: _Values) -> NDArray[np.float64]:
    """Return a counter's values. Each second raw value is the clock, or the base if the counter type has no clock."""
    frequency = np.full((1, values.first.shape[1]), entry.timebase, dtype=np.int64)
    nothing = np.zeros_like(frequency)
    clock = values.second if type_.clock else nothing
    base = nothing
    if type_.base:
        base = values.several if type_.clock else values.second
    return cook_values(type_, RawCounter(values.first, base, clock, frequency, values.present))


def _find_type(entry: Entry) -> CounterType | None:
    """Return the counter type of an entry; None if the entry is a base, which is not a counter by itself."""
    return None if is_base(entry.type) else find_counter_type(entry.type, entry.path)


def _is_text(type_: CounterType | None) -> bool:
    return type_ is not None and not type_.formula


def _is_valid(blocks: NDArray[np.void]) -> Flags:
    return np.isin(blocks["status"], _VALID)
