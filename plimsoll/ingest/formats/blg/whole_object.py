"""Reads blocks with all counters of an object, as its provider returned them: PERF_DATA_BLOCK of winperf.h."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg.container import Entry, Names
from plimsoll.ingest.formats.blg.cooking import (
    ByteRange,
    CounterColumn,
    CounterType,
    Counts,
    RawCounter,
    Room,
    cook_values,
    find_counter_type,
    is_base,
)
from plimsoll.ingest.formats.blg.raw_counters import InstanceNumbers
from plimsoll.ingest.formats.blg.structures import BlgError, Structure, decode_utf16
from plimsoll.model.log import Values
from plimsoll.model.series import make_host_key

KIND = 0x0503
_DATA, _OBJECT, _COUNTER = Structure("perf_data"), Structure("perf_object"), Structure("perf_counter")
_INSTANCE, _VALUES = Structure("perf_instance"), Structure("perf_values")
_PERF = int.from_bytes("PERF".encode("utf-16-le"), "little")
_NO_INSTANCES = -1
_NO_ID = -1
_SIZES = {4: "<u4", 8: "<i8"}
_CLOCKS = {"ticks": 0, "100ns": 1, "object": 2, "": 0}


class _Counter(NamedTuple):
    """A counter of an object; `value` and `base` are the (offset, size) of its value and base in an instance's data."""

    name: str
    type: CounterType
    value: tuple[int, int]
    base: tuple[int, int] | None


class _Definition(NamedTuple):
    """The counters of an object: the numeric `counters`, and the names of the `skipped` counters.

    The numeric counters are in the first `bytes` bytes of an instance's data.
    """

    counters: tuple[_Counter, ...]
    bytes: int
    skipped: tuple[str, ...]


class _Layout(NamedTuple):
    """The instances of an object in a sample: raw names, numbers, and parents as (object number, instance index)."""

    names: list[bytes]
    ids: list[int]
    parents: list[tuple[int, int]]


