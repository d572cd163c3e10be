"""`plimsoll grafana`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.options.shared import OnlyOption, PackOption, path_option


class Source(StrEnum):
    """The agents whose names for things signals know."""

    WINDOWS = "windows"
    TELEGRAF = "telegraf"
    SYSSTAT = "sysstat"


app = typer.Typer(help="Files for Grafana.", no_args_is_help=True, rich_markup_mode=None)


@app.command("export")
def grafana_export_command(
    out: Annotated[
        Path,
        path_option("--out", "The folder in which rules/grafana and dashboards/grafana are written."),
    ] = Path(),
    config: Annotated[
        Path | None,
        path_option("--config", "Host facts and thresholds set otherwise (plimsoll.toml)."),
    ] = None,
    email: Annotated[
        list[str] | None, typer.Option("--email", help="Who is told by e-mail; repeat for more.", show_default=False)
    ] = None,
    webhook: Annotated[str | None, typer.Option("--webhook", help="An address that is told as well.")] = None,
    interval: Annotated[
        str, typer.Option("--interval", help="How far samples lie apart; short windows are widened to twice that.")
    ] = "10s",
    packs: PackOption = None,
    only: OnlyOption = None,
    source: Annotated[
        list[Source] | None,
        typer.Option(
            "--source",
            help="Rules over what this agent records, and no others; repeat for more.",
            show_default=False,
        ),
    ] = None,
    docs: Annotated[
        str | None, typer.Option("--docs", help="Where the rules' pages are. Default: in Grafana's public folder.")
    ] = None,
) -> None:
    """Write Grafana's alert rules and dashboards; what Grafana cannot express is told, with the reason."""
    from plimsoll.commands import grafana

    chosen = grafana.Chosen(packs or (), only or (), [one.value for one in source or ()])
    grafana.export(out, config, grafana.options(tuple(email or ()), webhook, interval, docs), chosen)


@app.command("check")
def grafana_check_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files or folders. Default: those of this folder that are exported.", metavar="PATH"),
    ] = None,
) -> None:
    """Check what Grafana is provisioned with: every mistake is told with its place, and the exit status is 2."""
    from plimsoll.commands import grafana

    grafana.check(paths or [])
