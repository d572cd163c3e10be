"""Counters as they come out of a recording, before they are columns of a log."""

from dataclasses import dataclass
from typing import NamedTuple

from plimsoll.ingest.formats.blg.cooking import Flags
from plimsoll.ingest.formats.blg.counter_types import CounterType
from plimsoll.ingest.formats.blg.refused import Refused
from plimsoll.model.log import Values

_LEAST_ROOM = 256 << 20
_ROOM = 32  # bytes of a log for each byte of its file


class Column(NamedTuple):
    """A counter of one instance: its values, NaN where there is none, and whether the instance was there."""

    host: str
    object: str
    instance: str | None
    counter: str
    type: CounterType
    values: Values
    there: Flags


@dataclass
class Room:
    """How many cells a log may still have, so that a small file cannot fill the memory."""

    size: int
    taken: int = 0

    def take(self, cells: int, of: str) -> None:
        """Count cells. Refused if they are too many."""
        self.taken += 8 * cells
        if self.taken > max(_LEAST_ROOM, _ROOM * self.size):
            raise Refused(
                f"has so many instances that come and go ({of}) that a table of them needs over {_ROOM} times the "
                "bytes of the file"
            )


class Block(NamedTuple):
    """A block of a sample: from where to where it is in the sample's bytes."""

    data: bytes
    start: int
    end: int
