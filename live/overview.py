"""What `plimsoll up` says of itself: hosts, alerts, what arrives, and what somebody has to mend."""

from collections.abc import Iterator, Mapping

from live.alert_history import firing
from live.alert_record import Alert
from live.alert_wording import still_sentence
from live.alerts_file import AlertsFile
from live.health import Health, HostHealth, HostState
from live.loop import Progress
from live.notify import Notifier
from live.roster import hosts
from live.troubles import NOT_JUDGED, NOT_NOTIFIED, NOT_WRITTEN, Trouble
from live.writing import WritingState
from model.remark import counted, listed
from model.times import SECOND, Zone, duration_text

_LATE = 90 * SECOND
_FAILING = 300 * SECOND  # a short outage of one target concerns nobody else
_SILENT = ("host-silent", "all-silent")


def troubles(
    progress: Progress, written: WritingState, notifier: Notifier, now: int, started: int
) -> Iterator[Trouble]:
    """What somebody has to mend."""
    if written.problem:
        yield Trouble(NOT_WRITTEN, f"Samples cannot be written: {written.problem}")
    since = now - (progress.performed or started)
    if progress.problem:
        yield Trouble(NOT_JUDGED, f"Nothing is judged: {progress.problem}")
    elif since > _LATE:
        yield Trouble(NOT_JUDGED, f"Nothing has been judged for {duration_text(since // SECOND * SECOND)}")
    for one in notifier.states():
        if one.failing_since is not None and now - one.failing_since >= _FAILING:
            yield Trouble(f"{NOT_NOTIFIED}{one.name}", f"Notifications do not reach {one.name}: {one.error}")


def health(
    file: AlertsFile,
    progress: Progress,
    mended: list[Trouble],
    written: WritingState,
    store: str,
    size: int | None,
    zone: Zone,
    now: int,
) -> Health:
    """The state of everything."""
    alerts = [one for one in firing(file) if one.severity != "info"]
    found = [*_hosts(file, alerts, progress.judged, zone)]
    return Health(
        headline=_headline(found, alerts, mended, progress, zone),
        hosts=found,
        alerts=[f"{one.severity.capitalize()}: {still_sentence(one, zone, now)}" for one in _gravest(alerts)],
        problems=[one.text for one in mended],
        points_a_minute=written.last_minute,
        store=store,
        store_bytes=size,
        notes=[
            *_lacking(progress),
            *_left_out(written),
            f"Alerts of severity info are only in plimsoll alerts list. Times are {zone.label(now)}.",
        ],
    )


def _gravest(alerts: list[Alert]) -> Iterator[Alert]:
    """The alerts, without those of lower limits of the same signal and subject. Critical ones come first."""
    seen: set[tuple[str, str, str | None]] = set()
    for one in alerts:
        subject = one.signal or one.rule, *one.key[1:]
        if subject not in seen:
            seen.add(subject)
            yield one


def _headline(
    found: list[HostHealth], alerts: list[Alert], mended: list[Trouble], progress: Progress, zone: Zone
) -> str:
    """Whether the hosts are healthy, as far as that is known."""
    at = f", as of {zone.clock(progress.evaluated)}" if progress.evaluated else ""
    judged = sum(progress.judged.values())
    limits = f"{counted(judged, 'limit')} judged on {counted(len(progress.judged), 'host')}{at}"
    of_hosts = [one for one in alerts if one.kind != "plimsoll"]
    if of_hosts:
        hosts = counted(len({one.host.casefold() for one in of_hosts}), "host")
        return f"Not healthy: {counted(len([*_gravest(of_hosts)]), 'alert')} on {hosts}. {limits}."
    doubtful = [one.name for one in found if one.state in (HostState.SILENT, HostState.NOT_JUDGED)]
    if mended:
        return f"Not known: Plimsoll itself needs attention. {limits}."
    if not found or not judged:
        return "Not known: nothing has been judged yet."
    if doubtful:
        return f"Not known: {listed(doubtful, 3)} {'is' if len(doubtful) == 1 else 'are'} not judged. {limits}."
    if progress.pending:
        crossed = f"{counted(progress.pending, 'limit')} {'is' if progress.pending == 1 else 'are'} crossed"
        return f"No alert: {crossed}, but not for as long yet as it takes to alert. {limits}."
    return f"Healthy: no limit is crossed. {limits}."


def _lacking(progress: Progress) -> Iterator[str]:
    facts = [f"{', '.join(sorted(names))} of {host}" for host, names in sorted(progress.lacking.items())]
    if facts:
        yield f"Limits that need these facts are not judged; give them in plimsoll.toml: {listed(facts, 10)}."


def _left_out(written: WritingState) -> Iterator[str]:
    if written.lines:
        lines = counted(written.lines, "line")
        yield f"Since the start, {lines} that agents sent could not be stored; the last one: {written.why}"
    if written.text:
        yield f"Since the start, {counted(written.text, 'field')} with text or booleans were left out."


def _hosts(file: AlertsFile, alerts: list[Alert], judged: Mapping[str, int], zone: Zone) -> Iterator[HostHealth]:
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
            yield HostHealth(host.name, HostState.ALERT, f"{counted(len([*_gravest(mine)]), 'alert')}, {last}")
        elif not judged.get(host.host):
            yield HostHealth(host.name, HostState.NOT_JUDGED, f"none of its counters has a limit, {last}")
        else:
            yield HostHealth(host.name, HostState.HEALTHY, f"{counted(judged[host.host], 'limit')} judged, {last}")
