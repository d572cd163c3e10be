"""`plimsoll demo`."""

import sys
from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.api.run_review import Options, review_inputs
from plimsoll.cli.commands import up
from plimsoll.cli.console import print_line, print_lines
from plimsoll.cli.outputs import write_text
from plimsoll.demo.runs import write_runs
from plimsoll.insights.insights import Insights
from plimsoll.report import terminal
from plimsoll.report.html.render import render


def run(out: Path, *, serve: bool = False) -> None:
    """Write the simulated runs, review each, and write a report beside its logs.

    `serve`: on a terminal, then serve the pages of `plimsoll up --demo`.
    """
    for folder in write_runs(out):
        report = folder / "report.html"
        result = Insights(review_inputs(Inputs((str(folder),)), Options()))
        write_text(report, render(result))
        print_lines([*terminal.in_brief(result), (f"  Report: {report}",), ()])
    if serve and sys.stdin.isatty() and sys.stdout.isatty():
        up.run(up.Options(demo=True, open_page=True))
    else:
        print_line("Both runs and live data of this computer in a browser: plimsoll up --demo")
