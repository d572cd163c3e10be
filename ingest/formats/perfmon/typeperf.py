"""What typeperf prints: PDH-CSV without a time zone, with chatter around it."""

from ingest.formats.perfmon.read_pdh import read_pdh
from ingest.reading import Reading
from ingest.shared.text import Text
from model.log import Log

NAME = "typeperf"
_SIGNS = (b'(PDH-CSV 4.0)"', b"(PDH-CSV 4.0),")


def sniff(text: Text) -> bool:
    """Whether the first line is a PDH-CSV header whose first cell names no zone."""
    return text.header.lstrip(b'"').startswith(_SIGNS)


def read(text: Text, how: Reading) -> Log:
    """Read the log; Unusable if its rows or times cannot be."""
    return read_pdh(text, NAME, ",", how)
