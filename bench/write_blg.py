"""Writes binary logs (BLG) for tests and measurements; it packs the structures independently of the reader.

A log is a list of messages; `log` puts them into events and buffers as the recorder does. Times are FILETIMEs.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

NAMES, COUNTERS, SAMPLE, CATALOGUE = 0x24, 0x20, 0x22, 0x23
SECOND = 10_000_000
_PROVIDER = bytes.fromhex("b33b3f933e940d499ced3cbb14c14479")
_FRAGMENT = 8000


def filetime(text: str) -> int:
    """Return the FILETIME of `2024-03-10T06:00:00`."""
    seconds = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    return round(seconds * 1000) * 10_000 + 116_444_736_000_000_000


@dataclass(frozen=True)
class Recorder:
    """The machine and settings that a log is written with. Biases are minutes, as Windows counts them."""

    pointer: int = 8
    bias: int = 300
    standard_bias: int = 0
    daylight_bias: int = -60
    started: int = filetime("2024-01-15T15:00:00")
    ended: int = filetime("2024-01-15T16:00:00")
    mode: int = 0x10000001
    clock: int = 2
    buffer: int = 65536
    events_lost: int = 0
    buffers_lost: int = 0
    more_system_events: bool = False


class Message(NamedTuple):
    """A message: kind, local time, content."""

    kind: int
    stamp: int
    content: bytes


class Entry(NamedTuple):
    """An entry of the list of counters."""

    kind: int
    object: str
    counter: str | None = "*"
    instance: str | None = None
    type: int = 0x10
    timebase: int = 0
    host: str = "WEB01"
    parent: str | None = None
    number: int = 0


class Counter(NamedTuple):
    """A counter of an object: number of its name, type, bytes of its values."""

    name: int
    type: int
    size: int = 8


@dataclass(frozen=True)
class Instance:
    """An instance and its values, in the order of the counters; parents as (number of the object, place)."""

    name: str
    values: Sequence[int]
    parent: tuple[int, int] = (0, 0)
    unique: int = -1


@dataclass(frozen=True)
class Clocks:
    """The clocks of a sample: ticks, UTC, the object's, and their frequencies."""

    ticks: int
    utc: int
    object: int = 0
    per_s: int = 3_000_000
    object_per_s: int = SECOND
    host: str = "WEB01"
    extra: Mapping[str, int] = field(default_factory=dict[str, int])


def utf16(text: str) -> bytes:
    """Return a text with its zero character."""
    return text.encode("utf-16-le") + b"\0\0"


def padded(data: bytes, to: int = 8) -> bytes:
    """Return bytes padded to a multiple of eight."""
    return data + bytes(-len(data) % to)


def names(host: str, by_number: Mapping[int, str]) -> list[bytes]:
    """Return messages with names, each of at most 8000 bytes."""
    entries = [utf16(f"\\\\{host}")]
    for number, name in by_number.items():
        pair = utf16(str(number)) + utf16(name)
        if len(entries[-1]) + len(pair) > _FRAGMENT:
            entries.append(utf16(f"\\\\{host}"))
        entries[-1] += pair
    return entries


def counter_list(entries: Iterable[Entry]) -> bytes:
    """Return the list of recorded counters."""
    out = struct.pack("<II", 0x6FF, 0x00020008)
    for entry in entries:
        texts, places = b"", []
        for text in (f"\\\\{entry.host}", entry.object, entry.instance, entry.parent, entry.counter):
            places.append(-1 if text is None else len(texts))
            texts += b"" if text is None else utf16(text)
        machine, object_, instance, parent, counter = places
        size = 52 + len(texts)
        size += -size % 8
        head = struct.pack("<IIIIqi", size, entry.kind, 0, entry.type, entry.timebase, 0)
        out += padded(head + struct.pack("<iiiiIi", machine, object_, instance, parent, entry.number, counter) + texts)
    return out


def block(kind: int, content: bytes) -> bytes:
    """Return a block of a sample."""
    content = padded(content)
    return b"BL" + struct.pack("<HI", kind, len(content) + 8) + content


def sample(blocks: Iterable[bytes]) -> bytes:
    """Return the content of a sample."""
    content = b"".join(blocks)
    return b"BL" + struct.pack("<HI", 3, len(content) + 8) + content


def whole_object(
    number: int, counters: Sequence[Counter], instances: Sequence[Instance] | Sequence[int], clocks: Clocks
) -> bytes:
    """Return a block with a whole object: its instances, or the values of an object without instances."""
    places, reach = [], 8
    for counter in counters:
        reach += -reach % (counter.size or 1)
        places.append(reach)
        reach += counter.size
    reach += -reach % 8
    definitions = b"".join(
        struct.pack("<IIIIIiIIII", 40, item.name, 0, item.name + 1, 0, 0, 100, item.type, item.size, place)
        for item, place in zip(counters, places, strict=True)
    )
    bodies, count = b"", -1

    def values(of: Sequence[int]) -> bytes:
        out = bytearray(reach)
        struct.pack_into("<I", out, 0, reach)
        for counter, place, value in zip(counters, places, of, strict=True):
            if counter.size:
                struct.pack_into("<I" if counter.size == 4 else "<q", out, place, value)
        return bytes(out)

    if instances and isinstance(instances[0], int):
        bodies = values(instances)  # pyright: ignore
    else:
        count = len(instances)
        for instance in instances:
            assert isinstance(instance, Instance)
            name = utf16(instance.name)
            size = 24 + len(name)
            head = struct.pack("<IIIiII", size + -size % 8, *instance.parent, instance.unique, 24, len(name))
            bodies += padded(head + name) + values(instance.values)
    total = 64 + len(definitions) + len(bodies)
    head = struct.pack("<IIIIIIII", total, 64 + len(definitions), 64, number, 0, number + 1, 0, 100)
    head += struct.pack("<IiiI", len(counters), 0, count, 0) + struct.pack("<qq", clocks.object, clocks.object_per_s)
    host = utf16(clocks.host)
    header = 88 + len(padded(host))
    data = "PERF".encode("utf-16-le") + struct.pack(
        "<IIIIIIiI",
        clocks.extra.get("little_endian", 1),
        1,
        1,
        header + total,
        header,
        clocks.extra.get("objects", 1),
        number,
        0,
    )
    data = data[:0x24] + bytes(16) + bytes(4)
    data += struct.pack("<qqqII", clocks.ticks, clocks.per_s, clocks.utc, len(host), 88) + padded(host)
    return block(0x0503, data + head + definitions + bodies)


