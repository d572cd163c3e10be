"""`plimsoll alerts replay`: judges stored samples again and lists the alerts that this gives."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.alerting.alert_history import last_evaluation
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.replay import replay as replayed
from plimsoll.alerting.rule_targets import Site
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.api import data_folder
from plimsoll.api.open_store import measurements_of
from plimsoll.cli.console import print_line
from plimsoll.cli.open_store import open_store
from plimsoll.hosts import settings as host_settings
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, Zone
from plimsoll.rules.load import load
from plimsoll.up import settings as up_settings

_DAY = 86_400 * SECOND


@dataclass(frozen=True)
class Given:
    """What `plimsoll up` was given, too: the store, plimsoll.toml and packs."""

    store: str | None = None
    settings: Path | None = None
    packs: Sequence[str] = ()
    only: Sequence[str] = ()


def replay(span: TimeRange, given: Given) -> None:
    """Print the alerts that the stored samples of a span give."""
    catalogue = load(given.packs, given.only)
    settings = host_settings.load(given.settings) if given.settings else host_settings.Settings()
    named = given.settings or Path(host_settings.FILE_NAME)
    site = Site(catalogue, settings.overrides(named, catalogue.rules, catalogue.signals), settings.drives())
    folder = data_folder.folder_of(given.store)
    up = up_settings.load(folder)
    samples = given.store if data_folder.is_address(given.store) else up.store.address or str(folder)
    zone, now = up.zone, time.time_ns()
    file = AlertsFile.existing(folder)
    try:
        last = last_evaluation(file)
    finally:
        file.close()
    first, until = span.resolve(zone, now - _DAY, now, "it is now")
    start, end = first or now - _DAY, min(until or now, last or 0)
    if end < start:
        raise Unusable("nothing was judged in this time; choose another with --from and --to")
    with open_store(samples, measurements=lambda: measurements_of(catalogue.signals.values())) as store:
        alerts = sorted(replayed(store.live, site, settings.facts(), start, end), key=lambda alert: alert.fired_at)
    print_line(f"{zone.span(start, end)} {zone.label(start)}: {counted(len(alerts), 'alert')}")
    for alert in alerts:
        print_line(_sentence(alert, zone), indent=2)


def _sentence(alert: AlertInterval, zone: Zone) -> str:
    end = f"until {zone.clock(alert.ended_at)}" if alert.ended_at else "firing still"
    return f"{alert.rule.severity} {alert.rule.id} of {alert.subject}, fired {zone.clock(alert.fired_at)}, {end}"
