"""The three formats of Performance Monitor: PDH-CSV, PDH-TSV, and what typeperf prints."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.ingest.formats.perfmon.columns import columns_of, tell_columns, tell_twins, unread_columns
from plimsoll.ingest.formats.perfmon.header import no_paths, read_header, zone_of
from plimsoll.ingest.formats.perfmon.layout import Layout
from plimsoll.ingest.formats.perfmon.rows import Table, read_rows
from plimsoll.ingest.formats.perfmon.typeperf import with_blanks_for_no_data
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.shared.clock import in_order, to_utc
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log, Times
from plimsoll.model.remark import Remarks
from plimsoll.model.times import Zone


@dataclass(frozen=True)
class _Format:
    """One of the formats: how its header begins, after a quote, and what separates cells."""

    NAME: str
    signs: tuple[bytes, ...]
    separator: str

    def sniff(self, text: Text) -> bool:
        """Whether the first line is a header of this format."""
        return text.header.lstrip(b'"').startswith(self.signs)

    def read(self, text: Text, how: Reading) -> Log:
        """Read the log. Unusable if its header, rows or times cannot be read for certain."""
        remarks = Remarks(str(text.path))
        log = read_pdh(with_blanks_for_no_data(text, remarks), self.NAME, self.separator, how)
        return replace(log, remarks=(*remarks, *log.remarks))


CSV = _Format("PDH-CSV", (b"(PDH-CSV 4.0) (", b"(PDH-CSV 4.0)("), ",")
TSV = _Format("PDH-TSV", (b"(PDH-TSV 4.0)",), "\t")
# typeperf writes no time zone.
TYPEPERF = _Format("typeperf", (b'(PDH-CSV 4.0)"', b"(PDH-CSV 4.0),"), ",")


def read_pdh(text: Text, format_: str, separator: str, how: Reading) -> Log:
    """Read a log whose first line is a PDH header."""
    file = str(text.path)
    remarks, of_rows = Remarks(file), Remarks(file)
    header = read_header(text, separator, remarks)
    zone = zone_of(header.cells[0], how.zone, remarks)
    counters = header.cells[1:]
    layout = Layout(file, text.header, header.offset, header.line, separator, counters)
    # polars parses the rows outside of Python, while Python looks up the names of the counters.
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(read_rows, text, layout, of_rows)
        columns = columns_of(file, counters, how.names)
        if columns is None:
            raise no_paths(text)
        table = rows.result()
    tell_columns(columns, counters, table.columns, remarks)
    remarks.items += of_rows
    times, order = _times(table, zone, remarks)
    values = tuple(table.columns[at] for at in columns.kept)
    if order is not None:
        values = tuple(pl.DataFrame(values)[order].get_columns())
    tell_twins(columns, values, times, remarks)
    unread = tuple(counters[at] for at in unread_columns(columns, table.columns, table.unread))
    return Log(text.path, format_, times, values, columns.series, zone, tuple(remarks), unread=unread)


def _times(table: Table, zone: Zone, remarks: Remarks) -> tuple[Times, NDArray[np.intp] | None]:
    """UTC instants in ascending order, and the order of the rows if that had to change."""
    instants = to_utc(table.local.cast(pl.Int64).to_numpy(), zone, table.lines, remarks, table.headers)
    return in_order(instants, table.lines, table.headers, remarks)
