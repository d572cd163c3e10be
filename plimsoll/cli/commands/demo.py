"""`plimsoll demo`."""

import sys
from pathlib import Path

import typer

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.cli import args
from plimsoll.cli.commands import up
from plimsoll.cli.console import print_line, print_lines
from plimsoll.cli.outputs import write_text
from plimsoll.demo.runs import write_runs
from plimsoll.insights.insights import Insights
from plimsoll.report import terminal_summary
from plimsoll.report.html.render import render

app = args.make_command_app()


@app.command("demo", epilog=args.format_examples("plimsoll demo", "plimsoll demo --no-serve --out simulated"))
def demo(
    out: Path = args.path_option(Path("demo-run"), "--out", "The folder to write to."),
    no_serve: bool = typer.Option(False, "--no-serve", help="End after the reports."),
) -> None:
    """Write logs of a simulated system, with enough memory and with too little, and review them.

    On a terminal this then serves the pages of plimsoll up --demo, with both runs and live data of this computer.
    """
    for folder in write_runs(out):
        report = folder / "report.html"
        insights = Insights(review_inputs(Inputs((str(folder),)), ReviewSettings()))
        write_text(report, render(insights))
        print_lines([*terminal_summary.summarize_review(insights), (f"  Report: {report}",), ()])
    if not no_serve and sys.stdin.isatty() and sys.stdout.isatty():
        up.run(up.UpOptions(demo=True, open_page=True))
    else:
        print_line("Both runs and live data of this computer in a browser: plimsoll up --demo")
