"""Writes the small examples: several systems, each in a healthy run and in one with limits crossed.

`python -m plimsoll.demo.examples` writes them to examples/. The output is always the same, byte for byte.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import files
from pathlib import Path

from plimsoll.demo.runs import FACTS, ZONE_NAME
from plimsoll.demo.sadf import write_sadf
from plimsoll.demo.site import BIAS_MINUTES, Server, Site, load_site, simulate
from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.model.atomic import atomic_write
from plimsoll.model.times import SECOND, instant, iso

SITES = tuple(sorted(Path(file.name).stem for file in files("plimsoll.demo.sites").iterdir() if "yaml" in file.name))
HEALTHY, TROUBLE = "healthy", "trouble"
EXPECTED = "expected.json"


def write_examples(out: Path) -> list[Path]:
    """Write the runs of all systems to `out`.

    Returns:
        The folders of the runs. Each contains a log per host and `plimsoll.toml`; a run with trouble also contains
        `expected.json`, the crossings that a review must find, with their times.
    """
    return [folder for name in SITES for folder in _write_site(out / name, load_site(name))]


def _write_site(out: Path, site: Site) -> Iterator[Path]:
    for run in (HEALTHY, TROUBLE):
        folder = out / run
        for host in site.hosts:
            columns = simulate(site, host, trouble=run == TROUBLE)
            if site.format == "sadf":
                write_sadf(folder / f"{host}.csv", site, host, columns)
            else:
                paths = [(f"\\\\{host}{path}", values) for path, values in columns.items()]
                write_pdh(folder / f"{host}.csv", WallClock(ZONE_NAME, BIAS_MINUTES), site.times, paths)
        _write_text(folder / FACTS, _facts(site, out.name, run))
        yield folder
    _write_text(out / TROUBLE / EXPECTED, json.dumps({"crossed": _expected(site)}, indent=2) + "\n")


def _expected(site: Site) -> list[dict[str, str | None]]:
    start = instant(site.begin)
    return [
        {
            "rule": breach.rule,
            "host": breach.host,
            "instance": breach.instance,
            "start": iso(start + breach.start * SECOND),
            "end": iso(start + (breach.end or 0) * SECOND),
            "why": breach.why,
        }
        for breach in site.breaches
    ]


def _facts(site: Site, name: str, run: str) -> str:
    return f"""\
# Simulated data, modelled on "{site.document}".
[run]
name = "{site.title}, {run}"
simulated = true
labels = {{ system = "{name}", run = "{run}" }}

[[run.phases]]
name = "ramp-up"
from = {_at(site, 0)}
to = {_at(site, site.steady_from_s - site.interval_s)}

[[run.phases]]
name = "steady"
from = {_at(site, site.steady_from_s)}
to = {_at(site, 60 * site.minutes)}
""" + "".join(_host(host, server) for host, server in site.hosts.items())


def _host(name: str, server: Server) -> str:
    lines = [
        "",
        f"[hosts.{name}]",
        f"processors = {server.processors}",
        f"clock_mhz = {server.clock_mhz}",
        f"memory_mb = {server.memory_mb}",
    ]
    if server.disks:
        lines += ["", f"[hosts.{name}.instances]"]
        for instance, array in server.disks.items():
            raid = f", raid = {array.raid}" if array.raid is not None else ""
            drive = f', drive = "{array.drive}"' if array.drive else ""
            lines.append(f'"{instance}" = {{ spindles = {array.spindles}{raid}{drive} }}')
    return "\n".join(lines) + "\n"


def _at(site: Site, seconds: int) -> str:
    return (site.begin + timedelta(seconds=seconds)).isoformat()


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_examples(Path(__file__).parents[2] / "examples")
