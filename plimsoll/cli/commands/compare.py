"""`plimsoll compare`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.api.run_comparison import How, compare_inputs
from plimsoll.api.run_review import Options
from plimsoll.cli.console import print_line, print_lines, print_remarks, width
from plimsoll.cli.memory import soon_ends
from plimsoll.cli.outputs import STDOUT, refuse_overwriting, write_json, write_text
from plimsoll.cli.waiting import working_on
from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.doubts import doubts
from plimsoll.comparison.story import Answer, answer
from plimsoll.model.errors import Unusable
from plimsoll.report.comparison.document import suites
from plimsoll.report.comparison.json_document import document
from plimsoll.report.comparison.text import lines, markdown
from plimsoll.report.render.junit import render_junit


@dataclass(frozen=True)
class Outputs:
    """The files to write, and for what the exit status is 1."""

    report: Path | None = None
    json: Path | None = None
    junit: Path | None = None
    fail_on: str | None = None
    markdown: Path | None = None
    details: bool = False


def run(inputs: Inputs, options: Options, how: How, outputs: Outputs) -> int:
    """Compare each run with the baseline; returns the exit status. `inputs` names a run with each of its sources."""
    for option, path in (("--out", outputs.report), ("--junit", outputs.junit)):
        if path == STDOUT:
            raise Unusable(f"{option} - is not supported: name a file, it is written as a whole or not at all")
    soon_ends()
    with working_on("Comparing", inputs.sources):
        comparisons = compare_inputs(inputs, options, how)
    sides = [*comparisons[0].baselines, *(comparison.second for comparison in comparisons)]
    zone = inputs.requested_zone
    also_read = [*inputs.names, *([options.config] if options.config else [])]
    logs = [log for side in sides for log in side.review.logs]
    refuse_overwriting(logs, outputs.report, outputs.json, outputs.junit, outputs.markdown, also_read=also_read)
    if outputs.report is not None:
        from plimsoll.report.comparison.html import render  # noqa: PLC0415  only the HTML report needs jinja2

        write_text(outputs.report, render(comparisons, zone))
    if outputs.json is not None:
        write_json(outputs.json, document(comparisons).model_dump_json(by_alias=True, indent=2))
    if outputs.junit is not None:
        write_text(outputs.junit, render_junit("plimsoll compare", suites(comparisons)))
    if outputs.markdown == STDOUT:
        print_lines((line,) for line in markdown(comparisons).splitlines())
    elif outputs.markdown is not None:
        write_text(outputs.markdown, markdown(comparisons))
    if STDOUT not in (outputs.json, outputs.markdown):
        columns = width()  # what goes to another program is never cut
        print_lines(lines(comparisons, zone, columns, all_of_it=outputs.details or columns is None))
        if outputs.report is not None:
            print_line()
            print_line(f"Report: {outputs.report}")
    print_remarks(list(dict.fromkeys(str(one) for side in sides for one in side.review.remarks)))
    return _status(comparisons, outputs.fail_on)


def _status(comparisons: Sequence[Comparison], fail_on: str | None) -> int:
    """The exit status. Unusable if --fail-on is given and it is not known whether a run is worse."""
    if fail_on is None:
        return 0
    answers = [answer(one) for one in comparisons]
    if Answer.WORSE in answers:
        return 1
    for one, said in zip(comparisons, answers, strict=True):
        if said == Answer.UNKNOWN:
            raise Unusable(f"--fail-on cannot say that {one.second.name} is not worse: {'; '.join(doubts(one))}")
    return 0
