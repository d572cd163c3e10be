"""What `plimsoll up` says of itself: hosts, alerts, what arrives, and what somebody has to mend."""

from collections.abc import Iterator

from live.alert_history import firing
from live.alert_record import Alert
from live.alert_wording import still_sentence
from live.alerts_file import AlertsFile
from live.health import Health, HostHealth, HostState
from live.loop import Progress
from live.notify import Notifier
from live.roster import hosts
from live.troubles import Trouble
from live.writing import WritingState
from model.remark import counted
from model.times import SECOND, Zone, duration_text

_LATE = 90 * SECOND
_SILENT = ("host-silent", "all-silent")


def troubles(
    progress: Progress, written: WritingState, notifier: Notifier, now: int, started: int
) -> Iterator[Trouble]:
    """What somebody has to mend."""
    if written.problem:
        yield Trouble("samples-not-written", f"Samples cannot be written: {written.problem}")
    since = now - (progress.performed or started)
    if progress.problem:
        yield Trouble("not-judged", f"Nothing is judged: {progress.problem}")
    elif since > _LATE:
        yield Trouble("not-judged", f"Nothing has been judged for {duration_text(since // SECOND * SECOND)}")
    for one in notifier.states():
        if one.failing_since is not None:
            yield Trouble(f"notify-{one.name}", f"Notifications do not reach {one.name}: {one.error}")


def health(
    file: AlertsFile, mended: list[Trouble], written: WritingState, store: str, size: int | None, zone: Zone, now: int
) -> Health:
    """The state of everything."""
    alerts = [one for one in firing(file) if one.severity != "info"]
    return Health(
        hosts=[*_hosts(file, alerts, zone)],
        alerts=[still_sentence(one, zone, now) for one in alerts],
        problems=[one.text for one in mended],
        points_a_minute=written.last_minute,
        store=store,
        store_bytes=size,
        notes=[*_left_out(written)],
    )


def _left_out(written: WritingState) -> Iterator[str]:
    if written.lines:
        lines = counted(written.lines, "line")
        yield f"Since the start, {lines} that agents sent could not be stored; the last one: {written.why}"
    if written.text:
        yield f"Since the start, {counted(written.text, 'field')} with text or booleans were left out."


def _hosts(file: AlertsFile, alerts: list[Alert], zone: Zone) -> Iterator[HostHealth]:
    by_host: dict[str, list[Alert]] = {}
    for one in alerts:
        by_host.setdefault(one.host.casefold(), []).append(one)
    silent = any(one.kind == "all-silent" for one in alerts)
    for host in hosts(file):
        if host.retired_at is not None:
            continue
        mine = by_host.get(host.host, [])
        last = f"last sample {zone.clock(host.newest)}" if host.newest else "no samples yet"
        if host.newest is None or (silent and host.is_expected) or any(one.kind in _SILENT for one in mine):
            yield HostHealth(host.name, HostState.SILENT, last)
        elif mine:
            yield HostHealth(host.name, HostState.ALERT, f"{counted(len(mine), 'alert')}, {last}")
        else:
            yield HostHealth(host.name, HostState.HEALTHY, last)
