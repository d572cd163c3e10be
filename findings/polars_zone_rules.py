"""polars 2.1.0 reads a winter log of Vancouver an hour off, and hands out another instant than it was given.

polars 2.1.0 beside tzdata 2026.6 of PyPI. Guess: a library of 2026 uses the zones of the system or of the package
tzdata. polars carries rules compiled into it. British Columbia has no winter time from 2026 on (UTC-7 all year);
polars still puts it at UTC-8. Worse, a value taken out of a column is built from polars' clock face and Python's
zone: another instant.

Seen, of 2026-12-01 12:00 UTC: zoneinfo 05:00-07:00; polars hour 4, offset -8 h, value 04:00-07:00, which is 11:00
UTC
"""

import zoneinfo
from datetime import UTC, datetime, timedelta
from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Convert one instant of the coming winter."""
    use_python_packages(folder, "polars==2.1.0", "tzdata==2026.6")
    zoneinfo.reset_tzpath(to=())  # the package, not what this system has
    import polars

    zone = "America/Vancouver"
    instant = datetime(2026, 12, 1, 12, tzinfo=UTC)
    expect(instant.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset(), timedelta(hours=-7), "zoneinfo's offset")
    column = polars.Series([instant]).dt.convert_time_zone(zone)
    expect(column.dt.hour()[0], 4, "the hour that polars shows")
    expect(column.dt.base_utc_offset()[0] + column.dt.dst_offset()[0], timedelta(hours=-8), "polars' offset")
    expect(column[0] - instant, timedelta(hours=-1), "what a value taken out differs from the instant put in")


if __name__ == "__main__":
    run_finding(probe)
