"""`plimsoll compare`; `plimsoll runs judge` compares in the same way."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import typer

from plimsoll.api.compare import CompareOptions, ComparisonResult, compare_inputs
from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings
from plimsoll.cli import args
from plimsoll.cli.console import find_width, print_remarks
from plimsoll.cli.long_work import show_progress, use_memory_freely
from plimsoll.cli.outputs import Outputs
from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.doubts import list_doubts
from plimsoll.comparison.summary import Answer, answer
from plimsoll.model.errors import Unusable
from plimsoll.report.comparison.document import format_lines
from plimsoll.report.comparison.document import format_markdown as markdown_text

app = args.make_command_app()


@app.command(
    "compare",
    epilog=args.format_examples(
        "plimsoll compare before/ after/", "plimsoll compare run:nightly-41 run:nightly-42 --fail-on regression"
    ),
)
def compare(
    runs: list[str] = typer.Argument(
        ...,
        help="Two runs or more: a log, a folder of logs, or run:NAME for a run in a store. The first is the "
        "baseline, or the first --baseline of them; each of the others is compared with it.",
        metavar="RUN...",
    ),
    phase: str | None = typer.Option(
        None,
        "--phase",
        metavar="NAME",
        help="The phase to judge by: steady, ramp-up, or 'whole run'. Default: steady where both runs have it.",
        callback=args.refuse_empty,
    ),
    match_hosts: bool = typer.Option(
        False, "--match-hosts", help="Match hosts with different names in order, if both runs have equally many."
    ),
    baseline: int = typer.Option(
        1,
        "--baseline",
        metavar="N",
        min=1,
        help="How many of the first runs are the baseline: 5 to 10 runs of one build show how much runs vary.",
    ),
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
    from_: args.FromOption = None,
    to: args.ToOption = None,
    last: args.LastOption = None,
    host: args.HostOption = None,
    match: args.MatchOption = None,
    steady: str | None = typer.Option(
        None, "--steady", metavar="FROM/TO", help="When the load of each run was steady: 10:22/12:00."
    ),
    whole_run: args.WholeRunOption = False,
    zone: args.ZoneOption = None,
    config: Path | None = args.path_option(
        None,
        "--config",
        "Phases, host facts, changed thresholds and how to compare, for all runs. Default: plimsoll.toml beside "
        "the logs of each run; how to compare is read from that of the baseline.",
    ),
    out: Path | None = args.path_option(None, "--out", "Write the comparison as one HTML file."),
    json: args.JsonOption = None,
    junit: Path | None = args.path_option(
        None, "--junit", "Write JUnit XML: a suite per run, a case per signal and host."
    ),
    markdown: args.MarkdownOption = None,
    fail_on: Literal["regression"] | None = typer.Option(
        None, "--fail-on", help="Exit with status 1 if a run is worse than the baseline."
    ),
    details: args.DetailsOption = False,
    format_: args.FormatOption = None,
    encoding: args.EncodingOption = None,
    names: args.NamesOption = None,
    store: args.StoreOption = None,
) -> None:
    """Compare runs with a baseline: what became worse or better, by how much, and what did not change."""
    inputs = args.parse_inputs(runs, zone, format_, encoding, names, store, (from_, to, last), (host, match))
    options = ReviewSettings(tuple(pack or ()), tuple(only or ()), steady, config, whole_run)
    comparisons = write_comparison(
        inputs,
        options,
        CompareOptions(phase, match_hosts, baseline),
        Outputs(out, json, junit, markdown),
        details=details,
    )
    raise typer.Exit(choose_exit_status(comparisons) if fail_on else 0)


def write_comparison(
    inputs: Inputs, options: ReviewSettings, compare_options: CompareOptions, outputs: Outputs, *, details: bool
) -> Sequence[Comparison]:
    """Compare each run (a source of `inputs`) with the baseline, write the outputs, and return the comparisons."""
    use_memory_freely()
    with show_progress("Comparing", inputs) as counted:
        comparisons = compare_inputs(counted, options, compare_options)
    sides = [*comparisons[0].baselines, *(comparison.second for comparison in comparisons)]
    zone = inputs.requested_zone
    outputs.refuse_overwriting([log for side in sides for log in side.review.logs], *inputs.names, options.config)
    result = ComparisonResult(tuple(comparisons), zone)
    columns = find_width()  # output for another program is never shortened
    outputs.write(
        report=result.to_html,
        json=result.to_json,
        junit=lambda: _format_junit(comparisons),
        markdown=lambda: markdown_text(comparisons),
        lines=lambda: format_lines(comparisons, zone, columns, all_of_it=details or columns is None),
    )
    print_remarks(list(dict.fromkeys(str(remark) for side in sides for remark in side.review.remarks)))
    return comparisons


def _format_junit(comparisons: Sequence[Comparison]) -> str:
    from plimsoll.report.comparison.suites import build_suites
    from plimsoll.report.render.junit import render_junit

    return render_junit("plimsoll compare", build_suites(comparisons))


def choose_exit_status(comparisons: Sequence[Comparison]) -> int:
    """Return 1 if a run is worse than the baseline, else 0. Raise Unusable if this is unknown for a run."""
    verdicts = [answer(comparison) for comparison in comparisons]
    if Answer.WORSE in verdicts:
        return 1
    for comparison, verdict in zip(comparisons, verdicts, strict=True):
        if verdict == Answer.UNKNOWN:
            name = comparison.second.name
            raise Unusable(f"--fail-on cannot say that {name} is not worse: {'; '.join(list_doubts(comparison))}")
    return 0
