"""`plimsoll grafana`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.cli.console import print_error, print_line
from plimsoll.cli.outputs import write_text
from plimsoll.export.counters.counters import signals_of
from plimsoll.export.grafana.alerts import files as alerts
from plimsoll.export.grafana.dashboards import files as dashboard_files
from plimsoll.export.grafana.dashboards.panels import panel_of
from plimsoll.export.prometheus.dashboards import files as prometheus_files
from plimsoll.export.selections import Agent, is_recorded, recorded_by
from plimsoll.hosts.settings import Settings, load
from plimsoll.hosts.site import Site, site_of
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.times import SECOND, duration_text, parse_duration
from plimsoll.rules.load import Catalogue
from plimsoll.rules.load import load as load_rules
from plimsoll.rules.schema.signal import Signal

RULES = Path("rules", "grafana")
DASHBOARDS = Path("dashboards", "grafana")
FOR_PROMETHEUS = DASHBOARDS / "prometheus"
_OWN_DASHBOARD = '"uid": "plimsoll-'


def options(emails: tuple[str, ...], webhook: str | None, interval: str, docs: str | None) -> alerts.Options:
    """The options of the export. Unusable if the interval is not a duration."""
    try:
        length = parse_duration(interval)
    except ValueError as error:
        raise Unusable(f"--interval: {error}") from None
    given = alerts.Options(interval=length, emails=emails, webhook=webhook)
    return replace(given, docs=docs) if docs else given


@dataclass(frozen=True)
class Selection:
    """What to export: packs to add, or the only packs; and only what these agents record, if any are named."""

    packs: Sequence[str] = ()
    only: Sequence[str] = ()
    agents: Collection[Agent] = ()


def export(out: Path, config: Path | None, options: alerts.Options, selection: Selection) -> None:
    """Write alert rules to OUT/rules/grafana and dashboards to OUT/dashboards/grafana.

    Rules that Grafana cannot express are named on stderr. Rules of an earlier export that no longer exist are listed
    for Grafana to delete.
    """
    chosen = _chosen(config, selection)
    previous = _exported(out / RULES, "*.yaml", alerts.GENERATED)
    options = replace(options, panel_of=panel_of, by_hand=chosen.catalogue.by_hand)
    made = alerts.export(chosen.catalogue.packs, chosen.signals, chosen.site, options, previous)
    dashboards = dashboard_files.files(options.docs, chosen.site, chosen.shown)
    _write(out / RULES, made.files, previous)
    _write(out / DASHBOARDS, dashboards, _exported(out / DASHBOARDS, "*.json", _OWN_DASHBOARD))
    for refused in made.refused:
        print_error(f"not exported: {refused}")
    print_line(f"{counted(made.rules, 'alert rule')} to {out / RULES}")
    print_line(f"{counted(len(dashboards), 'dashboard')} to {out / DASHBOARDS}")


def export_for_prometheus(out: Path, config: Path | None, options: alerts.Options, selection: Selection) -> None:
    """Write the dashboards for a Prometheus data source to OUT/dashboards/grafana/prometheus.

    What PromQL cannot say is named on stderr. Alerts are written by `plimsoll prometheus export`.
    """
    if options.emails or options.webhook:
        raise Unusable("--email and --webhook are for Grafana's alerts over InfluxDB; Alertmanager has its own")
    if options.interval < SECOND or options.interval % SECOND:
        raise Unusable(f'--interval: "{duration_text(options.interval)}" is not a number of whole seconds')
    chosen = _chosen(config, selection)
    made = prometheus_files.export(options.docs, chosen.site, chosen.shown, options.interval)
    _write(out / FOR_PROMETHEUS, made.files, _exported(out / FOR_PROMETHEUS, "*.json", _OWN_DASHBOARD))
    for refused in made.refused:
        print_error(f"not exported: {refused}")
    print_line(f"{counted(len(made.files), 'dashboard')} to {out / FOR_PROMETHEUS}")


@dataclass(frozen=True)
class _Chosen:
    """What a selection leaves of the rules; `shown` are the signals of dashboards, None for all."""

    catalogue: Catalogue
    signals: Mapping[str, Signal]
    site: Site
    shown: Collection[str] | None


def _chosen(config: Path | None, selection: Selection) -> _Chosen:
    catalogue = load_rules(selection.packs, selection.only)
    signals = recorded_by(catalogue.signals, selection.agents) if selection.agents else catalogue.signals
    settings = load(config) if config else Settings()
    site = site_of(settings, config or Path("plimsoll.toml"), catalogue)
    shown = [name for name in signals_of(catalogue.packs, signals) if is_recorded(name, signals)]
    return _Chosen(catalogue, signals, site, shown if selection.only or selection.agents else None)


def _exported(folder: Path, pattern: str, sign: str) -> dict[str, str]:
    """The text of each file in a folder that an export wrote, by file name. `sign` is in each of them."""
    files = [path for path in sorted(folder.glob(pattern)) if path.is_file()]
    try:
        texts = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in files}
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read: {error.strerror}") from None
    return {name: text for name, text in texts.items() if sign in text}


def _write(folder: Path, files: Mapping[str, str], previous: Mapping[str, str]) -> None:
    """Write the files of a folder, and remove those of the previous export that are no longer written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in set(previous) - set(files):
            (folder / name).unlink()
    except OSError as error:
        raise Unusable(f"{folder}: cannot be written: {error.strerror or error}") from None
    for name, text in files.items():
        write_text(folder / name, text)
