r"""Matches instances that different objects of Windows name differently.

`PhysicalDisk(1 D: E:)` holds the volumes `LogicalDisk(D:)` and `LogicalDisk(E:)`; `Processor Information(0,5)` is
`Processor(5)`.
"""

import re
from collections.abc import Iterable, Mapping

from plimsoll.rules.instances.processor_numbers import Processors

_VOLUME = re.compile(r"[a-z]:", re.IGNORECASE)
_WITHOUT_LETTER = re.compile(r"harddiskvolume\d+", re.IGNORECASE)
_PHYSICAL = re.compile(r"\d+(?: [a-z]:)*", re.IGNORECASE)
_PROCESSOR = re.compile(r"\d+(?:,\d+)?")


class Instances:
    """Names of instances of one host, among which the one that is the same as another is found at once."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._folded: dict[str, dict[str, None]] = {}
        self._physical: dict[str, None] = {}
        self._of_volume: dict[str, dict[str, None]] = {}
        self._processors = Processors()
        for one in names:
            self.add(one)

    def add(self, name: str) -> None:
        """Add a name."""
        self._folded.setdefault(name.casefold(), {})[name] = None
        if is_physical(name):
            self._physical[name] = None
        for letter in letters(name):
            self._of_volume.setdefault(letter, {})[name] = None
        self._processors.add(name)

    def remove(self, name: str) -> None:
        """Take a name out again."""
        self._folded.get(name.casefold(), {}).pop(name, None)
        self._physical.pop(name, None)
        for letter in letters(name):
            self._of_volume.get(letter, {}).pop(name, None)
        self._processors.remove(name)

    def same(self, instance: str) -> str | None:
        """The same disk or processor under another name, or the disk that holds the volume; None if there is none."""
        if _VOLUME.fullmatch(instance):
            return _first(self._of_volume.get(instance.casefold()))
        if _PROCESSOR.fullmatch(instance):
            return self._processors.same(instance)
        own = letters(instance)
        return _first(self._folded.get(own[0])) if len(own) == 1 else None

    def holding(self, instance: str) -> str | None:
        """The same, and for a volume without a letter any physical disk: it lies on one of them."""
        return _first(self._physical) if _WITHOUT_LETTER.fullmatch(instance) else self.same(instance)


def _first(names: Mapping[str, None] | None) -> str | None:
    return next(iter(names or ()), None)


def same_instance(instance: str, others: Iterable[str]) -> str | None:
    """The instance among `others` that is the same disk or processor, or holds the volume; None if there is none."""
    return Instances(others).same(instance)


def holds(instance: str, others: Iterable[str]) -> str | None:
    """The same, and for a volume without a letter any physical disk: it lies on one of them."""
    return Instances(others).holding(instance)


def is_volume(instance: str) -> bool:
    """Whether it is a volume with a letter: `C:`."""
    return _VOLUME.fullmatch(instance) is not None


def is_physical(instance: str) -> bool:
    """Whether it is named as a physical disk is: `0 C:`."""
    return _PHYSICAL.fullmatch(instance) is not None


def letters(instance: str) -> list[str]:
    """The volumes of a physical disk, in lower case; empty for any other instance."""
    return instance.casefold().split()[1:] if _PHYSICAL.fullmatch(instance) else []
