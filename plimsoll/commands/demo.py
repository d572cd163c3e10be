"""`plimsoll demo`."""

from pathlib import Path

from demo.runs import write_runs
from plimsoll.commands.review import Options, review_inputs
from plimsoll.console import print_lines
from plimsoll.inputs import Inputs
from plimsoll.outputs import write_text
from report import terminal
from report.html.render import render


def run(out: Path) -> None:
    """Write the simulated runs, review each, and write a report beside its logs."""
    for folder in write_runs(out):
        report = folder / "report.html"
        result = review_inputs(Inputs((str(folder),)), Options())
        print_lines(terminal.lines(result))
        write_text(report, render(result))
        print_lines([(), (f"Report: {report}",), ()])
