"""`plimsoll grafana`."""

import json
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grafana import alerts, dashboard_files
from grafana.agents import Agent, is_recorded, recorded_by
from grafana.check import Parser, mistakes
from grafana.panels import panel_of
from hosts.settings import Settings, load
from hosts.site import site_of
from model.errors import Unusable
from model.remark import counted
from model.times import parse_duration
from native.programs import INFLUXQL
from plimsoll.files import write_text
from rules.counters import signals_of
from rules.load import load as load_rules
from rules.strict_yaml import Mistakes

RULES = Path("rules", "grafana")
DASHBOARDS = Path("dashboards", "grafana")


def options(emails: tuple[str, ...], webhook: str | None, interval: str, docs: str | None) -> alerts.Options:
    """What the export is told on the command line. Unusable if the interval is no duration."""
    try:
        length = parse_duration(interval)
    except ValueError as error:
        raise Unusable(f"--interval: {error}") from None
    given = alerts.Options(interval=length, emails=emails, webhook=webhook)
    return replace(given, docs=docs) if docs else given


@dataclass(frozen=True)
class Chosen:
    """What is exported: packs that are added, or alone; and rules over what these agents record, all where empty."""

    packs: Sequence[str] = ()
    only: Sequence[str] = ()
    agents: Collection[Agent] = ()


def export(out: Path, config: Path | None, options: alerts.Options, chosen: Chosen) -> None:
    """Write alert rules to OUT/rules/grafana and dashboards to OUT/dashboards/grafana.

    What is refused is told on stderr. A rule that stood there and is no more is listed for Grafana to delete.
    """
    catalogue = load_rules(chosen.packs, chosen.only)
    signals = recorded_by(catalogue.signals, chosen.agents) if chosen.agents else catalogue.signals
    settings = load(config) if config else Settings()
    site = site_of(settings, config or Path("plimsoll.toml"), catalogue)
    previous = _ours(out / RULES, "*.yaml", alerts.GENERATED)
    options = replace(options, panel_of=panel_of, by_hand=catalogue.by_hand)
    made = alerts.export(catalogue.packs, signals, site, options, previous)
    shown = [name for name in signals_of(catalogue.packs, signals) if is_recorded(name, signals)]
    dashboards = dashboard_files.files(options.docs, site, shown if chosen.only or chosen.agents else None)
    _write(out / RULES, made.files, previous)
    _write(out / DASHBOARDS, dashboards, _ours(out / DASHBOARDS, "*.json", '"uid": "plimsoll-'))
    for refused in made.refused:
        print(f"not exported: {refused}", file=sys.stderr)
    print(f"{counted(made.rules, 'alert rule')} to {out / RULES}")
    print(f"{counted(len(dashboards), 'dashboard')} to {out / DASHBOARDS}")


def check(paths: list[Path]) -> None:
    """Check files, or all of a folder. Mistakes tells all that is wrong with them."""
    named = paths or [path for path in (RULES, DASHBOARDS) if path.is_dir()]
    if not named:
        raise Unusable(f"there is no {RULES} here; name files or folders, or write them with plimsoll grafana export")
    files: dict[str, str] = {}
    for path in named:
        if not path.exists():
            raise Unusable(f"{path}: does not exist; name .yaml or .json files, or folders of them")
        found = [one for end in ("*.yaml", "*.yml", "*.json") for one in sorted(path.glob(end))]
        for one in found if path.is_dir() else [path]:
            try:
                files[str(one)] = one.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Unusable(f"{one}: cannot be read: {error}") from None
    if wrong := mistakes(files, _parser()):
        raise Mistakes(wrong)
    print(f"ok: {counted(len(files), 'file')}")


def _parser() -> Parser | None:
    """InfluxQL's own parser, where it has been built."""
    if not INFLUXQL.path.is_file():
        return None

    def faults(queries: Sequence[str]) -> Sequence[str | None]:
        done = subprocess.run([INFLUXQL.path], input=json.dumps(queries), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return faults


def _ours(folder: Path, pattern: str, sign: str) -> dict[str, str]:
    """The files of a folder that an export wrote, by name."""
    files = [path for path in sorted(folder.glob(pattern)) if path.is_file()]
    try:
        texts = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in files}
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read: {error.strerror}") from None
    return {name: text for name, text in texts.items() if sign in text}


def _write(folder: Path, files: Mapping[str, str], previous: Mapping[str, str]) -> None:
    """Write the files of a folder; those we wrote before and write no more are removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in set(previous) - set(files):
            (folder / name).unlink()
    except OSError as error:
        raise Unusable(f"{folder}: cannot be written: {error.strerror or error}") from None
    for name, text in files.items():
        write_text(folder / name, text)
