"""`plimsoll grafana`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import OnlyOption, PackOption, path_option


class Source(StrEnum):
    """The agents whose recordings signals can be read from."""

    WINDOWS = "windows"
    TELEGRAF = "telegraf"
    SYSSTAT = "sysstat"


class DataSource(StrEnum):
    """What dashboards ask."""

    INFLUXDB = "influxdb"
    PROMETHEUS = "prometheus"


app = typer.Typer(help="Write alert rules and dashboards for Grafana.", no_args_is_help=True, rich_markup_mode=None)


@app.command("export")
def grafana_export_command(
    out: Annotated[
        Path,
        path_option("--out", "The folder to write rules/grafana and dashboards/grafana to."),
    ] = Path(),
    config: Annotated[
        Path | None,
        path_option("--config", "A plimsoll.toml with host facts and changed thresholds."),
    ] = None,
    email: Annotated[
        list[str] | None,
        typer.Option("--email", help="An e-mail address to notify; repeat for more.", show_default=False),
    ] = None,
    webhook: Annotated[str | None, typer.Option("--webhook", help="A URL to notify.")] = None,
    interval: Annotated[
        str,
        typer.Option("--interval", help="The sampling interval; windows shorter than twice this are widened to it."),
    ] = "10s",
    packs: PackOption = None,
    only: OnlyOption = None,
    source: Annotated[
        list[Source] | None,
        typer.Option(
            "--source",
            help="Only rules and panels over what this agent records; repeat for more.",
            show_default=False,
        ),
    ] = None,
    data_source: Annotated[
        DataSource,
        typer.Option(
            "--data-source",
            help="What dashboards ask: an InfluxDB, or a Prometheus or VictoriaMetrics. For the latter only dashboards "
            "are written, to dashboards/grafana/prometheus; their alerts are those of plimsoll prometheus export.",
        ),
    ] = DataSource.INFLUXDB,
    docs: Annotated[
        str | None,
        typer.Option(
            "--docs", help="The URL that links to a rule's page begin with. Default: Grafana's public folder."
        ),
    ] = None,
) -> None:
    """Write alert rules and dashboards as files for Grafana. Rules that Grafana cannot express are named on stderr."""
    from plimsoll.cli.commands import grafana

    selection = grafana.Selection(packs or (), only or (), [one.value for one in source or ()])
    export = grafana.export_for_prometheus if data_source is DataSource.PROMETHEUS else grafana.export
    export(out, config, grafana.options(tuple(email or ()), webhook, interval, docs), selection)
