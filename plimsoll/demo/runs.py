"""Writes the two simulated runs of the study, each a folder with a log per host and plimsoll.toml."""

import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from plimsoll.demo.ocs import TIME_S, simulate
from plimsoll.demo.site import BIAS_MINUTES, ZONE, Array, DemoServer
from plimsoll.demo.study import CORES, DURATION_S, INTERVAL_S, LOGON_RATE, SETUPS, STEADY_FROM_S, StudySetup
from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.ingest.read import find_logs, read_files
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.runs.load import load
from plimsoll.model.atomic import write_atomically
from plimsoll.model.times import SECOND, convert_to_instant
from plimsoll.store.store import Store

CLOCK = WallClock("W. Europe Standard Time", BIAS_MINUTES)
FIRST_DAY = datetime(2008, 1, 15, 10, 2, tzinfo=ZONE)
FACTS = "plimsoll.toml"
_FRONT_END = DemoServer(processors=CORES, clock_mhz=2800, memory_mb=4096, disks={"0 C:": Array(spindles=2)})


def write_runs(out: Path) -> list[Path]:
    """Write the healthy run and the run with trouble to `out`; return the folder of each run.

    Each folder contains a PDH-CSV log per host, and `plimsoll.toml`. The output is always the same, byte for byte.
    """
    # On different days, so that a store can hold both.
    return [_write_run(out / setup.memory, setup, FIRST_DAY + timedelta(days=day)) for day, setup in enumerate(SETUPS)]


def _write_run(folder: Path, setup: StudySetup, start: datetime) -> Path:
    """Write the logs and the plimsoll.toml of one run, and return its folder."""
    times = convert_to_instant(start) + TIME_S.astype(np.int64) * SECOND
    for host, columns in simulate(setup).items():
        paths = [(f"\\\\{host}{path}", values) for path, values in columns.items()]
        write_pdh(folder / f"{host}.csv", CLOCK, times, paths)
    disks = {
        "0 C:": Array(spindles=2),
        "1 D:": Array(spindles=2, drive="log"),
        "2 E:": Array(spindles=4, drive="database"),
    }
    write_facts(
        folder,
        'OCS 2007 on HP BladeSystem" (2008).',
        f"{LOGON_RATE} users/s, {setup.memory.replace('GB', ' GB')}",
        {"logon_rate": str(LOGON_RATE), "memory": setup.memory},
        [start + timedelta(seconds=at) for at in (0, STEADY_FROM_S - INTERVAL_S, STEADY_FROM_S, DURATION_S)],
        {
            "SQLSRV01": DemoServer(processors=CORES, clock_mhz=2800, memory_mb=setup.sql_memory_mb, disks=disks),
            "OCSFE01": _FRONT_END,
            "OCSFE02": _FRONT_END.model_copy(update={"clock_mhz": 3000}),  # Test topology: one with AMD, one with Intel
        },
    )
    return folder


def write_facts(
    folder: Path,
    document: str,
    name: str,
    labels: Mapping[str, str],
    times: list[datetime],
    hosts: Mapping[str, DemoServer],
) -> None:
    """Write the plimsoll.toml of a run.

    `times` are four: the start and the end of the ramp-up phase, then of the steady phase.
    """
    listed = ", ".join(f'{label} = "{value}"' for label, value in labels.items())
    lines = [f'# Simulated data, modelled on "{document}', "[run]", f'name = "{name}"', "simulated = true"]
    lines.append(f"labels = {{ {listed} }}")
    for phase, start, end in zip(("ramp-up", "steady"), times[::2], times[1::2], strict=True):
        lines += ["", "[[run.phases]]", f'name = "{phase}"', f"from = {start.isoformat()}", f"to = {end.isoformat()}"]
    for host, server in hosts.items():
        lines += ["", f"[hosts.{host}]", f"processors = {server.processors}", f"clock_mhz = {server.clock_mhz}"]
        lines.append(f"memory_mb = {server.memory_mb}")
        if server.disks:
            lines += ["", f"[hosts.{host}.instances]"]
        for instance, array in server.disks.items():
            raid = f", raid = {array.raid}" if array.raid is not None else ""
            drive = f', drive = "{array.drive}"' if array.drive else ""
            lines.append(f'"{instance}" = {{ spindles = {array.spindles}{raid}{drive} }}')
    with write_atomically(folder / FACTS) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def load_demo_runs(store: Store) -> None:
    """Load the two demo runs, which are named by the memory of their simulated servers, into a store."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-demo-runs-", ignore_cleanup_errors=True) as folder:
        for logs in write_runs(Path(folder)):
            contents = read_files(find_logs([logs]), ReadOptions(), whole=True)
            load(store, run_to_store(contents, f"demo {logs.name}", {}, None, None), contents.logs)
