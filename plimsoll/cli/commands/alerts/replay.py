"""`plimsoll alerts replay`: judges stored samples again and compares the result with the history of alerts."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.alerting import alert_queries
from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.compare_history import Difference, compare
from plimsoll.alerting.replay import replay as replayed
from plimsoll.alerting.rule_targets import Site
from plimsoll.api.open_store import measurements_of
from plimsoll.cli.console import print_line
from plimsoll.cli.open_store import open_store
from plimsoll.hosts import settings as host_settings
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, Zone
from plimsoll.native import data_folder
from plimsoll.notify.settings import file as up_settings
from plimsoll.rules.load import load

_DAY = 86_400 * SECOND


@dataclass(frozen=True)
class Given:
    """What `plimsoll up` was given, too: the store, plimsoll.toml and packs."""

    store: str | None = None
    settings: Path | None = None
    packs: Sequence[str] = ()
    only: Sequence[str] = ()


def replay(span: TimeRange, given: Given) -> int:
    """Print how the history differs from the replay; returns the exit status."""
    catalogue = load(given.packs, given.only)
    settings = host_settings.load(given.settings) if given.settings else host_settings.Settings()
    named = given.settings or Path(host_settings.FILE_NAME)
    site = Site(catalogue, settings.overrides(named, catalogue.rules, catalogue.signals), settings.drives())
    folder = data_folder.folder_of(given.store)
    told = up_settings.load(folder)
    samples = given.store if data_folder.is_address(given.store) else told.store.address or str(folder)
    file = AlertsFile.existing(folder)
    try:
        zone, now = told.zone, time.time_ns()
        last = AlertHistory(file, catalogue.signals).last_evaluation()
        first, until = span.resolve(zone, now - _DAY, now, "it is now")
        start, end = first or now - _DAY, min(until or now, last or 0)
        if end < start:
            raise Unusable("nothing was judged in this time; choose another with --from and --to")
        with open_store(samples, measurements=lambda: measurements_of(catalogue.signals.values())) as store:
            found = list(replayed(store, site, settings.facts(), start, end))
        result = compare(alert_queries.history(file, start, end), found, start, end)
    finally:
        file.close()
    print_line(f"{zone.span(start, end)} {zone.label(start)}: {counted(result.same, 'alert')} alike")
    for one in result.differences:
        print_line(_sentence(one, zone), indent=2)
    return 1 if result.differences else 0


def _sentence(one: Difference, zone: Zone) -> str:
    ends = [f"until {zone.clock(end)}" if end else "firing still" for end in (one.kept_end, one.replayed_end)]
    what = {
        "only in the history": f"only in the alert_queries, {ends[0]}",
        "only in the replay": f"only in the replay, {ends[1]}",
        "other end": f"in the history {ends[0]}, in the replay {ends[1]}",
    }[one.what]
    late = " (samples came late)" if one.late else ""
    return f"{one.rule} of {one.place}, fired {zone.clock(one.fired_at)}: {what}{late}"
