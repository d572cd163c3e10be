"""Writes the small examples: several systems, each in a healthy run and in one with limits crossed.

`python -m plimsoll.demo.examples` writes them to examples/. The output is always the same, byte for byte.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from plimsoll.demo.active_directory import ACTIVE_DIRECTORY
from plimsoll.demo.directories import DYNAMIC, MEMBERSHIP
from plimsoll.demo.file_server import FILE_SERVER
from plimsoll.demo.linux_today import LINUX_TODAY
from plimsoll.demo.messaging import MESSAGING
from plimsoll.demo.openldap import OPENLDAP
from plimsoll.demo.runs import FACTS
from plimsoll.demo.sites.read import site
from plimsoll.demo.sql_server_today import SQL_SERVER_TODAY
from plimsoll.demo.tables import Changes, Host, System, simulate
from plimsoll.demo.windows_today import WINDOWS_TODAY
from plimsoll.model.atomic import atomic_write
from plimsoll.model.times import SECOND, instant, iso

SYSTEMS = (
    *(DYNAMIC, MEMBERSHIP, FILE_SERVER, OPENLDAP, MESSAGING),
    *(WINDOWS_TODAY, LINUX_TODAY, SQL_SERVER_TODAY, ACTIVE_DIRECTORY),
    *map(site, ("exchange", "web-server", "hyper-v-cluster", "network-services", "file-and-print")),
    *map(site, ("session-hosts", "sharepoint", "skype-for-business", "business-applications")),
    *map(site, ("reporting-services", "vmware-guest", "sql-server-replica")),
)
HEALTHY, TROUBLE = "healthy", "trouble"
EXPECTED = "expected.json"
_QUIET: Changes = {}


def write_examples(out: Path) -> list[Path]:
    """Write the runs of all systems to `out`.

    Returns:
        The folders of the runs. Each contains a log per host and `plimsoll.toml`; a run with trouble also contains
        `expected.json`, the crossings that a review must find, with their times.
    """
    return [folder for system in SYSTEMS for folder in _write(out / system.folder, system)]


def _write(out: Path, system: System) -> Iterator[Path]:
    for run, changes in ((HEALTHY, _QUIET), (TROUBLE, system.changes)):
        folder = out / run
        for host in system.hosts:
            system.write(folder, system, host, simulate(system, host, changes))
        _write_text(folder / FACTS, _facts(system, run))
        yield folder
    _write_text(out / TROUBLE / EXPECTED, json.dumps({"crossed": _expected(system)}, indent=2) + "\n")


def _expected(system: System) -> list[dict[str, str | None]]:
    start = instant(system.start)
    return [
        {
            "rule": breach.rule,
            "host": breach.host,
            "instance": breach.instance,
            "start": iso(start + breach.start * SECOND),
            "end": iso(start + breach.end * SECOND),
            "why": breach.why,
        }
        for breach in system.breaches
    ]


def _facts(system: System, run: str) -> str:
    return f"""\
# Simulated data, modelled on "{system.document}".
[run]
name = "{system.title}, {run}"
simulated = true
labels = {{ system = "{system.folder}", run = "{run}" }}

[[run.phases]]
name = "ramp-up"
from = {_at(system, 0)}
to = {_at(system, system.steady_from_s - system.interval_s)}

[[run.phases]]
name = "steady"
from = {_at(system, system.steady_from_s)}
to = {_at(system, 60 * system.minutes)}
""" + "".join(_host(host) for host in system.hosts)


def _host(host: Host) -> str:
    lines = [
        "",
        f"[hosts.{host.name}]",
        f"processors = {host.processors}",
        f"clock_mhz = {host.clock_mhz}",
        f"memory_mb = {host.memory_mb}",
    ]
    if host.disks:
        lines += ["", f"[hosts.{host.name}.instances]"]
        for instance, array in host.disks.items():
            made = f", raid = {array.raid}" if array.raid is not None else ""
            holds = f', drive = "{array.drive}"' if array.drive else ""
            lines.append(f'"{instance}" = {{ spindles = {array.spindles}{made}{holds} }}')
    return "\n".join(lines) + "\n"


def _at(system: System, seconds: int) -> str:
    return (system.start + timedelta(seconds=seconds)).isoformat()


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_examples(Path(__file__).parents[2] / "examples")
