"""Composes the message for a group of alerts: a short title, and the facts that a person needs to act."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.wording import (
    describe_cause,
    describe_certainty,
    describe_end,
    describe_firing,
    describe_lasting,
    describe_remaining,
    describe_shortage,
    format_evidence,
    format_headline,
    summarize_ended,
)
from plimsoll.model.errors import escape
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.remark import format_count
from plimsoll.model.series import make_host_key
from plimsoll.model.times import Zone, format_duration, format_iso
from plimsoll.notify.grouping import ENDED, MOST_AN_HOUR, PACE, AlertGroup, Item
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES

State: TypeAlias = Literal["firing", "resolved"]
Value: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """The firing or the end of an incident, for programs: in a few words (`title`) and in full (`text`).

    All events of the incident have the same `key`, such as `plimsoll:web01/cpu`. `link` is the incident's page, or the
    command that shows the incident. `alerts` are the incident's alerts, the most severe first.
    """

    key: str
    state: State
    title: str
    text: str
    link: str
    alerts: Sequence[Alert]

    @property
    def worst(self) -> Alert:
        """The most severe alert of the incident."""
        return self.alerts[0]


MOST_IN_FULL = 10
MOST_LINES = 40
_ORDER = ("fired", "still", "fired and ended", "ended")
# Host names could contain text with which chats notify everybody: <!channel>, @everyone.
_MENTION = re.compile(r"([@!])(?=[\w&<])")
# Host names could also contain what chats show as a link: [words](address), <address|words>.
_LINK = re.compile(r"\](?=[(\[:])|<(?=\s*[a-zA-Z][\w+.-]*:)|<(?=\s*/)")


@dataclass(frozen=True, slots=True)
class Message:
    """A message in plain text. `level` is the highest severity that fires, or "recovered" if no alert fires.

    `events` have the same content for programs, one event for each incident.
    """

    title: str
    body: str
    level: Severity | Literal["recovered"]
    events: Sequence[MessageEvent] = ()


@dataclass(frozen=True, slots=True)
class Style:
    """What the wording of a target's messages depends on: the time zone, and the URL of Plimsoll's pages, if any.

    `after` is how long (ns) an alert must be unacknowledged before the target is notified.
    """

    zone: Zone
    pages: str | None = None
    after: int = 0


def write_message(group: AlertGroup, style: Style, now: int, failing_since: int | None = None) -> Message:
    """Return the message for a group of alerts.

    `failing_since` is the time (UTC ns) since which messages to this target failed; None if the last was sent.
    """
    groups = _group_by_incident(group.items)
    firing = [items for items in groups if items[0].news not in ENDED]
    remain: list[Severity] = [item.remains.severity for items in groups for item in items if item.remains is not None]
    level: Severity | Literal["recovered"] = "recovered"
    if firing or remain:
        level = firing[0][0].alert.severity if firing else min(remain, key=SEVERITIES.index)
    parts = ["\n".join(_list_incident_lines(items, style, now)) for items in groups[:MOST_IN_FULL]]
    rest = groups[MOST_IN_FULL:]
    if rest:
        lines = [f"- {_format_sentence(items[0], style, now)}" for items in rest[:MOST_LINES]]
        left = len(rest) - len(lines)
        parts.append("\n".join(lines))
        if left:
            parts.append(f"And {left:,} more: {f'{style.pages}/alerts' if style.pages else 'plimsoll alerts list'}")
    parts += _list_remarks(group, style, failing_since)
    label = level.upper() if level == "critical" else level.capitalize()
    if remain and not firing:
        label = "Better, not over"
    if level == "recovered" and any(_is_closed(item.alert) for items in groups for item in items):
        label = "Closed"  # it is unknown whether it is healthy
    title, body = f"{label}: {_format_title(groups, firing)}", "\n\n".join(parts)
    return Message(_simplify(title), _simplify(body), level, [*_list_events(groups, firing, style, now)])


def _list_events(
    groups: Sequence[Sequence[Item]], firing: Sequence[Sequence[Item]], style: Style, now: int
) -> Iterator[MessageEvent]:
    """Yield an event for each incident; an event is resolved only if none of the incident's alerts fires."""
    fires = {items[0].alert.incident for items in firing}
    for items in groups:
        worst, ended = items[0], items[0].news in ENDED
        if ended and worst.alert.incident in fires:
            continue
        title = escape(_format_ended_title(worst) if ended else _format_firing_title(worst.alert))
        text, link = _simplify("\n".join(_list_incident_lines(items, style, now))), _link_of(worst.alert, style)
        state: State = "resolved" if ended else "firing"
        yield MessageEvent(
            make_incident_key(worst.alert), state, _simplify(title), text, link, [item.alert for item in items]
        )


