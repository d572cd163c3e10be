"""Writes the simulated runs: one folder per run, with a log per host and plimsoll.toml."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from plimsoll.demo.ocs import TIME_S, simulate
from plimsoll.demo.study import CORES, DURATION_S, INTERVAL_S, LOGON_RATE, SETUPS, STEADY_FROM_S, Setup
from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.model.atomic import atomic_write
from plimsoll.model.times import SECOND, instant

ZONE_NAME, BIAS_MINUTES = "W. Europe Standard Time", -60
FIRST_DAY = datetime(2008, 1, 15, 10, 2, tzinfo=timezone(timedelta(minutes=-BIAS_MINUTES)))
FACTS = "plimsoll.toml"


def write_runs(out: Path) -> list[Path]:
    """Write both runs to `out`. The output is always the same, byte for byte.

    Returns:
        The folders of the runs. Each contains a PDH-CSV log per host, and `plimsoll.toml`.
    """
    # On different days, so that a store can hold both.
    return [_write_run(out / setup.memory, setup, FIRST_DAY + timedelta(days=day)) for day, setup in enumerate(SETUPS)]


def _write_run(folder: Path, setup: Setup, start: datetime) -> Path:
    times = instant(start) + TIME_S.astype(np.int64) * SECOND
    for host, columns in simulate(setup).items():
        paths = [(f"\\\\{host}{path}", values) for path, values in columns.items()]
        write_pdh(folder / f"{host}.csv", WallClock(ZONE_NAME, BIAS_MINUTES), times, paths)
    with atomic_write(folder / FACTS) as partial:
        partial.write_text(_facts(setup, start), encoding="utf-8", newline="\n")
    return folder


def _facts(setup: Setup, start: datetime) -> str:
    name = setup.memory.replace("GB", " GB")
    return f"""\
# Simulated data, modelled on "OCS 2007 on HP BladeSystem" (2008).
[run]
name = "{LOGON_RATE} users/s, {name}"
simulated = true
labels = {{ logon_rate = "{LOGON_RATE}", memory = "{setup.memory}" }}

[[run.phases]]
name = "ramp-up"
from = {_at(start, 0)}
to = {_at(start, STEADY_FROM_S - INTERVAL_S)}

[[run.phases]]
name = "steady"
from = {_at(start, STEADY_FROM_S)}
to = {_at(start, DURATION_S)}

[hosts.SQLSRV01]
processors = {CORES}
clock_mhz = 2800
memory_mb = {setup.sql_memory_mb}

[hosts.SQLSRV01.instances]
"0 C:" = {{ spindles = 2 }}
"1 D:" = {{ spindles = 2, drive = "log" }}
"2 E:" = {{ spindles = 4, drive = "database" }}
""" + "".join(
        f"""
[hosts.{host}]
processors = {CORES}
clock_mhz = {clock_mhz}
memory_mb = 4096

[hosts.{host}.instances]
"0 C:" = {{ spindles = 2 }}
"""
        for host, clock_mhz in (("OCSFE01", 2800), ("OCSFE02", 3000))  # Test topology: one with AMD, one with Intel
    )


def _at(start: datetime, seconds: int) -> str:
    return (start + timedelta(seconds=seconds)).isoformat()
