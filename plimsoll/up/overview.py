"""The state of `plimsoll up` in words: hosts, alerts, received data, and problems to solve."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.alerting.alert import Kind
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.clock_skew import describe_skew
from plimsoll.alerting.duplicate_hosts import DUPLICATE
from plimsoll.alerting.firing import Firing, Incident, load_firing
from plimsoll.alerting.health import Health, HealthAnswer, HostHealth, HostState, Progress
from plimsoll.alerting.host_inventory import Host, read_hosts
from plimsoll.alerting.rule_targets import MOST, MOST_OF_HOST
from plimsoll.alerting.self_monitoring import NOT_JUDGED, NOT_NOTIFIED, NOT_WRITTEN, Problem
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.series import HostKey, make_host_key
from plimsoll.model.times import SECOND, format_duration, format_iso
from plimsoll.notify.targets import Notifier
from plimsoll.receive.write_queue import MOST_NAMES, WriteState
from plimsoll.rules.schema.field_types import Resource

_MINUTE = 60 * SECOND
_MANY = 0.8
_FAILING = 300 * SECOND  # a target may fail for this long before it counts as a problem
_SILENT = ("host-silent", "all-silent")
RESOURCE_WORDS: Mapping[Resource, str] = {
    "cpu": "processors",
    "memory": "memory",
    "disk": "disks",
    "space": "free space",
}


def list_troubles(
    progress: Progress,
    written: WriteState,
    notifier: Notifier,
    now: int,
    started: int,
    connections: tuple[int, int] = (0, 1),
    unchecked: Mapping[str, str] | None = None,
    silent: Mapping[str, float] | None = None,
    damaged: Mapping[Path, str] | None = None,
    alerts_damaged: Sequence[Path] = (),
) -> Iterator[Problem]:
    """Yield the problems of Plimsoll itself that somebody has to solve.

    `now` and `started` (the start of `plimsoll up`) are in UTC ns. `connections` are the number of open connections,
    and the number that agents may have. `unchecked` maps each check that cannot be made to the reason; `silent` maps
    each counter of this computer that does not answer to the seconds since its last answer; `damaged` maps each
    unreadable file of samples to the reason. `alerts_damaged` are the damaged alerts.db files that were set aside.
    """
    if written.problem:
        yield Problem(NOT_WRITTEN, f"Samples cannot be written: {written.problem}")
    since = now - (progress.performed or started)
    if progress.problem:
        yield Problem(NOT_JUDGED, f"Nothing is judged: {progress.problem}")
    elif since > _MINUTE:
        why = f": {_describe_running(progress.begun, now)}" if progress.begun else ""
        yield Problem(NOT_JUDGED, f"Nothing has been judged for {format_duration(since // SECOND * SECOND)}{why}")
    if progress.left_out:
        yield Problem(
            "hosts-left-out",
            f"{format_count(progress.left_out, 'host')} {'is' if progress.left_out == 1 else 'are'} not judged: there "
            "are more than limits.hosts in up.toml; raise that if they are yours",
        )
    if progress.beyond:
        yield Problem(
            "limits-left-out",
            f"{join_names(sorted(progress.beyond), 3)}: not all limits are judged, as there are more than "
            f"{MOST_OF_HOST:,} on a host, or {MOST:,} on all",
        )
    for key, name in progress.duplicates.items():
        yield Problem(f"duplicate-{key}", f"{name} is not judged: {DUPLICATE}", "warning")
    if connections[0] >= _MANY * connections[1]:
        yield Problem(
            "connections",
            f"{_MANY:.0%} of the {connections[1]:,} connections that agents may have are open: agents beyond them are "
            "sent away",
            "warning",
        )
    if damaged:
        place, why = next(iter(damaged.items()))
        text = f" ({format_count(len(damaged) - 1, 'other')} as well)" if len(damaged) > 1 else ""
        yield Problem(
            "days-damaged",
            f"Values are missing: {place} {why}{text}; put a copy in its place, or delete it when nobody needs it",
            "warning",
        )
    if alerts_damaged:
        yield Problem(
            "alerts-damaged",
            f"Alerts and messages of before are missing: alerts.db was damaged, and is {alerts_damaged[-1].name} now; "
            "its silences hold still; what fires begins anew; delete that file when nobody needs it any more",
            "warning",
        )
    for name, why in (unchecked or {}).items():
        yield Problem(f"not-checked-{name}", f"The {name} cannot be made: {why}")
    for name, seconds in (silent or {}).items():
        yield Problem(
            f"not-collected-{name}",
            f"The counters of {name} of this computer have not answered for "
            f"{format_duration(round(seconds) * SECOND)}, "
            "and are not judged; all others are: restart the service that they are of",
        )
    for state in notifier.states():
        if state.failing_since is not None and now - state.failing_since >= _FAILING:
            yield Problem(f"{NOT_NOTIFIED}{state.name}", f"Notifications do not reach {state.name}: {state.error}")


def summarize_health(
    file: AlertsFile,
    progress: Progress,
    mended: list[Problem],
    written: WriteState,
    store: str,
    size: int | None,
    now: int,
    duty: str = "",
    unscraped: Sequence[str] = (),
    missing: Mapping[HostKey, Mapping[str, Resource | None]] | None = None,
) -> Health:
    """Return the health of all hosts and of Plimsoll itself. `mended` are the problems that somebody has to solve.

    `duty` says which of several processes notifies; `unscraped` are the exporters that gave no metrics. `missing` maps
    a host (case-folded) to the metrics that never came although other metrics of their group do, with the resource of
    each.
    """
    warned = [problem for problem in mended if problem.severity == "warning"]
    mended = [problem for problem in mended if problem.severity != "warning"]
    fires = load_firing(file)
    lost: dict[HostKey, Mapping[str, Resource | None]] = {
        host: {**progress.missing.get(host, {}), **(missing or {}).get(host, {})}
        for host in (*progress.missing, *(missing or {}))
    }
    progress = replace(progress, missing=lost)
    host_healths = [*_list_hosts(file, fires, progress, now)]
    answer, reason = _answer(host_healths, fires, mended, progress, now)
    silent = {make_host_key(host_health.name) for host_health in host_healths if host_health.state == HostState.SILENT}
    judged = [count for host, count in progress.judged.items() if make_host_key(host) not in silent]
    limits = format_count(sum(judged), "limit")
    facts = [f"{', '.join(sorted(names))} of {host}" for host, names in sorted(progress.lacking.items())]
    without_facts = f"Limits that need these facts are not judged; give them in plimsoll.toml: {join_names(facts, 10)}."
    shown = "what is shown is older" if progress.evaluated else "so hosts are not judged yet"
    return Health(
        answer=answer,
        reason=reason,
        basis=f"{limits} judged on {format_count(len(judged), 'host')}",
        hosts=host_healths,
        firing=fires,
        info=fires.info,
        problems=[problem.text for problem in mended],
        warnings=[problem.text for problem in warned],
        evaluated=progress.evaluated,
        points_a_minute=written.last_minute,
        store=store,
        store_bytes=size,
        notes=[
            *([duty] if duty else []),
            *([f"{_describe_running(progress.begun, now).capitalize()}: {shown}."] if progress.begun else []),
            *(f"{problem.text}." for problem in warned),
            *unscraped,
            *_describe_never_sent(lost),
            *([without_facts] if facts else []),
            *_describe_left_out(written),
        ],
    )


def _answer(
    host_healths: list[HostHealth], fires: Firing, mended: list[Problem], progress: Progress, now: int
) -> tuple[HealthAnswer, str]:
    """Return the answer to whether the hosts are healthy, and the reason."""
    if gone := next((alert for alert in fires.alerts if alert.kind == "all-silent"), None):
        silent = sum(host_health.state == HostState.SILENT for host_health in host_healths)
        since = f" since {format_iso(gone.since)}" if gone.since else ""
        return (
            HealthAnswer.NOT_HEALTHY,
            f"{silent:,} of {format_count(len(host_healths), 'host')} are silent{since}: the network, or this computer",
        )
    if fires.incidents:
        hosts = format_count(len(fires.of_host), "host")
        return HealthAnswer.NOT_HEALTHY, f"{format_count(len(fires.incidents), 'incident')} on {hosts}"
    doubtful = [host for host in host_healths if host.state in (HostState.SILENT, HostState.NOT_JUDGED)]
    if mended:
        return HealthAnswer.NOT_KNOWN, "Plimsoll itself needs attention"
    if not host_healths or not sum(progress.judged.values()):
        why = f": {_describe_running(progress.begun, now)}" if progress.begun else ""
        return HealthAnswer.NOT_KNOWN, f"nothing has been judged yet{why}"
    if doubtful:
        all_ = "all " if all(host.note.startswith("not all") for host in doubtful) else ""
        names = join_names([host.name for host in doubtful], 3)
        return HealthAnswer.NOT_KNOWN, f"{names} {'is' if len(doubtful) == 1 else 'are'} not {all_}judged"
    if progress.pending:
        crossed = f"{format_count(progress.pending, 'limit')} {'is' if progress.pending == 1 else 'are'} crossed"
        return HealthAnswer.NO_ALERT, f"{crossed}, but not for as long yet as it takes to alert"
    return HealthAnswer.HEALTHY, "no limit is crossed"


def _describe_running(begun: int, now: int) -> str:
    length = format_duration(max(now - begun, SECOND) // SECOND * SECOND)
    return f"the first evaluation since the start, or with new settings, has been running for {length}"


def _describe_never_sent(lost: Mapping[HostKey, Mapping[str, Resource | None]]) -> Iterator[str]:
    """Yield a sentence on each metric that never came although other metrics of its group do."""
    for name in sorted({name for names in lost.values() for name in names}):
        hosts = join_names(sorted(host for host, names in lost.items() if name in names), 3)
        yield f"{name} never came from {hosts}: limits computed from it are not judged; let the agent send it."


def _describe_left_out(written: WriteState) -> Iterator[str]:
    """Yield a sentence on each kind of data that was received since the start but not stored."""
    if written.lines:
        lines = format_count(written.lines, "line")
        yield f"Since the start, {lines} that agents sent could not be stored; the last one: {written.why}"
    if written.text:
        yield f"Since the start, {format_count(written.text, 'field')} with text or booleans were left out."
    if written.unread:
        bound = "at least " if len(written.names) >= MOST_NAMES else ""
        names = f"{bound}{format_count(len(written.names), 'metric')}"
        yield (
            f"Since the start, {format_count(written.unread, 'value')} of {names} of exporters were left out, as "
            f"nothing reads these: {join_names(sorted(written.names), 3)}."
        )


def _list_hosts(file: AlertsFile, fires: Firing, progress: Progress, now: int) -> Iterator[HostHealth]:
    """Yield the health of each host of the inventory that is not retired."""
    behind = {make_host_key(host): by for host, by in progress.behind.items()}
    skews = {make_host_key(host): describe_skew(by, "ahead") for host, by in progress.ahead.items()}
    skews |= {host: describe_skew(by, "behind") for host, by in behind.items()}
    all_silent = "all-silent" in _list_kinds(fires.of_host.get(make_host_key(""), ()))
    watched = [host for host in read_hosts(file) if host.retired_at is None]
    for host in watched:
        key = make_host_key(host.host)
        skew = skews.get(key, "")
        incidents = fires.of_host.get(key, ())
        is_gone = not host.is_expected and host.is_late(progress.evaluated or 0) and key not in behind
        is_silent = (all_silent and host.is_expected) or not _list_kinds(incidents).isdisjoint(_SILENT)
        if host.newest is None or is_gone or is_silent:
            state, note = HostState.SILENT, f"silent: {skew}" if skew else _silence(host, now)
        elif incidents and key not in progress.duplicates:
            state, note = HostState.ALERT, format_count(len(incidents), "incident")
        elif why := f"not judged: {skew}" if skew else _explain_unjudged(host, progress, now):
            state, note = HostState.NOT_JUDGED, why
        else:
            state, note = HostState.HEALTHY, f"{format_count(progress.judged[host.host], 'limit')} judged"
        yield HostHealth(host.name, state, note, host.newest)
    names = {host.host for host in watched}
    for name, by in sorted(progress.ahead.items()):
        if make_host_key(name) not in names:
            yield HostHealth(name, HostState.NOT_JUDGED, f"not judged: {describe_skew(by, 'ahead')}")


def _explain_unjudged(host: Host, progress: Progress, now: int) -> str:
    """Return why some or all limits of a host are not judged; empty if all are judged."""
    if host.host in progress.duplicates:
        return f"not judged: {DUPLICATE}"
    if host.host in progress.impossible:
        return f"not all judged: {join_names(sorted(progress.impossible[host.host]), 2)} cannot be"
    if host.host in progress.beyond:
        return "not all judged: there are more limits than are judged"
    if progress.evaluated is None:
        return "not judged yet"
    if newest := progress.unsent.get(host.host):
        names = join_names([word for resource, word in RESOURCE_WORDS.items() if resource in newest], len(newest))
        length = format_duration((now - max(newest.values())) // SECOND * SECOND)
        return f"not all judged: no new value of {names} for {length}; look at these inputs of its agent"
    if not progress.judged.get(host.host):
        if host.newest is not None and progress.evaluated - host.newest >= _MINUTE:
            return f"not judged: no sample for {format_duration((now - host.newest) // SECOND * SECOND)}"
        return "not judged: none of its counters has a limit"
    missing, judged = progress.missing.get(HostKey(host.host), {}), progress.resources.get(HostKey(host.host), ())
    names = [name for name, resource in missing.items() if resource not in judged]
    lacking = {*progress.required, *(missing[name] for name in names)} - {*judged}
    if not lacking:
        return ""
    words = join_names([word for resource, word in RESOURCE_WORDS.items() if resource in lacking], 4)
    never = f"; {join_names(sorted(names), 3)} never came" if names else ""
    return f"not all judged: no limit of {words} is{never}"


def _list_kinds(incidents: Sequence[Incident]) -> set[Kind]:
    return {alert.kind for incident in incidents for alert in incident.alerts}


def _silence(host: Host, now: int) -> str:
    if host.newest is None:
        return "has sent no sample yet"
    return f"silent for {format_duration(max(now - host.newest, _MINUTE) // _MINUTE * _MINUTE)}"
