r"""Matches instances that different objects of Windows name differently.

`PhysicalDisk(1 D: E:)` holds the volumes `LogicalDisk(D:)` and `LogicalDisk(E:)`; `Processor Information(0,5)` is
`Processor(5)`.
"""

import re
from collections.abc import Iterable

from plimsoll.rules.processor_numbers import same_processor

_VOLUME = re.compile(r"[a-z]:", re.IGNORECASE)
_WITHOUT_LETTER = re.compile(r"harddiskvolume\d+", re.IGNORECASE)
_PHYSICAL = re.compile(r"\d+(?: [a-z]:)*", re.IGNORECASE)
_PROCESSOR = re.compile(r"\d+(?:,\d+)?")


def same_instance(instance: str, others: Iterable[str]) -> str | None:
    """The instance among `others` that is the same disk or processor, or holds the volume; None if there is none."""
    if _VOLUME.fullmatch(instance):
        return next((one for one in others if instance.casefold() in letters(one)), None)
    if _PROCESSOR.fullmatch(instance):
        return same_processor(instance, others)
    own = letters(instance)
    return next((one for one in others if one.casefold() == own[0]), None) if len(own) == 1 else None


def holds(instance: str, others: Iterable[str]) -> str | None:
    """The same, and for a volume without a letter any physical disk: it lies on one of them."""
    if _WITHOUT_LETTER.fullmatch(instance):
        return next((one for one in others if _PHYSICAL.fullmatch(one)), None)
    return same_instance(instance, others)


def is_volume(instance: str) -> bool:
    """Whether it is a volume with a letter: `C:`."""
    return _VOLUME.fullmatch(instance) is not None


def is_physical(instance: str) -> bool:
    """Whether it is named as a physical disk is: `0 C:`."""
    return _PHYSICAL.fullmatch(instance) is not None


def letters(instance: str) -> list[str]:
    """The volumes of a physical disk, in lower case; empty for any other instance."""
    return instance.casefold().split()[1:] if _PHYSICAL.fullmatch(instance) else []
