"""Reads the container of a binary log, an ETL trace: buffers of events; one or more events make up a message."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.formats.blg import MARKER, SYSTEM
from plimsoll.ingest.formats.blg.structures import BlgError, Structure, decode_utf16, read_text_at
from plimsoll.ingest.shared.same_time import MOST_LEFT_OUT
from plimsoll.model.remark import Kind, Remarks, format_count, join_names

ONE_INSTANCE, ALL_INSTANCES, WHOLE_OBJECT = 0, 1, 0x10
_ENTRY = Structure("entry")
_TEXTS = 0x34  # the offsets of an entry's texts count from here
_SIGNS = (0x6FF).to_bytes(4, "little") + (0x00020008).to_bytes(4, "little")
Names = Mapping[tuple[str, int], str]


class Entry(NamedTuple):
    """An entry of the counter list: a counter or a whole object. Each sample has one block for each entry.

    `instance` is None if the entry names none. For a whole object, `counter` is empty, and `type` and `timebase` are
    not used.
    """

    kind: int
    type: int
    timebase: int
    host: str
    object: str
    instance: str | None
    counter: str

    @property
    def path(self) -> str:
        """The path of the counter, for messages."""
        instance = f"({self.instance})" if self.instance else ""
        return f"\\\\{self.host}\\{self.object}{instance}\\{self.counter or '*'}"


NAMES, COUNTERS, SAMPLE, CATALOGUE = 0x24, 0x20, 0x22, 0x23
_BUFFER, _EVENT, _TRACED = Structure("buffer"), Structure("event"), Structure("traced")
_LOG_FILE, _LOG_FILE_END = Structure("log_file"), Structure("log_file_end")
_HEADER_BUFFER, _DATA_BUFFER = 4, 0
_SMALLEST, _LARGEST = 1 << 10, 16 << 20  # bytes of a buffer
_TRACE = (0x0A, 0x14)
_SYSTEM_HEADER = 32
# 933f3bb3-943e-490d-9ced-3cbb14c14479, which writes binary logs.
_PROVIDER = (0x490D943E933F3BB3, 0x7944C114BB3CED9C)
_OTHER_TRACE = "is no log of counters but another trace (ETL), or holds an event of a kind that is not known"
_SYSTEM_TIME = 2
_MODES = {0x2: "circular", 0x4: "appended", 0x04000000: "compressed"}
_MOST_PARTS = 64 << 10
_MOST_BYTES = 256 << 20


class BlgHeader(NamedTuple):
    """The start of the recording (UTC FILETIME), and the clock's offsets from UTC (minutes) in winter and in summer."""

    started: int
    offsets: tuple[int, int]


class BlgMessage(NamedTuple):
    """A message: the (start, end) offsets of its parts in the file, and its time `stamp` (local FILETIME).

    The message was written between `after` and `before` (UTC FILETIME); `after` is 0 if unknown.
    """

    kind: int
    stamp: int
    parts: list[tuple[int, int]]
    after: int
    before: int

    def content(self, data: Data) -> bytes:
        """Return the bytes of the message, with its parts joined."""
        return b"".join([data[start:end] for start, end in self.parts])


class Container(NamedTuple):
    """The content of a binary log: the header, the complete messages in file order, and the number of lost samples."""

    header: BlgHeader
    messages: list[BlgMessage]
    lost: int


class _Buffer(NamedTuple):
    number: int
    kind: int
    start: int
    end: int
    switched_out: int


def read_container(data: Data, remarks: Remarks) -> Container:
    """Return the container of a binary log; add remarks on losses. Raise BlgError if its kind is not supported."""
    buffers = _list_buffers(data, remarks)
    header = _read_header(data, buffers[0], remarks)
    pending: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
    totals: dict[tuple[int, int], int] = {}
    messages: list[BlgMessage] = []
    after = 0
    for buffer in buffers:
        for kind, stamp, part, parts, start, end in _list_events(data, buffer):
            key = kind, stamp
            if parts == 1 == part:  # names are in several messages of one time
                messages.append(BlgMessage(kind, stamp, [(start, end)], after, buffer.switched_out))
                continue
            places_by_part = pending.setdefault(key, {})
            fits = 1 <= part <= parts <= _MOST_PARTS and totals.setdefault(key, parts) == parts
            if not fits or part in places_by_part:
                raise BlgError(f"is damaged: the parts of a message do not fit together (part {part} of {parts})")
            places_by_part[part] = (start, end)
            if len(places_by_part) == parts:
                del totals[key], pending[key]
                places = [places_by_part[number] for number in range(1, parts + 1)]
                if sum(end - start for start, end in places) > _MOST_BYTES:
                    raise BlgError("is damaged: a message is longer than 256 MB")
                messages.append(BlgMessage(kind, stamp, places, after, buffer.switched_out))
        after = buffer.switched_out
    return Container(header, messages, sum(kind == SAMPLE for kind, _ in pending))


