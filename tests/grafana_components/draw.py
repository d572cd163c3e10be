"""Draws dashboards to pictures: `python -m tests.grafana_components.draw [NAME...] --out FOLDER`.

Names are those of the dashboards' files without `.json`; all of them without names. Writes for each dashboard and range
a picture of the whole, one of each panel, and report.json with what the components say.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from tests.grafana_components import packages
from tests.grafana_components.drawing import chromium, drawing
from tests.grafana_components.filled import LIVE, RUNS, kept
from tests.grafana_components.site import serving

DASHBOARDS = Path(__file__).parents[2] / "dashboards" / "grafana"


def main() -> None:
    """Draw the dashboards that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--dashboards", type=Path, default=DASHBOARDS, help="the folder of the JSON files")
    parser.add_argument("--out", type=Path, default=Path("build/grafana"), help="where the pictures go")
    parser.add_argument("--range", action="append", choices=[LIVE, *RUNS], help="the data shown; live by default")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE", help="the value of a variable")
    parser.add_argument("--panels", action="store_true", help="also a picture of each panel")
    parser.add_argument("--as-saved", action="store_true", help="leave closed rows closed")
    parser.add_argument("--dark", action="store_true", help="in Grafana's dark theme")
    parser.add_argument("--keep", type=Path, help="a folder for the InfluxDB, filled the first time and used again")
    options = parser.parse_args()
    packages.install()
    given = {}
    for name, _, value in (one.partition("=") for one in options.var):
        given.setdefault(name, []).append(value)
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch, "page")
        packages.bundle(built)
        with (
            kept(options.keep or Path(scratch, "influxdb")) as filled,
            serving(built, filled.bucket) as address,
            chromium() as browser,
            drawing(browser, address) as page,
        ):
            for path in sorted(options.dashboards.glob("*.json")):
                if options.names and path.stem not in options.names:
                    continue
                for name in options.range or [LIVE]:
                    begun = time.monotonic()
                    more = {"opened": not options.as_saved, "mode": "dark" if options.dark else "light", "given": given}
                    report = page.draw(json.loads(path.read_text("utf-8")), *filled.ranges[name], **more)
                    folder = options.out / path.stem / name.replace("/", "-")
                    page.picture(folder / "whole.png")
                    if options.panels:
                        page.pictures_of_panels(folder)
                    (folder / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False), "utf-8")
                    empty = sum(panel["empty"] for panel in report["panels"])
                    print(
                        f"{folder}: {len(report['panels'])} panels, {empty} empty, {len(report['complaints'])} complaints, "
                        f"{report['opening']} queries on opening, "
                        f"{time.monotonic() - begun:.1f} s"
                    )


if __name__ == "__main__":
    main()
