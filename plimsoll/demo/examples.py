"""Writes the small examples: several systems, each in a healthy run and in one with limits crossed.

`python -m plimsoll.demo.examples` writes them to examples/. The output is always the same, byte for byte.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import files
from pathlib import Path

from plimsoll.demo.runs import CLOCK, write_facts
from plimsoll.demo.sadf import write_sadf
from plimsoll.demo.site import DemoSite, load_site, simulate
from plimsoll.ingest.convert.write_pdh import write_pdh
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


def _write_site(out: Path, site: DemoSite) -> Iterator[Path]:
    for run in (HEALTHY, TROUBLE):
        folder = out / run
        for host in site.hosts:
            columns = simulate(site, host, trouble=run == TROUBLE)
            if site.format == "sadf":
                write_sadf(folder / f"{host}.csv", site, host, columns)
            else:
                paths = [(f"\\\\{host}{path}", values) for path, values in columns.items()]
                write_pdh(folder / f"{host}.csv", CLOCK, site.times, paths)
        times = [0, site.steady_from_s - site.interval_s, site.steady_from_s, 60 * site.minutes]
        write_facts(
            folder,
            f'{site.document}".',
            f"{site.title}, {run}",
            {"system": out.name, "run": run},
            [site.begin + timedelta(seconds=at) for at in times],
            site.hosts,
        )
        yield folder
    with atomic_write(out / TROUBLE / EXPECTED) as partial:
        text = json.dumps({"crossed": _expected(site)}, indent=2)
        partial.write_text(text + "\n", encoding="utf-8", newline="\n")


def _expected(site: DemoSite) -> list[dict[str, str | None]]:
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


if __name__ == "__main__":
    write_examples(Path(__file__).parents[2] / "examples")
