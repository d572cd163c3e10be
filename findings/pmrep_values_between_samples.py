"""PCP's pmrep prints values that nobody recorded, by the interval that it is asked for.

PCP 6.0.3. Guess: `pmrep -a ARCHIVE -o csv` prints the samples of an archive. It prints one row a second, or every
`-t`, whatever was recorded. Counters are interpolated between samples: printed raw, a counter that was restarted and
went from 500 to 50 counts down over 275. Instant values are those of the sample before: with an interval of three
samples a peak is printed or not, by where it lies. And a restart anywhere in an interval leaves the rate of the whole
interval empty. With `-u` the samples themselves are printed.

Seen, for 0, 100, ..., 500, 50, 150 every 10 s and 1, 2, 3, 4, 10, 6, 7, 8: 275 between 500 and 50 (`-r -t 5s`); 1, 4, 7
of the gauge and a rate of 10, then none (`-t 30s`), though only one of three samples was after the restart
"""

import sys
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding
from programs import START

_PACKAGES = ("pcp", "pcp-conf", "libpcp3", "libpcp-import1", "libpcp-archive1", "libpcp-gui2", "python3-pcp")
_WRITE = f"""
import cpmapi
from pcp import pmi
log = pmi.pmiLogImport("archive")
log.pmiSetHostname("web1")
log.pmiSetTimezone("UTC")
count = log.pmiUnits(0, 0, 1, 0, 0, cpmapi.PM_COUNT_ONE)
log.pmiAddMetric("run.count", log.pmiID(245, 0, 0), cpmapi.PM_TYPE_U64, cpmapi.PM_INDOM_NULL,
                 cpmapi.PM_SEM_COUNTER, count)
log.pmiAddMetric("run.level", log.pmiID(245, 0, 1), cpmapi.PM_TYPE_DOUBLE, cpmapi.PM_INDOM_NULL,
                 cpmapi.PM_SEM_INSTANT, log.pmiUnits(0, 0, 0, 0, 0, 0))
for position, values in enumerate(zip((0, 100, 200, 300, 400, 500, 50, 150), (1, 2, 3, 4, 10, 6, 7, 8))):
    log.pmiPutValue("run.count", "", str(values[0]))
    log.pmiPutValue("run.level", "", str(values[1]))
    log.pmiWrite({START} + 10 * position, 0)
"""


def probe(folder: Path) -> None:
    """Write an archive of eight samples and print it at other intervals."""
    root = install_debian_package(folder, *(f"{package}=6.0.3-1.1" for package in _PACKAGES))
    paths = (root / "etc/pcp.conf").read_text("utf-8").replace("=/", f"={root}/")
    (folder / "pcp.conf").write_text(paths, "utf-8")
    environment = {
        "PCP_CONF": str(folder / "pcp.conf"),
        "LD_LIBRARY_PATH": str(root / "usr/lib"),
        # Python looks for libraries where the system has them; loaded ahead, their functions are there.
        "LD_PRELOAD": "libpcp.so.3:libpcp_import.so.1:libpcp_archive.so.1",
        "PYTHONPATH": str(root / "usr/lib/python3/dist-packages"),
        "TZ": "UTC",
    }
    output_of([sys.executable, "-c", _WRITE], folder, **environment)

    def columns(*options: str) -> list[list[str]]:
        command = [sys.executable, root / "usr/bin/pmrep", "-a", "archive", "-o", "csv", *options]
        rows = output_of([*command, "run.count", "run.level"], folder, **environment).splitlines()[1:]
        return [list(column) for column in zip(*(row.split(",")[1:] for row in rows), strict=True)]

    raw = columns("-r", "-t", "5s")[0]
    expect(raw[10:13], ["500", "275", "50"], "a counter over its restart")
    expect(columns("-t", "30s"), [["", "10.000", ""], ["1.000", "4.000", "7.000"]], "rate and gauge every 30 s")
    expect(columns("-u")[1], [f"{value}.000" for value in (1, 2, 3, 4, 10, 6, 7, 8)], "the samples")


if __name__ == "__main__":
    run_finding(probe)
