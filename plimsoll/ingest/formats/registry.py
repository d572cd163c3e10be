"""The formats that are read. A new one takes a folder here, and a line in FORMATS."""

from typing import Protocol

from plimsoll.ingest.formats import sadf
from plimsoll.ingest.formats.blg import read as blg
from plimsoll.ingest.formats.load_results import gatling, jmeter_csv, jmeter_xml, k6_csv, k6_json, locust
from plimsoll.ingest.formats.perfmon import read as perfmon
from plimsoll.ingest.formats.resaved import read as resaved
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log


class Format(Protocol):
    """What a format offers: a module, or an object, with these three names."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of the format, as people write it."""
        ...

    def sniff(self, text: Text) -> bool:
        """Whether the content is of this format."""
        ...

    def read(self, text: Text, how: Reading) -> Log:
        """Read it. Unusable, with what to do, if it is of this format but cannot be read for certain."""
        ...


# Binary formats are told from the bytes of a file as they stand, before these are taken for text.
BINARY: tuple[Format, ...] = (blg,)

# The first format that takes a log reads it. A log that was saved again often has the header that was recorded, so that
# the formats of what was recorded take it, too.
FORMATS: tuple[Format, ...] = (
    *BINARY,
    resaved,
    perfmon.CSV,
    perfmon.TSV,
    perfmon.TYPEPERF,
    sadf,
    jmeter_csv,
    jmeter_xml,
    k6_csv,
    k6_json,
    gatling,
    locust,
)
