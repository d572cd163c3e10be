"""PDH-CSV 4.0: what Performance Monitor, relog and Export-Counter write."""

from ingest.formats.perfmon.read_pdh import read_pdh
from ingest.reading import Reading
from ingest.shared.text import Text
from model.log import Log

NAME = "PDH-CSV"
_SIGNS = (b"(PDH-CSV 4.0) (", b"(PDH-CSV 4.0)(")


def sniff(text: Text) -> bool:
    """Whether the first line is a PDH-CSV header that goes on with a zone."""
    return text.header.lstrip(b'"').startswith(_SIGNS)


def read(text: Text, how: Reading) -> Log:
    """Read the log; Unusable if its rows or times cannot be."""
    return read_pdh(text, NAME, ",", how)
