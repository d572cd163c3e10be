r"""What Windows NT 4's Performance Monitor exports: recognised, and refused with what to do.

The file begins with a block (`Reported on \\HOST`, date, time, data, interval), and the names of a
column stand in several lines above the samples. In what order is neither documented nor seen in a
real file, so which cell is a counter and which an object or instance cannot be told for certain.
"""

import re

from ingest.reading import Reading
from ingest.shared.shorten import short
from ingest.shared.text import Text
from model.errors import Unusable
from model.log import Log

NAME = "NT4"
_BLOCK = re.compile(rb'"?Reported on[ \t,:"]*\\\\(?P<host>[^\s,"]+)', re.IGNORECASE)
_SAMPLE = re.compile(rb'^"?\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"?[ ,\t]+"?\d{1,2}[:.]\d\d', re.MULTILINE)


def sniff(text: Text) -> bool:
    """Whether the file begins with the block of NT 4's export."""
    return _BLOCK.match(text.header) is not None


def read(text: Text, how: Reading) -> Log:
    """Always Unusable, with what to do."""
    del how
    line, start, _ = text.first_line
    found = _BLOCK.match(text.header)
    host = short(found["host"].decode("ascii", errors="replace")) if found else "HOST"
    sample = _SAMPLE.search(text.data, start)
    where = ""
    if sample:
        number = text.data[: sample.start()].count(b"\n") + 1
        where = f" (the first seems to be line {number})"
    raise Unusable(
        f"{text.path}:{line}: is an export of Windows NT 4's Performance Monitor, in which the order of the lines that "
        f"name counter, instance and object is not documented; put one line above the samples{where}, "
        f"(PDH-CSV 4.0),\\\\{host}\\Object(Instance)\\Counter and so on for each column, delete what is before it, "
        "and write each time in one cell as MM/DD/YYYY HH:MM:SS.000"
    )
