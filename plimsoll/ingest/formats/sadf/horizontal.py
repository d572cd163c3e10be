"""Rows of `sadf -d -h`, which hold all sections and all instances of one time.

The header names the columns of a section once, however many instances a row has of it. Where one section ends and the
next begins is found by trying; a row is split only if there is one way to do it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from plimsoll.ingest.formats.sadf.sections import Section, unread_sections

Piece = tuple[int, int, int]  # the section's number, and where in the row an instance of it begins and ends
_NUMBER = re.compile(r"-?(\d+([.,]\d+)?|nan|inf)")
# The kinds of cell in sections.yaml.
_KINDS = {
    "number": _NUMBER,
    "whole": re.compile(r"\d+"),
    "hex": re.compile(r"[0-9a-f]+"),
    "name": re.compile(r".*[A-Za-z].*"),
    "words": re.compile(r".*"),
}
_DISK = re.compile(
    r"(sd|vd|hd|xvd)[a-z]+\d*|(nvme|mmcblk|dm-|md|loop|sr|zram|nbd|rbd|drbd)\d+\w*|dev\d+-\d+|(fio|dasd)[a-z]+"
)
_INTERFACE = re.compile(
    r"lo|(eth|en[a-z]?|wl|ww|ib|bond|team|tun|tap|ifb|docker|virbr|dummy|wg|vlan|usb|vmnet|gre|sit|ip6tnl)\d\w*(\.\d+)?"
    r"|(br|veth|cali|flannel|cni|lxc|en[ps])[-.\w@]*|bonding_masters"
)


class Ambiguous(Exception):
    """A row can be split in more than one way."""


class Splitter:
    """Splits rows into sections. Tries the pieces of the last row first, since most rows are built alike."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections
        self._last: tuple[int, list[Piece], list[tuple[int, str]]] = (-1, [], [])

    def pieces(self, cells: Sequence[str]) -> list[Piece]:
        """The section and cells of each instance; none if the row does not fit the header.

        Raises:
            Ambiguous: If the row fits it in more than one way.
        """
        if pieces := self.like_last(cells):
            return pieces
        pieces = _only_way(self._sections, cells)
        names = [(start, cells[start]) for which, start, _ in pieces if self._sections[which].label]
        self._last = (len(cells) if pieces else -1, pieces, names)
        return pieces

    def like_last(self, cells: Sequence[str]) -> list[Piece]:
        """The pieces of a row that has the last one's cells and instances; none if it has others."""
        size, pieces, names = self._last
        return pieces if size == len(cells) and all(cells[at] == name for at, name in names) else []


def _only_way(sections: Sequence[Section], cells: Sequence[str]) -> list[Piece]:
    numeric = [_NUMBER.fullmatch(cell) is not None for cell in cells]

    @cache
    def ways(which: int, at: int) -> tuple[int, tuple[Piece, ...]]:
        """How many ways (at most two) there are to split the rest of the row, and the first of them."""
        if which == len(sections):
            return int(at == len(cells)), ()
        section = sections[which]
        if section.label is None:
            end = at + section.width
            if not all(numeric[at:end]) or end > len(cells):
                return 0, ()
            count, rest = ways(which + 1, end)
            return count, ((which, at, end), *rest)
        found, first = ways(which + 1, at)
        for run in _runs(section, cells, numeric, at):
            for last, (_, end) in enumerate(run, 1):
                count, rest = ways(which + 1, end)
                if count and not found:
                    first = (*((which, *cut) for cut in run[:last]), *rest)
                found = min(found + count, 2)
        return found, first

    count, pieces = ways(0, 0)
    if count > 1:
        raise Ambiguous
    return list(pieces) if count else []


def _runs(section: Section, cells: Sequence[str], numeric: Sequence[bool], at: int) -> Iterator[list[tuple[int, int]]]:
    """The longest run of instances of one section from a place in the row: where each begins and ends.

    One run, or for a section with a value for each processor one run for each possible number of processors.
    """
    if not section.is_per_cpu:
        yield _run(section, section.width, cells, numeric, at)
        return
    width = 2
    while at + width <= len(cells) and not cells[at + width - 1].isdecimal() and numeric[at + width - 1]:
        yield _run(section, width, cells, numeric, at)
        width += 1


def _run(section: Section, width: int, cells: Sequence[str], numeric: Sequence[bool], at: int) -> list[tuple[int, int]]:
    may_follow = _MAY_FOLLOW.get(section.label or "", _is_name)
    kinds = [_KINDS[kind] for kind in unread_sections().get(section, ())]

    def fits(at: int) -> bool:
        if not kinds:
            return all(numeric[at + 1 : at + width])
        return all(kind.fullmatch(cell) for kind, cell in zip(kinds, cells[at : at + width], strict=True))

    found: list[tuple[int, int]] = []
    seen: list[str] = []
    while at + width <= len(cells) and fits(at) and may_follow(cells[at], seen):
        seen.append(cells[at])
        found.append((at, at + width))
        at += width
    return found


def _is_number_after(name: str, seen: Sequence[str]) -> bool:
    """First -1 or a word for all of them, then numbers in ascending order."""
    if not name.isdecimal():
        return not seen and name in ("-1", "all", "sum")
    return not seen or not seen[-1].isdecimal() or int(name) > int(seen[-1])


def _is_name(name: str, seen: Sequence[str]) -> bool:
    return any(c.isalpha() or c == "/" for c in name) and name not in seen


def _is_interrupt(name: str, seen: Sequence[str]) -> bool:
    return "." not in name and "," not in name and name not in seen


def _is_any(name: str, seen: Sequence[str]) -> bool:
    """USB buses and batteries come in any order, and a bus once for each device on it."""
    return True


def _is_disk(name: str, seen: Sequence[str]) -> bool:
    return _is_name(name, seen) and not _INTERFACE.fullmatch(name)


def _is_interface(name: str, seen: Sequence[str]) -> bool:
    return _is_name(name, seen) and not _DISK.fullmatch(name)


_MAY_FOLLOW: dict[str, Callable[[str, Sequence[str]], bool]] = {
    "CPU": _is_number_after,
    "TTY": _is_number_after,
    "FAN": _is_number_after,
    "TEMP": _is_number_after,
    "IN": _is_number_after,
    "BAT": _is_any,
    "manufact": _is_any,
    "INTR": _is_interrupt,
    "DEV": _is_disk,
    "IFACE": _is_interface,
}
