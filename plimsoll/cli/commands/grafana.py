"""`plimsoll grafana`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal

import typer

from plimsoll.cli import args
from plimsoll.cli.console import print_line
from plimsoll.cli.outputs import report_refusals, write_text
from plimsoll.export.counters.counter_list import list_signals
from plimsoll.export.grafana.alerts import alert_files
from plimsoll.export.grafana.dashboards import dashboard_files
from plimsoll.export.grafana.dashboards.panels import find_panel
from plimsoll.export.prometheus.dashboards import prometheus_dashboards
from plimsoll.export.selections import Agent, is_recorded, select_recorded_by
from plimsoll.hosts.settings import Settings, load
from plimsoll.hosts.site import SiteSettings, load_site
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import format_count
from plimsoll.model.times import SECOND, format_duration
from plimsoll.rules.load import Catalogue
from plimsoll.rules.load import load as load_rules
from plimsoll.rules.schema.signal import Signal

RULES = Path("rules", "grafana")
DASHBOARDS = Path("dashboards", "grafana")
FOR_PROMETHEUS = DASHBOARDS / "prometheus"
_OWN_DASHBOARD = '"uid": "plimsoll-'


class RecordingAgent(StrEnum):
    """An agent that records counters, to limit an export to the signals that it records."""

    WINDOWS = "windows"
    TELEGRAF = "telegraf"
    SYSSTAT = "sysstat"


app = args.make_command_app("Write alert rules and dashboards for Grafana.")


@app.command(
    "export",
    epilog=args.format_examples(
        "plimsoll grafana export --out grafana",
        "plimsoll grafana export --config plimsoll.toml --email ops@shop.example",
    ),
)
def export(
    out: Path = args.path_option(Path(), "--out", "The folder to write rules/grafana and dashboards/grafana to."),
    config: Path | None = args.path_option(None, "--config", "A plimsoll.toml with host facts and changed thresholds."),
    email: list[str] | None = typer.Option(None, "--email", help="An e-mail address to notify; repeat for more."),
    webhook: str | None = typer.Option(None, "--webhook", help="A URL to notify."),
    interval: str = typer.Option(
        "10s", "--interval", help="The sampling interval; windows shorter than twice this are widened to it."
    ),
    packs: args.PackOption = None,
    only: args.OnlyOption = None,
    source: list[RecordingAgent] | None = typer.Option(
        None, "--source", help="Only rules and panels for counters that this agent records; repeat for more."
    ),
    data_source: Literal["influxdb", "prometheus"] = typer.Option(
        "influxdb",
        "--data-source",
        help="The data source of dashboards: an InfluxDB, or a Prometheus or VictoriaMetrics. For the latter "
        "only dashboards are written, to dashboards/grafana/prometheus; their alerts are those of "
        "plimsoll prometheus export.",
    ),
    docs: str | None = typer.Option(
        None, "--docs", help="The URL that links to a rule's page begin with. Default: Grafana's public folder."
    ),
) -> None:
    """Write alert rules and dashboards as files for Grafana. What Grafana cannot express is listed."""
    length = args.parse_duration_option("--interval", interval)
    options = alert_files.GrafanaOptions(interval=length, emails=tuple(email or ()), webhook=webhook)
    options = replace(options, docs=docs) if docs else options
    selection = _select(config, packs or (), only or (), [agent.value for agent in source or ()])
    write = _export_for_prometheus if data_source == "prometheus" else _export
    write(out, options, selection)


@dataclass(frozen=True)
class _Selection:
    """What to export: rules, and the names of the signals that dashboards draw (`shown`; None means all)."""

    catalogue: Catalogue
    signals: Mapping[str, Signal]
    site: SiteSettings
    shown: Collection[str] | None


def _select(config: Path | None, packs: Sequence[str], only: Sequence[str], agents: Collection[Agent]) -> _Selection:
    """Return what to export: the rules of the packs, and the signals that one of the agents records (any if empty)."""
    catalogue = load_rules(packs, only)
    signals = select_recorded_by(catalogue.signals, agents) if agents else catalogue.signals
    settings = load(config) if config else Settings()
    site = load_site(settings, config or Path("plimsoll.toml"), catalogue)
    shown = [name for name in list_signals(catalogue.packs, signals) if is_recorded(name, signals)]
    return _Selection(catalogue, signals, site, shown if only or agents else None)


def _export(out: Path, options: alert_files.GrafanaOptions, selection: _Selection) -> None:
    """Write alert rules to OUT/rules/grafana and dashboards to OUT/dashboards/grafana.

    Rules that Grafana cannot express are listed on stderr. Rules of an earlier export that no longer exist are listed
    in the written files, so that Grafana deletes them.
    """
    previous = _read_earlier_export(out / RULES, "*.yaml", alert_files.GENERATED)
    options = replace(options, panel_of=find_panel, by_hand=selection.catalogue.by_hand)
    exported = alert_files.export(selection.catalogue.packs, selection.signals, selection.site, options, previous)
    dashboards = dashboard_files.build_files(options.docs, selection.site, selection.shown)
    _write(out / RULES, exported.files, previous)
    _write(out / DASHBOARDS, dashboards, _read_earlier_export(out / DASHBOARDS, "*.json", _OWN_DASHBOARD))
    report_refusals(exported.refused, out / RULES)
    print_line(f"{format_count(exported.rules, 'alert rule')} to {out / RULES}")
    print_line(f"{format_count(len(dashboards), 'dashboard')} to {out / DASHBOARDS}")


def _export_for_prometheus(out: Path, options: alert_files.GrafanaOptions, selection: _Selection) -> None:
    """Write the dashboards for a Prometheus data source to OUT/dashboards/grafana/prometheus.

    Panels that PromQL cannot express are listed on stderr. Alerts are written by `plimsoll prometheus export`.
    """
    if options.emails or options.webhook:
        raise Unusable("--email and --webhook are for Grafana's alerts over InfluxDB; Alertmanager has its own")
    if options.interval < SECOND or options.interval % SECOND:
        raise Unusable(f'--interval: "{format_duration(options.interval)}" is not a number of whole seconds')
    files, refused = prometheus_dashboards.export(options.docs, selection.site, selection.shown, options.interval)
    _write(out / FOR_PROMETHEUS, files, _read_earlier_export(out / FOR_PROMETHEUS, "*.json", _OWN_DASHBOARD))
    report_refusals(refused, out / FOR_PROMETHEUS)
    print_line(f"{format_count(len(files), 'dashboard')} to {out / FOR_PROMETHEUS}")


def _read_earlier_export(folder: Path, pattern: str, sign: str) -> dict[str, str]:
    """Return, by file name, the texts in a folder that an earlier export wrote, and that therefore contain `sign`."""
    files = [path for path in sorted(folder.glob(pattern)) if path.is_file()]
    try:
        texts = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in files}
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read: {error.strerror}") from None
    return {name: text for name, text in texts.items() if sign in text}


def _write(folder: Path, files: Mapping[str, str], previous: Mapping[str, str]) -> None:
    """Write files (text by name) to a folder, and remove files of the `previous` export that are no longer written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in set(previous) - set(files):
            (folder / name).unlink()
    except OSError as error:
        raise Unusable(f"{folder}: cannot be written: {error.strerror or error}") from None
    for name, text in files.items():
        write_text(folder / name, text)