def raw_counter(time: int, first: int, second: int, *, status: int = 0, multi: int = 1) -> bytes:
    """Return a block with one counter; its time is a local FILETIME."""
    return block(0x0103, struct.pack("<IQIqqII", status, time, 0, first, second, multi, 0))


def raw_array(time: int, items: Sequence[tuple[str, int, int]], *, unknown: int = 0) -> bytes:
    """Return a block with a counter of several instances: name, first and second value of each."""
    head, texts = b"", b""
    for name, first, second in items:
        head += struct.pack("<IIqq", 24 + 24 * len(items) + len(texts), 0, first, second)
        texts += utf16(name)
    body = struct.pack("<IIIQ", len(items), unknown, 0, time) + head + texts
    body += bytes(-(4 + len(body)) % 8)
    content = struct.pack("<I", 4 + len(body)) + body
    return block(0x0203, content)


def catalogue(first: int, last: int, samples: int) -> bytes:
    """Return the recorder's last message, as far as the reader uses it."""
    return struct.pack("<qqIIII", first, last, samples, 0, 0, 0x5FF)


def log(messages: Iterable[Message], recorder: Recorder = Recorder()) -> bytes:
    """Return the file, with buffers in the order of the messages."""
    result: list[bytes] = []
    stamps: list[int] = []
    buffer = b""
    ahead = (
        -(recorder.bias + recorder.daylight_bias)
        if recorder.pointer == 4
        else -(recorder.bias + recorder.standard_bias)
    )
    utc = recorder.started
    for message in messages:
        utc = message.stamp - ahead * 60 * SECOND
        pieces = [message.content[at : at + _FRAGMENT] for at in range(0, len(message.content), _FRAGMENT)] or [b""]
        for number, piece in enumerate(pieces, 1):
            event = padded(_event(message, number, len(pieces), piece, recorder))
            if 72 + len(buffer) + len(event) > recorder.buffer:
                result.append(buffer)
                stamps.append(utc)
                buffer = b""
            buffer += event
    result.append(buffer)
    stamps.append(utc)
    system = _system_events(recorder, len(result) + 1)
    first = _buffer(0, 4, system, recorder.started if recorder.pointer == 4 else 0, recorder.buffer)
    return first + b"".join(
        _buffer(at, 0, content, stamp, recorder.buffer)
        for at, (content, stamp) in enumerate(zip(result, stamps, strict=True), 1)
    )


def _buffer(number: int, kind: int, content: bytes, stamp: int, size: int) -> bytes:
    used = 72 + len(content)
    head = struct.pack("<IIIIqq", size, 0, 0, 0, stamp, number) + bytes(16) + struct.pack("<IHH", used, 0, kind)
    return (head + bytes(16) + content).ljust(size, b"\xff")


def _event(of: Message, part: int, parts: int, piece: bytes, recorder: Recorder) -> bytes:
    header = 0x0A if recorder.pointer == 4 else 0x14
    head = struct.pack("<HBBBBHIIq", 72 + len(piece), header, 0xC0, of.kind, 0, 0x3C, 1, 2, of.stamp)
    return head + _PROVIDER + bytes(8) + b"session".ljust(16, b"-") + struct.pack("<II", part, parts) + piece


def _system_events(recorder: Recorder, buffers: int) -> bytes:
    p = recorder.pointer
    body = struct.pack(
        "<IIIIqIIIIII", recorder.buffer, 0x106, 9200, 1, recorder.ended, 156250, 0, recorder.mode, buffers, 1, p
    )
    body += struct.pack("<II", recorder.events_lost, 0) + bytes(2 * p)
    body += struct.pack(
        "<i64s16si64s16si4x",
        recorder.bias,
        utf16("@tzres.dll,-112"),
        b"",
        recorder.standard_bias,
        utf16("@tzres.dll,-111"),
        b"",
        recorder.daylight_bias,
    )
    body += struct.pack(
        "<qqqII", recorder.started - SECOND, 3_000_000, recorder.started, recorder.clock, recorder.buffers_lost
    )
    body += utf16("{logger}") + utf16("C:\\PerfLogs\\made.blg")
    out = padded(_system(0, body, p))
    if recorder.more_system_events:
        out += padded(_system(0x50, bytes(48), p)) + padded(_system(0x51, bytes(20), p))
    return out


def _system(kind: int, body: bytes, pointer: int) -> bytes:
    head = struct.pack("<HBBHBB", 2, 1 if pointer == 4 else 2, 0xC0, 32 + len(body), kind, 0)
    return head + bytes(24) + body
