"""`plimsoll demo`."""

from pathlib import Path

from demo.runs import write_runs
from plimsoll.commands.review import Asked, review_named
from plimsoll.console import plain, say, stdout
from plimsoll.files import write_text
from plimsoll.sources import Named
from report import terminal
from report.html.render import render


def run(out: Path) -> None:
    """Write the simulated runs, review each, and leave a report beside its logs."""
    for folder in write_runs(out):
        report = folder / "report.html"
        result, _ = review_named(Named((str(folder),)), Asked())
        terminal.show(result, stdout())
        write_text(report, render(result))
        say(f"\nReport: {plain(str(report))}\n")
