r"""Matches instances that different objects of Windows name differently.

`PhysicalDisk(1 D: E:)` holds the volumes `LogicalDisk(D:)` and `LogicalDisk(E:)`; `Processor Information(0,5)` is
`Processor(5)`, and `1,1` the sixth processor of a machine with four of them per node.
"""

import re
from collections.abc import Iterable, Iterator

_VOLUME = re.compile(r"[a-z]:", re.IGNORECASE)
_WITHOUT_LETTER = re.compile(r"harddiskvolume\d+", re.IGNORECASE)
_PHYSICAL = re.compile(r"\d+(?: [a-z]:)*", re.IGNORECASE)
# More digits than any machine needs would only make a number that takes long to compute with.
_NUMBER = re.compile(r"\d{1,9}")
_IN_NODE = re.compile(r"(\d{1,4}),(\d{1,6})")

_ON = "\0"  # begins the key of a volume that lies on a disk
_Key = str | int | tuple[int, int] | None


class Instances:
    """Names of instances of one host, among which the one that is the same as another is found at once."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        # By what they are known for: case-folded name, volume, number of a processor, node and processor in it; and
        # all physical disks under None.
        self._names: dict[_Key, dict[str, None]] = {}
        self._nodes: dict[int, set[int]] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Add a name."""
        for key in _keys(name):
            self._names.setdefault(key, {})[name] = None
            if isinstance(key, tuple):
                self._nodes.setdefault(key[0], set()).add(key[1])

    def remove(self, name: str) -> None:
        """Take a name out again."""
        for key in _keys(name):
            self._names.get(key, {}).pop(name, None)
            if isinstance(key, tuple) and not self._names.get(key):
                self._nodes.get(key[0], set()).discard(key[1])

    def same(self, instance: str) -> str | None:
        """Return the same disk or processor under another name, or the disk that holds the volume; None if none."""
        if _VOLUME.fullmatch(instance):
            return self._first(_ON + instance.casefold())
        if _NUMBER.fullmatch(instance):
            return self._processor(int(instance))
        if match := _IN_NODE.fullmatch(instance):
            # By itself, only a processor of the first node has a number.
            return None if int(match[1]) else self._first(int(match[2]))
        volumes = letters(instance)
        return self._first(volumes[0]) if len(volumes) == 1 else None

    def holding(self, instance: str) -> str | None:
        """Return the same, and for a volume without a letter any physical disk: it lies on one of them."""
        return self._first(None) if _WITHOUT_LETTER.fullmatch(instance) else self.same(instance)

    def _processor(self, number: int) -> str | None:
        """Return the processor of a node that has this number among those of all nodes.

        A node's numbering starts after the highest recorded processor of the node before it. None if an earlier node
        was not recorded.
        """
        node = 0
        while size := self._size(node):
            if number < size:
                return self._first((node, number))
            number, node = number - size, node + 1
        return None

    def _size(self, node: int) -> int:
        return max(self._nodes.get(node, ()), default=-1) + 1

    def _first(self, key: _Key) -> str | None:
        return next(iter(self._names.get(key, ())), None)


def _keys(name: str) -> Iterator[_Key]:
    yield name.casefold()
    if is_physical(name):
        yield None
    yield from (_ON + letter for letter in letters(name))
    if _NUMBER.fullmatch(name):
        yield int(name)
    elif match := _IN_NODE.fullmatch(name):
        yield int(match[1]), int(match[2])


def is_volume(instance: str) -> bool:
    """Return whether it is a volume with a letter: `C:`."""
    return _VOLUME.fullmatch(instance) is not None


def is_physical(instance: str) -> bool:
    """Return whether it is named as a physical disk is: `0 C:`."""
    return _PHYSICAL.fullmatch(instance) is not None


def letters(instance: str) -> list[str]:
    """Return the volumes of a physical disk, in lower case; empty for any other instance."""
    return instance.casefold().split()[1:] if _PHYSICAL.fullmatch(instance) else []