def _list_buffers(data: Data, remarks: Remarks) -> list[_Buffer]:
    """Return the buffers by sequence number, beginning with the header's buffer; add a remark if some are missing."""
    size, *_ = _BUFFER.read(data[: _BUFFER.size], 0, min(len(data), _BUFFER.size))
    if not _SMALLEST <= size <= _LARGEST:
        raise BlgError(f"is damaged: its buffers would have {size:,} bytes")
    buffers: dict[int, _Buffer] = {}
    empty = 0
    for at in range(0, len(data), size):
        head = data[at : at + _BUFFER.size]
        if not any(head):
            empty += 1
            continue
        if len(head) < _BUFFER.size:
            break
        value, switched_out, number, used, kind = _BUFFER.read(head, 0, len(head))
        if value != size or not _BUFFER.size <= used <= size:
            raise BlgError(f"is damaged: the buffer at byte {at:,} has another size than the first")
        if at == 0 and kind != _HEADER_BUFFER:
            raise BlgError("was written before Windows Vista, or is damaged: it begins with no buffer of a header")
        if at and kind != _DATA_BUFFER:
            raise BlgError(f"holds several logs, or a kind of buffer ({kind}) that is not known, at byte {at:,}")
        if number in buffers:
            raise BlgError(f"holds buffer {number} twice: several logs were joined, or it is damaged")
        buffers[number] = _Buffer(number, kind, at + _BUFFER.size, min(at + used, len(data)), switched_out)
    if not buffers:
        raise BlgError("is damaged: it holds no whole buffer")
    if empty:
        remarks.add(Kind.SKIPPED, f"{format_count(empty, 'buffer')} of zero bytes: left out", count=empty)
    if rest := len(data) % size:
        remarks.add(
            Kind.SKIPPED,
            f"the file ends within a buffer, {format_count(size - rest, 'byte')} too soon: read to its last whole "
            "sample",
        )
    ordered = [buffers[number] for number in sorted(buffers)]
    if ordered[0].kind != _HEADER_BUFFER:
        raise BlgError("is damaged: its first buffer is not the one of its header")
    lost = ordered[-1].number + 1 - ordered[0].number - len(ordered)
    if lost:
        gaps = [str(a.number + 1) for a, b in pairwise(ordered) if b.number > a.number + 1]
        remarks.add(
            Kind.SKIPPED,
            f"{format_count(lost, 'buffer')} missing, from number {join_names(gaps, 5)} on: samples are lost",
            count=lost,
        )
    return ordered


