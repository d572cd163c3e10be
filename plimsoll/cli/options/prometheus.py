"""`plimsoll prometheus`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import OnlyOption, PackOption, path_option

app = typer.Typer(
    help="Write and check alerting rules for Prometheus, Mimir and VictoriaMetrics.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("export")
def prometheus_export_command(
    out: Annotated[Path, path_option("--out", "The folder to write to.")] = Path("prometheus"),
    config: Annotated[
        Path | None,
        path_option("--config", "A plimsoll.toml with host facts and changed thresholds."),
    ] = None,
    interval: Annotated[
        str,
        typer.Option("--interval", help="The time between samples; windows shorter than twice this are widened to it."),
    ] = "10s",
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--names",
            help="What records the metrics, besides Telegraf: node_exporter, windows_exporter or opentelemetry. Adds "
            "recording rules that give them Telegraf's names. May be repeated.",
        ),
    ] = None,
    packs: PackOption = None,
    only: OnlyOption = None,
    docs: Annotated[
        str, typer.Option("--docs", help="The URL that links to a rule's page begin with. Default: no links.")
    ] = "",
) -> None:
    """Write packs as alerting rules with unit tests. Rules that PromQL cannot say are named on stderr."""
    from plimsoll.cli.commands import prometheus

    prometheus.export(out, config, prometheus.options(interval, docs, names or ()), packs or (), only or ())


@app.command("check")
def prometheus_check_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Rule files, or folders of them. Default: prometheus here.", metavar="PATH"),
    ] = None,
    packs: PackOption = None,
) -> None:
    """Check rule files. Every mistake is printed with its place; the exit status is then 2."""
    from plimsoll.cli.commands import prometheus

    prometheus.check(paths or [], packs or ())
