"""Binary logs of Performance Monitor (BLG), as Windows Vista and later write them."""

from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log

NAME = "BLG"
# The end of an event's header, and the pointer size in bytes by the kind of a system event.
MARKER = 0xC0
SYSTEM = {1: 4, 2: 8}
_FIRST_EVENT = 72  # after the header of the first buffer


def sniff(text: Text) -> bool:
    """Return whether the file begins with the system header of a Windows trace (ETL), the container of a binary log."""
    head = text.data[_FIRST_EVENT : _FIRST_EVENT + 4]
    return len(head) == 4 and head[2] in SYSTEM and head[3] == MARKER


def read(text: Text, options: ReadOptions) -> Log:
    """Return the log. Raise Unusable if the kind of log is not supported, or if the file is damaged before its end."""
    from plimsoll.ingest.formats.blg.read_blg import read_blg  # noqa: PLC0415  each log is sniffed, and few are binary

    return read_blg(text, options)
