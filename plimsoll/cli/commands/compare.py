"""`plimsoll compare`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.cli.commands.review import Options, Outputs, reviewed
from plimsoll.cli.console import print_line, print_lines, print_remarks
from plimsoll.cli.inputs import Inputs
from plimsoll.cli.outputs import STDOUT, refuse_overwriting, write_json, write_text
from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.story import Answer, answer, doubts
from plimsoll.comparison.treatments import Treatments, checked
from plimsoll.hosts.settings import Settings
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unusable
from plimsoll.report.comparison import terminal
from plimsoll.report.comparison.json_document import document
from plimsoll.report.comparison.junit import junit
from plimsoll.review.review import Review


@dataclass(frozen=True)
class How:
    """How to compare, as typed: the phase to judge by, and whether hosts of other names are matched in order."""

    phase: str | None = None
    match_hosts: bool = False


def run(inputs: Inputs, options: Options, how: How, outputs: Outputs) -> int:
    """Compare each run with the first; returns the exit status. `inputs` names a run with each of its sources."""
    for option, path in (("--out", outputs.report), ("--junit", outputs.junit)):
        if path == STDOUT:
            raise Unusable(f"{option} - is not supported: name a file, it is written as a whole or not at all")
    if len(inputs.sources) < 2:
        raise Unusable("compare needs two runs or more: logs, folders or run:NAME; the first is the baseline")
    read = [reviewed(replace(inputs, sources=(source,)), options) for source in inputs.sources]
    baseline, *others = sides(inputs.sources, [review for review, _, _ in read])
    _, path, given = read[0]
    treatments = _treatments(baseline.review, path, given)
    comparisons = [Comparison(baseline, other, treatments, how.match_hosts, how.phase) for other in others]
    zone = inputs.requested_zone
    also_read = [*inputs.names, *([options.config] if options.config else [])]
    logs = [log for side in (baseline, *others) for log in side.review.logs]
    refuse_overwriting(logs, outputs.report, outputs.json, outputs.junit, also_read=also_read)
    if outputs.report is not None:
        from plimsoll.report.comparison.html import render  # noqa: PLC0415  only the HTML report needs jinja2

        write_text(outputs.report, render(comparisons, zone))
    if outputs.json is not None:
        write_json(outputs.json, document(comparisons).model_dump_json(by_alias=True, indent=2))
    if outputs.junit is not None:
        write_text(outputs.junit, junit(comparisons))
    if outputs.json != STDOUT:
        print_lines(terminal.lines(comparisons, zone))
        if outputs.report is not None:
            print_line()
            print_line(f"Report: {outputs.report}")
    for side in (baseline, *others):
        print_remarks(side.review.remarks)
    return _status(comparisons, outputs.fail_on)


def sides(sources: Sequence[str], reviews: Sequence[Review]) -> list[Side]:
    """The runs by their names, or as they were named on the command line where names are missing or alike."""
    names = [review.run.name or "" for review in reviews]
    if not all(names) or len(set(names)) < len(names):
        names = [Path(source).name or source for source in sources]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return [Side(name, source, Insights(review)) for name, source, review in zip(names, sources, reviews, strict=True)]


def _treatments(baseline: Review, path: Path | None, given: Settings) -> Treatments:
    return checked(given.compare, path, baseline.question.signals)


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