def _simplify(text: str) -> str:
    return _LINK.sub(r"\g<0> ", _MENTION.sub(r"\1 ", text))


def _group_by_incident(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items of each incident, the most severe first; firing and ended items are in separate lists."""
    groups = group_pairs(((item.news in ENDED, item.alert.incident), item) for item in sorted(items, key=_rank))
    return [*groups.values()]


def _format_title(groups: Sequence[Sequence[Item]], firing: Sequence[Sequence[Item]]) -> str:
    """Return a message's title without its level: the most severe incident, and the counts of other incidents."""
    worst = groups[0][0]
    if len(groups) == 1 or firing:
        named = escape(_format_firing_title(worst.alert) if firing else _format_ended_title(worst))
    else:
        named = f"{len(groups):,} incidents {_format_place([items[0].alert for items in groups])}"
    return f"{named}{_count_others(groups[1:])}" if firing and len(groups) > 1 else named


def _count_others(groups: Sequence[Sequence[Item]]) -> str:
    """Return the counts of incidents besides the first: ` (also 2 critical, 1 warning on 2 hosts, 1 recovered)`."""
    firing = [items[0].alert for items in groups if items[0].news not in ENDED]
    levels = [alert.severity for alert in firing]
    counts = [f"{levels.count(severity):,} {severity}" for severity in SEVERITIES if severity in levels]
    if counts:
        counts[-1] += f" {_format_place(firing)}"
    ended = len(groups) - len(levels)
    return f" (also {', '.join([*counts, *([f'{ended:,} recovered'] if ended else [])])})"


def _format_place(alerts: Sequence[Alert]) -> str:
    hosts = {make_host_key(alert.host) for alert in alerts}
    named = escape(alerts[0].host) or "all hosts"
    return f"on {named if len(hosts) == 1 else format_count(len(hosts), 'host')}"


def _list_incident_lines(items: Sequence[Item], style: Style, now: int) -> Iterator[str]:
    """Yield the lines about an incident: the cause, the most severe alert in full, and a line per further alert."""
    worst = items[0].alert
    if worst.kind == "rule" and items[0].news not in ENDED:
        yield escape(f"{describe_cause(worst)}; {describe_certainty(Incident([item.alert for item in items]))}.")
    yield from _list_alert_lines(items[0], style, now)
    for item in items[1:]:
        yield f"- {item.alert.severity}, {item.alert.rule}: {_format_sentence(item, style, now)}"


def _format_firing_title(alert: Alert) -> str:
    """Return the cause with its evidence: `WEB01 is short of processors (Processor time 95 %)`."""
    short = describe_shortage(alert)
    return f"{short} ({format_evidence(alert)})" if short else format_headline(alert)


def _is_closed(alert: Alert) -> bool:
    """Return whether an alert ended because its rule is no longer judged for its host, not because it recovered."""
    return alert.ended_how not in (None, "recovered")


def _format_ended_title(item: Item) -> str:
    """Return the title of an alert that ended."""
    if _is_closed(item.alert) and item.alert.kind == "host-silent":
        return f"{item.alert.host} is no longer watched"
    match item.alert.kind:
        case "host-silent":
            return f"{item.alert.host} sends again"
        case "all-silent":
            return "data arrive again"
        case "flapping":
            return f"{format_headline(item.alert).removesuffix(': flapping')}: no longer flapping"
        case "plimsoll":
            return f"over: {item.alert.details.title}"
        case "rule":
            return f"{item.alert.details.title} on {item.alert.place}"


def _list_alert_lines(item: Item, style: Style, now: int) -> Iterator[str]:
    """Yield the lines that describe an alert: its news, rule and times, sources, what to look at, and a link."""
    alert, zone = item.alert, style.zone
    sentence = _format_sentence(item, style, now)
    yield sentence
    rule = f"{alert.severity}, {alert.rule}"
    if item.news in ENDED:
        yield f"{rule}: fired {zone.clock(alert.fired_at)}, ended {zone.clock(alert.ended_at or now)}"
    else:
        yield f"{rule}: since {zone.clock(alert.begin)} {zone.label(alert.begin)}"
        if alert.late:
            yield "The samples arrived late."
        details = alert.details
        if details.summary.removesuffix(".") not in f"{describe_cause(alert)} {sentence}":
            yield escape(details.summary)
        for label, values in (
            ("Usual at this hour of the week", (details.usual,) if details.usual else ()),
            ("Source", details.sources),
            ("Look at", details.look_at),
            ("Processes then", details.processes),
            ("Note", (details.note,) if details.note else ()),
        ):
            if values:
                yield escape(f"{label}: {'; '.join(values)}")
    yield _link_of(alert, style)


def _link_of(alert: Alert, style: Style) -> str:
    return f"{style.pages}/alerts/{alert.id}" if style.pages else f"plimsoll alerts show {alert.id}"


def _format_sentence(item: Item, style: Style, now: int) -> str:
    """Return the sentence that says that an alert fired, still fires or ended."""
    match item.news:
        case "fired":
            text = describe_firing(item.alert, style.zone)
        case "still":
            text = describe_lasting(item.alert, now)
        case "ended":
            text = describe_end(item.alert, style.zone, item.remains)
        case "fired and ended":
            text = summarize_ended(item.alert, style.zone)
            if item.remains is not None:
                text = f"{text} {describe_remaining(item.remains)}"
    return escape(text)


def _list_remarks(group: AlertGroup, style: Style, failing_since: int | None) -> Iterator[str]:
    """Yield sentences on why messages come late or seldom, such as quiet hours, throttling, or failed messages."""
    if group.held_back:
        yield "Some of this was held back during quiet hours."
    if style.after and any(item.news == "fired" for item in group.items):
        yield f"Nobody has acknowledged this for {format_duration(style.after)}."
    if group.paced:
        yield (
            f"There is much to report: messages come every {format_duration(PACE)} now, at most {MOST_AN_HOUR} in an "
            "hour, each with everything new."
        )
    if failing_since is not None:
        yield f"Messages could not be sent here since {style.zone.clock(failing_since)}."


def _rank(item: Item) -> tuple[bool, int, bool, int, str, str, int]:
    return (
        item.news in ENDED,
        SEVERITIES.index(item.alert.severity),
        item.alert.kind == "rule",  # a silent host, a flapping rule come first
        _ORDER.index(item.news),
        make_host_key(item.alert.host),  # of equal alerts, the host comes before its instances
        item.alert.instance or "",
        item.alert.id,
    )


def make_incident_key(alert: Alert) -> str:
    """Return the key of an alert's incident, shortened to the 255 characters that pagers permit."""
    parts = [part for part in alert.incident if part]
    key = f"plimsoll:{'/'.join(parts)}"
    if len(key) <= 255 and key.isprintable():
        return key
    return f"plimsoll:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


def list_alert_fields(alert: Alert, event: MessageEvent) -> dict[str, Value]:
    """Return the fields of an event's alert, for programs. Times are ISO 8601 in UTC, values in the signal's unit."""
    return {
        "id": alert.id,
        "key": event.key,
        "state": event.state,
        "severity": alert.severity,
        "kind": alert.kind,
        "host": alert.host,
        "instance": alert.instance,
        "rule": alert.rule,
        "signal": alert.signal,
        "signal_title": alert.details.title,
        "value": None if math.isnan(alert.last) else alert.last,
        "worst": None if math.isnan(alert.worst) else alert.worst,
        "unit": alert.details.unit,
        "limit": alert.details.limit,
        "since": format_iso(alert.begin),
        "fired_at": format_iso(alert.fired_at),
        "ended_at": None if alert.ended_at is None else format_iso(alert.ended_at),
        "late": alert.late,
        "link": event.link,
    }