def _read_header(data: Data, buffer: _Buffer, remarks: Remarks) -> BlgHeader:
    """Return the file header, from the first event; add remarks if the file was not closed or has lost events."""
    head = data[buffer.start : buffer.end]
    _, kind, marker, size = _EVENT.read(head, 0, len(head))
    if kind not in SYSTEM or marker != MARKER:
        raise BlgError("is damaged: its first event is not the header of a log")
    end = min(size, len(head))
    ended, mode, written, pointer, events_lost = _LOG_FILE.read(head, _SYSTEM_HEADER, end)
    if pointer != SYSTEM[kind]:
        raise BlgError(f"is damaged: pointers of {pointer} bytes")
    behind = _SYSTEM_HEADER + _LOG_FILE.size + 2 * pointer
    bias, standard, daylight, started, clock, buffers_lost = _LOG_FILE_END.read(head, behind, end)
    for bit, name in _MODES.items():
        if mode & bit:
            raise BlgError(f"is a{'n' if name[0] in 'aeiou' else ''} {name} log (LogFileMode 0x{mode:x})")
    if clock != _SYSTEM_TIME:
        raise BlgError(f"has times of a clock that is not known ({clock})")
    if not ended:
        remarks.add(Kind.NOTED, "the log was not closed, or is still being written: read to its last whole sample")
    elif (value := -(-len(data) // _BUFFER.read(data[: _BUFFER.size], 0, _BUFFER.size)[0])) != written:
        kind = Kind.CUT if value < (1 - MOST_LEFT_OUT) * written else Kind.SKIPPED
        remarks.add(
            kind, f"the header counts {format_count(written, 'buffer')} and there are {value}: samples may be lost"
        )
    for lost, text in ((events_lost, "event"), (buffers_lost, "buffer")):
        if lost:
            remarks.add(
                Kind.SKIPPED, f"the recorder lost {format_count(lost, text)}: samples may be missing", count=lost
            )
    return BlgHeader(started, (-(bias + standard), -(bias + daylight)))


def _list_events(data: Data, buffer: _Buffer) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yield each message event of a buffer: message kind, time, part number, number of parts, start and end offset."""
    content = data[buffer.start : buffer.end]
    at, end = 0, len(content)
    while at + _EVENT.size <= end:
        size, header, marker, system_size = _EVENT.read(content, at, end)
        if marker != MARKER or header not in (*SYSTEM, *_TRACE):
            raise BlgError(f"{_OTHER_TRACE} (type 0x{header:02x}{marker:02x} at byte {buffer.start + at:,})")
        is_system = header in SYSTEM
        size = system_size if is_system else size
        if size < (_SYSTEM_HEADER if is_system else _TRACED.size):
            raise BlgError(f"is damaged: an event at byte {buffer.start + at:,} is too short")
        if at + size > end:
            if buffer.start + end < len(data):
                raise BlgError(f"is damaged: an event at byte {buffer.start + at:,} is longer than its buffer")
            break  # the file is cut there
        if not is_system:
            kind, stamp, low, high, part, parts = _TRACED.read(content, at, end)
            if (low, high) != _PROVIDER:
                raise BlgError(f"{_OTHER_TRACE} (at byte {buffer.start + at:,})")
            if kind not in (NAMES, COUNTERS, SAMPLE, CATALOGUE):
                raise BlgError(f"holds a message of a kind that is not known ({kind}) at byte {buffer.start + at:,}")
            yield kind, stamp, part, parts, buffer.start + at + _TRACED.size, buffer.start + at + size
        at = (at + size + 7) & ~7


def read_list(data: bytes) -> list[Entry]:
    """Return the entries of a counter list, in block order. Raise BlgError for an unknown kind of entry."""
    if not data.startswith(_SIGNS):
        raise BlgError(f"has a list of counters of a kind that is not known ({data[:8].hex()})")
    entries: list[Entry] = []
    at = len(_SIGNS)
    while at < len(data):
        entry, size = _read_entry(data, at)
        entries.append(entry)
        at += (size + 7) & ~7
    if not entries:
        raise BlgError("lists no counter")
    return entries


def read_names(data: bytes, names: dict[tuple[str, int], str]) -> None:
    """Add the names of objects and counters in a message to `names`, with (host in lower case, number) as key."""
    if len(data) % 2:
        data = data[:-1]
    host, *rest = decode_utf16(data).split("\0")
    if not host.startswith("\\\\"):
        raise BlgError("is damaged: names of counters without their host")
    of = host.lstrip("\\").casefold()
    for number, name in zip(rest[::2], rest[1::2], strict=False):
        if not number:
            break  # zero bytes after the last one
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise BlgError("is damaged: the number of a name is not a number")
        names[of, int(number)] = name


def _read_entry(data: bytes, at: int) -> tuple[Entry, int]:
    """Return the entry at an offset of a counter list, and its size (bytes). Raise BlgError if the entry is damaged."""
    size, kind, type_, timebase, *places, parent, index, counter_at = _ENTRY.read(data, at, len(data))
    if not _ENTRY.size <= size <= len(data) - at:
        raise BlgError("is damaged: an entry of the list of counters has a wrong size")

    def text(place: int) -> str | None:
        if place < -1:
            raise BlgError("is damaged: a name lies outside the list of counters")
        return None if place == -1 else read_text_at(data, at + _TEXTS + place, at + size)

    machine, object_, instance, counter = (text(place) for place in (*places, counter_at))
    host = (machine or "").lstrip("\\")
    if not host or not object_:
        raise BlgError("lists a counter without its computer or its object")
    entry = Entry(kind, type_, timebase, host, object_, instance, counter or "")
    if parent != -1 or index:
        raise BlgError(f"lists a counter by its instance's parent or number, which is not read: {entry.path}")
    if kind == WHOLE_OBJECT:
        if instance not in (None, "*") or counter not in (None, "*"):
            raise BlgError(f"lists a part of an object as a whole one: {entry.path}")
        return entry._replace(instance=None, counter=""), size
    if kind not in (ONE_INSTANCE, ALL_INSTANCES):
        raise BlgError(f"lists counters of a kind that is not known (0x{kind:x}): {entry.path}")
    if not counter or (kind == ALL_INSTANCES and not instance):
        raise BlgError(f"lists a counter in a form that is not known: {entry.path}")
    return entry, size
