"""Measures what opening a dashboard costs: how many queries Grafana sends, and how fast InfluxDB answers them.

    python bench/grafana_queries.py [FOLDER...] [--hosts 20] [--hours 24] [--repeats 3] [--keep FOLDER]

FOLDER has the JSON files of dashboards, by default dashboards/grafana; several are compared, such as those of two
checkouts: run it in the newer one, which knows the variables of both. Starts an InfluxDB (build it with
`python3 -m plimsoll.native.build influxd`) and writes a sample of each signal every 10 s, as Telegraf does. Panels in
closed rows send no query, nor do queries that are hidden and that no expression uses. With --keep, the data is kept in
a folder and reused, also by bench/alert_queries.py.
"""

import argparse
import json
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import alert_queries

from plimsoll.export.grafana.check.panel_queries import Question, questions
from plimsoll.native.influx import InfluxDB

DASHBOARDS = Path(__file__).parents[1] / "dashboards" / "grafana"


def on_opening(data: Mapping[str, Any]) -> Iterator[Question]:
    """Yield the queries that Grafana sends when a dashboard is opened."""
    closed = {panel["id"] for row in data["panels"] if row.get("collapsed") for panel in row.get("panels", ())}
    for question in questions(data):
        if question.panel.get("id") not in closed and not _unused(question):
            yield question


def _unused(question: Question) -> bool:
    used = " ".join(target.get("expression", "") for target in question.panel.get("targets", ()))
    ref = question.target.get("refId", "")
    return bool(question.target.get("hide")) and not re.search(rf"\$\{{?{ref}\b", used)


def measure(made: dict[str, str], folder: Path, hours: int, repeats: int) -> dict[str, list[float]]:
    """Answer the queries of each dashboard in a folder. Returns their times (ms) by the name of the dashboard."""
    start_ms = alert_queries.START_S * 1_000
    end_ms = start_ms + hours * 3_600_000
    took: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.json")):
        asked = [question.asked(start_ms, end_ms) for question in on_opening(json.loads(path.read_text("utf-8")))]
        took[path.stem] = [min(alert_queries.answer_ms(made, query) for _ in range(repeats)) for query in asked]
    return took


def show(folder: Path, took: Mapping[str, list[float]]) -> None:
    """Print a line for each dashboard, and one for all."""
    print(f"{folder}\n{'dashboard':<18}{'queries':>8}{'p50':>8}{'p95':>8}{'max':>8}{'sum':>8}  ms")
    for name, times in [*took.items(), ("all", [one for each in took.values() for one in each])]:
        p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
        found = (statistics.median(times), p95, max(times), sum(times))
        print(f"{name:<18}{len(times):>8}" + "".join(f"{one:>8.0f}" for one in found))


def main() -> None:
    """Fill an InfluxDB unless it was kept, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept: Path = options.keep or Path(folder)
        done = kept / "filled"
        with InfluxDB(kept) as made:
            if not done.exists():
                alert_queries.fill(made, options.hosts, options.hours)
                done.touch()
            for one in options.folders or [DASHBOARDS]:
                show(one, measure(made, one, options.hours, options.repeats))


if __name__ == "__main__":
    main()
