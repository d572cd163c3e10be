"""The commands on logs: `plimsoll demo`, `show`, `convert`, `review`, `compare` and `ingest`."""

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
    LogArgument,
    NamesOption,
    OnlyOption,
    PackOption,
    StoreOption,
    ToOption,
    WholeRunOption,
    ZoneOption,
    path_option,
)


class FailOn(StrEnum):
    """The lowest severity for which the exit status is 1."""

    WARNING = "warning"
    CRITICAL = "critical"


class Target(StrEnum):
    """The formats a log can be converted to."""

    CSV = "csv"
    PARQUET = "parquet"
    LP = "lp"


def demo_command(
    out: Annotated[Path, path_option("--out", "The folder to write to.")] = Path("demo-run"),
    no_serve: Annotated[bool, typer.Option("--no-serve", help="End after the reports.")] = False,
) -> None:
    """Write logs of a simulated system, with enough memory and with too little, and review them.

    On a terminal this then serves the pages of plimsoll up --demo, with both runs and live data of this computer.
    """
    from plimsoll.cli.commands import demo

    demo.run(out, serve=not no_serve)


def show_command(
    logs: LogArgument,
    zone: ZoneOption = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    from_: FromOption = None,
    to: ToOption = None,
    last: LastOption = None,
    store: StoreOption = None,
    json: JsonOption = None,
) -> None:
    """Show what is in a log: host, time zone, interval, span, counters, remarks.

    --from, --to and --last are only for live:HOST.
    """
    from plimsoll.cli.commands import show
    from plimsoll.cli.inputs import typed_inputs

    inputs = typed_inputs(logs, zone, format_, encoding, names, store, (from_, to, last))
    show.run(inputs, json)


def convert_command(
    log: Annotated[
        str, typer.Argument(help="A log; - for standard input; run:NAME; live:HOST.", metavar="LOG", show_default=False)
    ],
    as_: Annotated[
        Target,
        typer.Option(
            "--as",
            help="csv (as Performance Monitor writes it), parquet (a column each) or lp (InfluxDB line protocol).",
        ),
    ],
    out: Annotated[Path, path_option("--out", "The file to write.", show_default=False)],
    counter: Annotated[
        list[str] | None,
        typer.Option(
            "--counter",
            help="Keep counters whose path matches; * is any text: 'Processor(*)\\% Processor Time'. Repeat for more.",
            show_default=False,
        ),
    ] = None,
    from_: FromOption = None,
    to: ToOption = None,
    last: LastOption = None,
    every: Annotated[int, typer.Option("--every", min=1, help="Keep every n-th row.")] = 1,
    zone: ZoneOption = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    store: StoreOption = None,
) -> None:
    """Write a log in another format, whole or in part."""
    from plimsoll.cli.commands import convert
    from plimsoll.cli.inputs import typed_inputs

    options = convert.Options(as_.value, out, tuple(counter or ()), every)
    inputs = typed_inputs([log], zone, format_, encoding, names, store, (from_, to, last))
    convert.run(inputs, options)


def review_command(
    logs: LogArgument,
    pack: PackOption = None,
    only: OnlyOption = None,
    from_: FromOption = None,
    to: ToOption = None,
    last: LastOption = None,
    steady: Annotated[
        str | None, typer.Option("--steady", metavar="FROM/TO", help="When the load was steady: 10:22/12:00.")
    ] = None,
    whole_run: WholeRunOption = False,
    zone: ZoneOption = None,
    config: Annotated[
        Path | None,
        path_option(
            "--config",
            "Phases, host facts and changed thresholds. Default: plimsoll.toml beside the logs.",
        ),
    ] = None,
    out: Annotated[Path | None, path_option("--out", "Write the report as one HTML file.")] = None,
    appendix: Annotated[
        bool,
        typer.Option("--appendix", help="Also on paper and in PDF: what held, statistics, texts of rules."),
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Print all of it: what limits, spikes, trends, every limit, the packs.")
    ] = False,
    json: JsonOption = None,
    junit: Annotated[
        Path | None, path_option("--junit", "Write JUnit XML: a suite per pack, a case per rule and host.")
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="Exit with status 1 if a threshold of this severity or above was crossed."),
    ] = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    store: StoreOption = None,
) -> None:
    """Check the counters of a run against their documented thresholds."""
    from plimsoll.api.run_review import Options
    from plimsoll.cli.commands import review
    from plimsoll.cli.inputs import typed_inputs

    inputs = typed_inputs(logs, zone, format_, encoding, names, store, (from_, to, last))
    options = Options(tuple(pack or ()), tuple(only or ()), steady, config, whole_run)
    outputs = review.Outputs(out, json, junit, fail_on.value if fail_on else None, details, appendix)
    raise typer.Exit(review.run(inputs, options, outputs))


def ingest_command(
    logs: Annotated[
        list[str],
        typer.Argument(help="Logs or folders of logs; - for standard input.", metavar="LOG...", show_default=False),
    ],
    run: Annotated[str, typer.Option("--run", help="The name of the run.", show_default=False)],
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="K=V", help="A label of the run; repeat for more.", show_default=False),
    ] = None,
    store: StoreOption = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Load even if the store has data of the same hosts and times.")
    ] = False,
    config: Annotated[
        Path | None, path_option("--config", "Labels, phases and host facts. Default: plimsoll.toml beside the logs.")
    ] = None,
    zone: ZoneOption = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
) -> None:
    """Load the logs of a run into a store. Repeat a call that was interrupted: it continues."""
    from plimsoll.cli.commands import ingest
    from plimsoll.cli.inputs import typed_inputs

    inputs = typed_inputs(logs, zone, format_, encoding, names, store)
    ingest.run(inputs, ingest.Options(run, tuple(label or ()), config, merge))
