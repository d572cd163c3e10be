"""`plimsoll review`."""

from dataclasses import dataclass
from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.api.run_review import Options, review_inputs
from plimsoll.cli.console import print_line, print_lines, print_remarks, width
from plimsoll.cli.memory import soon_ends
from plimsoll.cli.outputs import STDOUT, refuse_overwriting, write_json, write_text
from plimsoll.cli.waiting import working_on
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unusable
from plimsoll.report import terminal
from plimsoll.review.doubts import doubts_text
from plimsoll.review.findings import CROSSED
from plimsoll.review.review import Review
from plimsoll.review.verdict import Verdict


@dataclass(frozen=True)
class Outputs:
    """The files to write, and the lowest severity for which the exit status is 1."""

    report: Path | None = None
    json: Path | None = None
    junit: Path | None = None
    fail_on: str | None = None
    details: bool = False
    appendix: bool = False


def run(inputs: Inputs, options: Options, outputs: Outputs) -> int:
    """Review a run and write the results; returns the exit status."""
    soon_ends()
    for option, path in (("--out", outputs.report), ("--junit", outputs.junit)):
        if path == STDOUT:
            raise Unusable(f"{option} - is not supported: name a file, it is written as a whole or not at all")
    with working_on("Reviewing", inputs.sources):
        insights = Insights(review_inputs(inputs, options))
    result = insights.review
    zone = inputs.requested_zone
    also_read = [*inputs.names, *([options.config] if options.config else [])]
    refuse_overwriting(result.logs, outputs.report, outputs.json, outputs.junit, also_read=also_read)
    if outputs.report is not None:
        from plimsoll.report.html.render import render  # noqa: PLC0415  only the HTML report needs jinja2

        write_text(outputs.report, render(insights, zone, appendix=outputs.appendix))
    if outputs.json is not None:
        from plimsoll.report.json import ReviewDocument  # noqa: PLC0415  its schema is slow to make

        write_json(outputs.json, ReviewDocument.model_validate(insights).model_dump_json(by_alias=True, indent=2))
    if outputs.junit is not None:
        from plimsoll.report.junit import junit  # noqa: PLC0415  as few want it

        write_text(outputs.junit, junit(result, zone))
    if outputs.json != STDOUT:
        print_lines(terminal.lines(insights, zone, width(), all_of_it=outputs.details))
        if outputs.report is not None:
            print_line()
            print_line(f"Report: {outputs.report}")
    print_remarks(result.remarks)
    return _status(result, outputs.fail_on)


def _status(result: Review, fail_on: str | None) -> int:
    """The exit status. Unusable if --fail-on is given and it is not known whether the run was healthy."""
    if fail_on is None:
        return 0
    failing = ("critical",) if fail_on == "critical" else ("critical", "warning")
    if any(finding.rule.severity in failing for finding in result.of(*CROSSED)):
        return 1
    if result.verdict == Verdict.UNKNOWN or result.doubts:
        why = doubts_text(result.doubts) if result.doubts else result.answer
        raise Unusable(f"--fail-on cannot say that the run was good: {why}")
    return 0
