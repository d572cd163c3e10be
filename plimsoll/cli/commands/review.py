"""`plimsoll review`."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import typer

from plimsoll.api.review import ReviewResult, ReviewSettings, review_inputs
from plimsoll.cli import args
from plimsoll.cli.console import find_width, print_remarks
from plimsoll.cli.long_work import show_progress, use_memory_freely
from plimsoll.cli.outputs import Outputs
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unusable
from plimsoll.report import terminal_summary
from plimsoll.review.doubts import join_doubts
from plimsoll.review.findings import CROSSED
from plimsoll.review.review import Review
from plimsoll.review.verdict import Verdict

app = args.make_command_app()


@app.command(
    "review",
    epilog=args.format_examples(
        "plimsoll review perfmon.blg",
        "plimsoll review logs/ --out report.html",
        "plimsoll review logs/ --steady 10:22/12:00 --fail-on warning",
        "plimsoll review live:WEB01 --last 2h",
    ),
)
def review(
    logs: args.LogArgument,
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
    from_: args.FromOption = None,
    to: args.ToOption = None,
    last: args.LastOption = None,
    host: args.HostOption = None,
    match: args.MatchOption = None,
    steady: str | None = typer.Option(
        None, "--steady", metavar="FROM/TO", help="When the load was steady: 10:22/12:00."
    ),
    whole_run: args.WholeRunOption = False,
    zone: args.ZoneOption = None,
    config: Path | None = args.path_option(
        None, "--config", "Phases, host facts and changed thresholds. Default: plimsoll.toml beside the logs."
    ),
    out: Path | None = args.path_option(None, "--out", "Write the report as one HTML file."),
    appendix: bool = typer.Option(
        False,
        "--appendix",
        help="Print on paper and in PDF also the signals within limits, statistics, and texts of rules.",
    ),
    details: bool = typer.Option(
        False, "--details", help="Print everything: bottleneck, spikes, trends, every limit, the packs."
    ),
    json: args.JsonOption = None,
    junit: Path | None = args.path_option(
        None, "--junit", "Write JUnit XML: a suite per pack, a case per rule and host."
    ),
    fail_on: Literal["warning", "critical"] | None = typer.Option(
        None, "--fail-on", help="Exit with status 1 if a threshold of this severity or above was crossed."
    ),
    format_: args.FormatOption = None,
    encoding: args.EncodingOption = None,
    names: args.NamesOption = None,
    store: args.StoreOption = None,
) -> None:
    """Check the counters of a run against their documented thresholds."""
    inputs = args.parse_inputs(logs, zone, format_, encoding, names, store, (from_, to, last), (host, match))
    inputs = replace(inputs, partly=not (out or json or junit or details))  # those have statistics of all counters
    options = ReviewSettings(tuple(pack or ()), tuple(only or ()), steady, config, whole_run)
    outputs = Outputs(out, json, junit)
    use_memory_freely()
    with show_progress("Reviewing", inputs) as counted:
        insights = Insights(review_inputs(counted, options))
    judged, time_zone = insights.review, inputs.requested_zone
    outputs.refuse_overwriting(judged.logs, *inputs.names, config)

    def report_text() -> str:
        from plimsoll.report.html.render import render  # only the HTML report needs jinja2

        return render(insights, time_zone, appendix=appendix)

    def junit_text() -> str:
        from plimsoll.report.junit_suite import format_junit

        return format_junit(judged, time_zone)

    outputs.write(
        report=report_text,
        json=ReviewResult(insights, time_zone).to_json,
        junit=junit_text,
        lines=lambda: terminal_summary.format_lines(insights, time_zone, find_width(), all_of_it=details),
    )
    print_remarks(judged.remarks)
    raise typer.Exit(choose_exit_status(judged, fail_on) if fail_on else 0)


def choose_exit_status(judged: Review, fail_on: str) -> int:
    """Return 1 if a limit of severity `fail_on` or above was crossed, else 0.

    Raise Unusable if it is unknown whether the run was healthy.
    """
    failing = ("critical",) if fail_on == "critical" else ("critical", "warning")
    if any(finding.rule.severity in failing for finding in judged.of(*CROSSED)):
        return 1
    if judged.verdict == Verdict.UNKNOWN or judged.doubts:
        why = join_doubts(judged.doubts) if judged.doubts else judged.answer
        raise Unusable(f"--fail-on cannot say that the run was good: {why}")
    return 0