class WholeObject:
    """Reads the blocks with all counters of one object; each sample has one such block."""

    def __init__(self, entry: Entry, names: Names) -> None:
        self._entry = entry
        self._host = make_host_key(entry.host)
        self._names = names
        self._texts: dict[bytes, str] = {}
        self._instances = InstanceNumbers(entry.path)
        self._definitions: dict[tuple[int, bytes], _Definition] = {}
        self._object = 0
        # Values of each sample with the same definition are in one piece: (definition, rows, bytes).
        self._parts: list[tuple[_Definition, list[bytes], list[int]]] = []
        self._times: list[tuple[int, tuple[int, ...]]] = []
        self._layout: _Layout | None = None

    @property
    def skipped(self) -> list[str]:
        """The names of the counters whose values are not numbers."""
        return sorted({name for definition in self._definitions.values() for name in definition.skipped})

    def take(self, row: int, block: ByteRange) -> None:
        """Keep the block of the sample at a file row. Raise BlgError if it is damaged, or of another object."""
        data, at, end = block
        signature, little, version, total, header, objects, ticks, per_s, time_100ns = _DATA.read(data, at, end)
        if (signature, little, version) != (_PERF, 1, 1):
            raise BlgError(f"holds no PERF_DATA_BLOCK of version 1 where one should be: {self._entry.path}")
        if objects != 1:
            raise BlgError(f"holds {objects} objects in one block: {self._entry.path}")
        if not _DATA.size <= header <= total <= end - at:
            raise self._explain_damage()
        end, at = at + total, at + header
        total, definitions, header, name, counters, instances, time, time_per_s = _OBJECT.read(data, at, end)
        if not _OBJECT.size <= header <= definitions <= total <= end - at:
            raise self._explain_damage()
        if self._object not in (0, name):
            raise BlgError(f"changes from one object to another: {self._entry.path}")
        self._object = name
        definition = self._parse_definition(data[at + header : at + definitions], counters)
        values = self._read_values(data, at + definitions, at + total, instances, definition.bytes)
        self._times.append((row, (ticks, time_100ns, time, per_s, time_per_s)))
        if not self._parts or self._parts[-1][0] != definition:
            self._parts.append((definition, [], []))
        self._parts[-1][1].append(values)
        self._parts[-1][2].append(row)

    @property
    def key(self) -> tuple[str, int]:
        """The key of the object: its host and its number."""
        return self._host, self._object

    def settle(self, row: int, objects: Mapping[tuple[str, int], "WholeObject"]) -> None:
        """Add the sample's instances, named `PARENT/INSTANCE` if they have a parent.

        `objects` are all objects of the sample, by key. Raise BlgError if a parent is not in the log.
        """
        layout = self._layout
        if layout is None:
            self._instances.add(row, [None], None)
        elif not any(parent for parent, _ in layout.parents):
            sign = (tuple(layout.names), tuple(layout.ids) if b"" in layout.names else None)
            self._instances.add(row, [] if self._instances.sign_is(sign) else self._name_instances(layout), sign)
        else:
            parents: dict[int, list[str]] = {}
            for number in {number for number, _ in layout.parents}:
                parent = objects.get((self._host, number))
                parents[number] = self._name_instances(parent._layout) if parent and parent._layout else []
            if any(number and place >= len(parents[number]) for number, place in layout.parents):
                raise BlgError(
                    f"has instances of which the parents are not in the log, so that their names are not known: "
                    f"{self._entry.path}; record the parents' object, too"
                )
            names = [
                f"{parents[number][place]}/{name}" if number else name
                for name, (number, place) in zip(self._name_instances(layout), layout.parents, strict=True)
            ]
            self._instances.add(row, names, tuple(names))

    def utc(self, rows: int) -> Iterator[Counts]:
        """Yield one array: the recorded computer's UTC clock (FILETIME) at each sample."""
        yield self._read_clocks(rows)[1]

    def columns(self, order: NDArray[np.int64], room: Room) -> Iterator[CounterColumn]:
        """Yield the values of each counter and instance; `order` is the time rank of each file row."""
        shape = len(self._instances.names), len(order)
        types = {counter.name: counter.type for definition, *_ in self._parts for counter in definition.counters}
        room.take(shape[0] * shape[1] * len(types), self._entry.path)
        samples, places = self._instances.present(order), self._instances.places(order)
        clocks = np.zeros((5, len(order)), dtype=np.int64)
        clocks[:, order] = self._read_clocks(len(order))
        pieces = [
            (definition, np.frombuffer(b"".join(values), dtype=_make_dtype(definition)))
            for definition, values, _ in self._parts
        ]
        object_ = self._name(self._object)
        columns: list[tuple[str, CounterType, Values]] = []
        for name, type_ in types.items():
            value, base = (np.zeros(shape, dtype=np.int64) for _ in range(2))
            recorded = np.zeros(shape, dtype=bool)
            at = 0
            for definition, records in pieces:
                here = places[at : at + len(records)]
                at += len(records)
                number = next((i for i, counter in enumerate(definition.counters) if counter.name == name), None)
                if number is None:
                    continue
                counter = definition.counters[number]
                if counter.type != type_:
                    raise BlgError(f"changes the type of a counter: {object_}\\{name}")
                value.reshape(-1)[here] = records[f"value{number}"]
                recorded.reshape(-1)[here] = True
                if counter.base is not None:
                    base.reshape(-1)[here] = records[f"base{number}"]
            clock = clocks[_CLOCKS[type_.clock]][None]
            frequency = clocks[4 if type_.formula == "elapsed" else 3][None]
            columns.append((name, type_, cook_values(type_, RawCounter(value, base, clock, frequency, recorded))))
        for at, instance in enumerate(self._instances.names):
            for name, type_, values in columns:
                yield CounterColumn(self._entry.host, object_, instance, name, type_, values[at], samples[at])

    def _parse_definition(self, data: bytes, count: int) -> _Definition:
        """Return the counters that binary definitions describe; cached, as most samples repeat the definitions."""
        if (layout := self._definitions.get((count, data))) is not None:
            return layout
        read: list[tuple[int, int, int, int]] = []
        at = 0
        if count > len(data) // _COUNTER.size:
            raise self._explain_damage()
        for _ in range(count):
            size, name, code, length, place = _COUNTER.read(data, at, len(data))
            if size < _COUNTER.size:
                raise self._explain_damage()
            read.append((name, code, length, place))
            at += size
        counters: list[_Counter] = []
        skipped: list[str] = []
        reach = 0
        for at, (name_id, code, length, place) in enumerate(read):
            if is_base(code):
                continue
            name = self._name(name_id)
            type_ = find_counter_type(code, f"{self._entry.path} {name}")
            if not type_.formula:
                skipped.append(name)
                continue
            base = None
            if type_.base:
                if at + 1 == len(read) or not is_base(read[at + 1][1]):
                    raise BlgError(f"holds a counter without its base: {self._entry.path} {name}")
                _, _, base_length, base_place = read[at + 1]
                base = (base_place, base_length)
            for where, size in ((place, length), base or (place, length)):
                if size not in _SIZES or where < _VALUES.size:
                    raise self._explain_damage()
                reach = max(reach, where + size)
            counters.append(_Counter(name, type_, (place, length), base))
        if len({counter.name.casefold() for counter in counters}) < len(counters):
            raise BlgError(f"has two counters of one name: {self._entry.path}")
        definition = _Definition(tuple(counters), max(reach, _VALUES.size), tuple(skipped))
        definition = next((earlier for earlier in self._definitions.values() if earlier == definition), definition)
        self._definitions[count, data] = definition
        return definition

    def _read_values(self, data: bytes, at: int, end: int, instances: int, needed: int) -> bytes:
        """Return the first `needed` bytes of each instance's data, joined; save the instances in `_layout`."""
        if instances == _NO_INSTANCES:
            self._layout = None
            (size,) = _VALUES.read(data, at, end)
            if not needed <= size <= end - at:
                raise self._explain_damage()
            return data[at : at + needed]
        if not 0 <= instances <= (end - at) // (_INSTANCE.size + _VALUES.size):
            raise self._explain_damage()
        layout = _Layout([], [], [])
        values: list[bytes] = []
        for _ in range(instances):
            size, parent, place, unique, name, name_size = _INSTANCE.read(data, at, end)
            block = at + size
            (length,) = _VALUES.read(data, block, end)
            if size < _INSTANCE.size or name + name_size > size or not needed <= length <= end - block:
                raise self._explain_damage()
            layout.names.append(data[at + name : at + name + name_size])
            layout.ids.append(unique)
            layout.parents.append((parent, place))
            values.append(data[block : block + needed])
            at = block + length
        self._layout = layout
        return b"".join(values)

    def _name_instances(self, layout: _Layout) -> list[str]:
        """Return the names of instances; an instance without a name gets its number."""
        texts = map(self._decode_name, layout.names)
        return [text or ("" if id_ == _NO_ID else str(id_)) for text, id_ in zip(texts, layout.ids, strict=True)]

    def _decode_name(self, name: bytes) -> str:
        if (text := self._texts.get(name)) is None:
            text = self._texts[name] = decode_utf16(name[: len(name) & ~1]).partition("\0")[0]
        return text

    def _name(self, number: int) -> str:
        try:
            return self._names[self._host, number]
        except KeyError:
            raise BlgError(f"does not say what name {number} is, of {self._entry.path}: a part of it is lost") from None

    def _read_clocks(self, rows: int) -> Counts:
        """Return five rows, with a column for each sample.

        The rows are ticks, UTC, object clock, ticks per second, and object clock units per second.
        """
        array = np.zeros((5, rows), dtype=np.int64)
        for row, times in self._times:
            array[:, row] = times
        return array

    def _explain_damage(self) -> BlgError:
        return BlgError(f"is damaged: lengths within a sample contradict each other ({self._entry.path})")


def _make_dtype(definition: _Definition) -> np.dtype[np.void]:
    values = [(f"value{at}", *counter.value) for at, counter in enumerate(definition.counters)]
    bases = [(f"base{at}", *counter.base) for at, counter in enumerate(definition.counters) if counter.base]
    names, offsets, sizes = zip(*values, *bases, strict=True) if values else ((), (), ())
    formats = [_SIZES[size] for size in sizes]
    return np.dtype({"names": list(names), "formats": formats, "offsets": list(offsets), "itemsize": definition.bytes})
