"""PDH-TSV 4.0: the same as PDH-CSV with tabs between the cells."""

from ingest.formats.perfmon.read_pdh import read_pdh
from ingest.reading import Reading
from ingest.shared.text import Text
from model.log import Log

NAME = "PDH-TSV"
_SIGN = b"(PDH-TSV 4.0)"


def sniff(text: Text) -> bool:
    """Whether the first line is a PDH-TSV header."""
    return text.header.lstrip(b'"').startswith(_SIGN)


def read(text: Text, how: Reading) -> Log:
    """Read the log; Unusable if its rows or times cannot be."""
    return read_pdh(text, NAME, "\t", how)
