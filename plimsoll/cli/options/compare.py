"""`plimsoll compare`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import (
    EncodingOption,
    FormatOption,
    FromOption,
    JsonOption,
    LastOption,
    NamesOption,
    OnlyOption,
    PackOption,
    StoreOption,
    ToOption,
    WholeRunOption,
    ZoneOption,
    not_empty,
    path_option,
)


class FailOn(StrEnum):
    """For what the exit status is 1."""

    REGRESSION = "regression"


DetailsOption = Annotated[
    bool, typer.Option("--details", help="Print all of it on a terminal: every signal, and a table of the runs.")
]


def compare_command(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Two runs or more: a log, a folder of logs, or run:NAME for a run in a store. The first is the "
            "baseline, or the first --baseline of them; each of the others is compared with it.",
            metavar="RUN...",
            show_default=False,
        ),
    ],
    phase: Annotated[
        str | None,
        typer.Option(
            "--phase",
            metavar="NAME",
            help="The phase to judge by: steady, ramp-up, or 'whole run'. Default: steady where both runs have it.",
            callback=not_empty,
        ),
    ] = None,
    match_hosts: Annotated[
        bool,
        typer.Option("--match-hosts", help="Compare hosts of other names in order, if both runs have as many of them."),
    ] = False,
    baseline: Annotated[
        int,
        typer.Option(
            "--baseline",
            metavar="N",
            min=1,
            help="How many of the runs, from the first, are the baseline: 5 to 10 runs of one build show by how much "
            "runs differ.",
        ),
    ] = 1,
    pack: PackOption = None,
    only: OnlyOption = None,
    from_: FromOption = None,
    to: ToOption = None,
    last: LastOption = None,
    steady: Annotated[
        str | None,
        typer.Option("--steady", metavar="FROM/TO", help="When the load of each run was steady: 10:22/12:00."),
    ] = None,
    whole_run: WholeRunOption = False,
    zone: ZoneOption = None,
    config: Annotated[
        Path | None,
        path_option(
            "--config",
            "Phases, host facts, changed thresholds and how to compare, for all runs. Default: plimsoll.toml beside "
            "the logs of each run; how to compare is read from that of the baseline.",
        ),
    ] = None,
    out: Annotated[Path | None, path_option("--out", "Write the comparison as one HTML file.")] = None,
    json: JsonOption = None,
    junit: Annotated[
        Path | None, path_option("--junit", "Write JUnit XML: a suite per run, a case per signal and host.")
    ] = None,
    markdown: Annotated[
        Path | None, path_option("--markdown", "Write a summary in Markdown, as for a pull request; - for stdout.")
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="Exit with status 1 if a run is worse than the baseline."),
    ] = None,
    details: DetailsOption = False,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    store: StoreOption = None,
) -> None:
    """Compare runs with a baseline: what became worse or better, by how much, and what did not change."""
    from plimsoll.api.run_comparison import How
    from plimsoll.api.run_review import Options
    from plimsoll.cli.commands import compare
    from plimsoll.cli.commands.compare import Outputs
    from plimsoll.cli.inputs import typed_inputs

    inputs = typed_inputs(runs, zone, format_, encoding, names, store, (from_, to, last))
    options = Options(tuple(pack or ()), tuple(only or ()), steady, config, whole_run)
    outputs = Outputs(out, json, junit, fail_on.value if fail_on else None, markdown, details)
    raise typer.Exit(compare.run(inputs, options, How(phase, match_hosts, baseline), outputs))
