"""`plimsoll capacity`."""

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
    ZoneOption,
    not_empty,
    path_option,
)


def capacity_command(
    logs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Logs of a run; folders and run:NAME are runs of their own. None for a profile with costs.",
            metavar="RUN...",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            help="What users do: a .yaml file, or a shipped one such as membership-directory.",
            callback=not_empty,
        ),
    ] = None,
    users: Annotated[
        float | None, typer.Option("--users", min=1, help="What so many users need. Default: those of the profile.")
    ] = None,
    peak_factor: Annotated[
        float, typer.Option("--peak-factor", min=1, help="How many times as many users there are at the peak.")
    ] = 1,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            metavar="NAME=TIME",
            help="The longest response time: response_p95=500ms. Repeat for more.",
            show_default=False,
        ),
    ] = None,
    pack: PackOption = None,
    only: OnlyOption = None,
    growth: Annotated[
        str | None,
        typer.Option("--growth", metavar="RATE", help="When --users of today reach the limit: 3%/month, 200/week."),
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option(
            "--what-if", metavar="HOST.processors=N", help="Other processors; repeatable.", show_default=False
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="HOST",
            help="Hosts like it do its work; repeatable.",
            show_default=False,
        ),
    ] = None,
    from_: FromOption = None,
    to: ToOption = None,
    last: LastOption = None,
    zone: ZoneOption = None,
    config: Annotated[
        Path | None,
        path_option("--config", "Host facts, objective, changed limits. Default: plimsoll.toml beside the logs."),
    ] = None,
    out: Annotated[Path | None, path_option("--out", "Write a report with curves as one HTML file.")] = None,
    json: JsonOption = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    store: StoreOption = None,
) -> None:
    """Say how much load a system can carry, and what runs out first.

    From a run whose load rises, or from several runs: each folder and each run:NAME is one. A profile says what users
    do; those of studies have its costs, too, and need no run.
    """
    from plimsoll.api.run_review import Options
    from plimsoll.cli.commands import capacity
    from plimsoll.cli.inputs import typed_inputs

    inputs = typed_inputs(logs or (), zone, format_, encoding, names, store, (from_, to, last))
    changes = tuple(what_if or ()), tuple(without or ())
    question = capacity.Question(profile, users, peak_factor, tuple(objective or ()), growth, *changes)
    capacity.run(inputs, Options(tuple(pack or ()), tuple(only or ()), None, config), question, json, out)
