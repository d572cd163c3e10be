"""While a service hangs, Locust's history repeats the last response times, and the requests that hang are in no row
of it.

Locust 2.47.0. Guess: a request counts when it is sent, or as a failure when the run ends before its answer. It
counts when it is answered: of a service that answers five times and then hangs, every row until the end has 5
requests, no failure and the percentiles of the five.

Seen, over 6 s: totals 5 and 0 failures to the end; the 95th percentile of the last rows equal, below 1000 ms
"""

import csv
import sys
from pathlib import Path

from common import expect, output_of, run_finding, serve_pages, use_python_packages

_USER = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.1)
    visits = 0

    @task
    def visit(self):
        Visitor.visits += 1
        self.client.get("/" if Visitor.visits <= 5 else "/hang")
"""


def probe(folder: Path) -> None:
    """Run one user against a service that hangs from the sixth request on."""
    packages = use_python_packages(folder, "locust==2.47.0")
    (folder / "visitor.py").write_text(_USER, "utf-8")
    options = [
        "--headless",
        "-u",
        "1",
        "-r",
        "1",
        "-t",
        "6s",
        "--csv",
        "run",
        "--csv-full-history",
        "--stop-timeout",
        "1",
    ]
    with serve_pages() as url:
        command = [sys.executable, "-m", "locust", "-f", "visitor.py", "--host", url, *options]
        output_of(command, folder, PYTHONPATH=str(packages))
    with (folder / "run_stats_history.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Name"] == "Aggregated"]
    expect(rows[-1]["Total Request Count"], "5", "requests at the end")
    expect(rows[-1]["Total Failure Count"], "0", "failures at the end")
    last = [float(row["95%"]) for row in rows[-2:]]
    expect(last[0] == last[1] < 1000, True, f"whether the last percentiles, {last}, repeat those of the answers")


if __name__ == "__main__":
    run_finding(probe)
