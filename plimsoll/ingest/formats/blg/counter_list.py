"""What a log says of its contents: the list of what is recorded, and the names of objects and counters."""

from collections.abc import Mapping
from typing import NamedTuple

from plimsoll.ingest.formats.blg.structures import Refused, Structure, text_at, utf16

ONE, ALL_INSTANCES, WHOLE_OBJECT = 0, 1, 0x10

_ENTRY = Structure("entry")
_TEXTS = 0x34  # where the places of an entry's texts count from
_SIGNS = (0x6FF).to_bytes(4, "little") + (0x00020008).to_bytes(4, "little")

Names = Mapping[tuple[str, int], str]


class Entry(NamedTuple):
    """What one block of each sample holds: of which host, and of which object, instance and counter.

    `instance` is None if there is none. Of a whole object, `counter` is empty and `type` and `timebase` say nothing.
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
        """For people."""
        instance = f"({self.instance})" if self.instance else ""
        return f"\\\\{self.host}\\{self.object}{instance}\\{self.counter or '*'}"


def read_list(data: bytes) -> list[Entry]:
    """The entries in the order of the blocks. Refused if one is of a kind that is not known."""
    if not data.startswith(_SIGNS):
        raise Refused(f"has a list of counters of a kind that is not known ({data[:8].hex()})")
    entries: list[Entry] = []
    at = len(_SIGNS)
    while at < len(data):
        entry, size = _entry(data, at)
        entries.append(entry)
        at += (size + 7) & ~7
    if not entries:
        raise Refused("lists no counter")
    return entries


def read_names(data: bytes, names: dict[tuple[str, int], str]) -> None:
    """Add the names in a message, by the host in lower case and their number."""
    if len(data) % 2:
        data = data[:-1]
    host, *rest = utf16(data).split("\0")
    if not host.startswith("\\\\"):
        raise Refused("is damaged: names of counters without their host")
    of = host_name(host).casefold()
    for number, name in zip(rest[::2], rest[1::2], strict=False):
        if not number:
            break  # zero bytes behind the last one
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise Refused("is damaged: the number of a name is not a number")
        names[of, int(number)] = name


def host_name(machine: str) -> str:
    r"""The name of a computer without the `\\` before it."""
    return machine.lstrip("\\")


def _entry(data: bytes, at: int) -> tuple[Entry, int]:
    size, kind, type_, timebase, *places, parent, index, counter_at = _ENTRY.read(data, at, len(data))
    if not _ENTRY.size <= size <= len(data) - at:
        raise Refused("is damaged: an entry of the list of counters has a wrong size")

    def text(place: int) -> str | None:
        if place < -1:
            raise Refused("is damaged: a name lies outside the list of counters")
        return None if place == -1 else text_at(data, at + _TEXTS + place, at + size)

    machine, object_, instance, counter = (text(place) for place in (*places, counter_at))
    if not machine or not host_name(machine) or not object_:
        raise Refused("lists a counter without its computer or its object")
    entry = Entry(kind, type_, timebase, host_name(machine), object_, instance, counter or "")
    if parent != -1 or index:
        raise Refused(f"lists a counter by its instance's parent or number, which is not read: {entry.path}")
    if kind == WHOLE_OBJECT:
        if instance not in (None, "*") or counter not in (None, "*"):
            raise Refused(f"lists a part of an object as a whole one: {entry.path}")
        return entry._replace(instance=None, counter=""), size
    if kind not in (ONE, ALL_INSTANCES):
        raise Refused(f"lists counters of a kind that is not known (0x{kind:x}): {entry.path}")
    if not counter or (kind == ALL_INSTANCES and not instance):
        raise Refused(f"lists a counter in a form that is not known: {entry.path}")
    return entry, size
