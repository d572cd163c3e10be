"""Telegraf's csv serializer writes one header, and then rows whose columns are not the header's.

Telegraf 1.37.2. Guess: the columns are those of the header, with an empty cell where a metric lacks a field. Each
metric writes its own tags and fields in the order of their names, and nothing for what it lacks: a value moves into
the column of another field, and a row has fewer cells, or more. The header, if it is asked for, is that of the
first metric.

Seen: header `timestamp,measurement,host,a,b,c`; without b `...,m,a,1,3`, where 3 is c and stands under b
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, convert_once, install_telegraf


def probe(folder: Path) -> None:
    """Write metrics with other fields than the first."""
    telegraf = install_telegraf(folder)
    lines = ("m,host=h a=1,b=2,c=3", "m,host=h a=1,c=3", "m,host=h,cpu=c0 a=1")
    (folder / "lines").write_text("".join(f"{line} {START}000000000\n" for line in lines), "utf-8")
    plugin = f'[[inputs.file]]\n  files = ["{folder}/lines"]\n  data_format = "influx"'
    rows = convert_once(telegraf, folder, plugin, '  data_format = "csv"\n  csv_header = true')
    expect(
        rows,
        ["timestamp,measurement,host,a,b,c", f"{START},m,h,1,2,3", f"{START},m,h,1,3", f"{START},m,c0,h,1"],
        "the file",
    )


if __name__ == "__main__":
    run_finding(probe)
