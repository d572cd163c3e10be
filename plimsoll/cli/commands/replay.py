"""`plimsoll alerts replay`: judges stored samples again and lists the alerts that this gives."""

import time
from pathlib import Path

from plimsoll.alerting.alert_history import last_evaluation
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.replay import replay as replayed
from plimsoll.alerting.rule_targets import Site
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.api import data_folder
from plimsoll.api.open_store import measurements_of, open_store
from plimsoll.cli import args
from plimsoll.cli.console import print_line, print_notice
from plimsoll.hosts import settings as host_settings
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, Zone
from plimsoll.rules.load import load
from plimsoll.up import settings as up_settings

_DAY = 86_400 * SECOND


def replay(
    start: args.FromOption = None,
    end: args.ToOption = None,
    last: args.LastOption = None,
    store: args.UpStoreOption = None,
    settings: Path | None = args.path_option(None, "--settings", "The plimsoll.toml that plimsoll up was given."),
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
) -> None:
    """Judge the stored samples again, of the last day or of --from and --to, and list the alerts that this gives."""
    catalogue = load(pack or (), only or ())
    host = host_settings.load(settings) if settings else host_settings.Settings()
    path = settings or Path(host_settings.FILE_NAME)
    site = Site(catalogue, host.overrides(path, catalogue.rules, catalogue.signals), host.drives())
    folder = data_folder.folder_of(store)
    up = up_settings.load(folder)
    samples = store if data_folder.is_address(store) else up.store.address or str(folder)
    zone, now = up.zone, time.time_ns()
    file = AlertsFile.existing(folder)
    try:
        evaluated = last_evaluation(file)
    finally:
        file.close()
    first, until = TimeRange(start, end, last).resolve(zone, now - _DAY, now, "it is now")
    begin, finish = first or now - _DAY, min(until or now, evaluated or 0)
    if finish < begin:
        raise Unusable("nothing was judged in this time; choose another with --from and --to")
    with open_store(
        samples, notify=print_notice, measurements=lambda: measurements_of(catalogue.signals.values())
    ) as opened:
        alerts = sorted(replayed(opened.live, site, host.facts(), begin, finish), key=lambda alert: alert.fired_at)
    print_line(f"{zone.span(begin, finish)} {zone.label(begin)}: {counted(len(alerts), 'alert')}")
    for alert in alerts:
        print_line(_sentence(alert, zone), indent=2)


def _sentence(alert: AlertInterval, zone: Zone) -> str:
    end = f"until {zone.clock(alert.ended_at)}" if alert.ended_at else "firing still"
    return f"{alert.rule.severity} {alert.rule.id} of {alert.subject}, fired {zone.clock(alert.fired_at)}, {end}"
