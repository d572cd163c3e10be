"""What the page of alerts lists: what fires, what is about to, silences, failing targets, and what has ended."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from starlette.datastructures import QueryParams

from plimsoll.alerting import alert_queries, silences
from plimsoll.alerting.alert import IncidentKey, incident_of
from plimsoll.alerting.firing import Incident, firing, incidents
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.times import SECOND, Zone, duration_text
from plimsoll.model.value_text import quantity
from plimsoll.notify import notification_log
from plimsoll.notify.notification_log import TargetState
from plimsoll.notify.test_message import TestedTarget
from plimsoll.pages.shared.alert_rows import incident_rows, rows
from plimsoll.pages.shared.time_range import TimeRange
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.severity import SEVERITIES
from plimsoll.rules.wording import should_text
from plimsoll.up.reloading import Reloaded
from plimsoll.up.watched import Watched

T = TypeVar("T")

MOST = 50
SEVERE: Sequence[Severity] = ("critical", "warning")
_CHOICES: Mapping[str, Sequence[Severity]] = {
    "": SEVERE,
    "critical": ("critical",),
    "warning": ("warning",),
    "info": ("info",),
    "all": SEVERITIES,
}
SEVERITY_CHOICES = (
    ("", "critical and warning"),
    ("critical", "critical"),
    ("warning", "warning"),
    ("info", "info"),
    ("all", "all"),
)
LAST = (("now-24h", "24 h"), ("now-7d", "7 d"), ("now-30d", "30 d"), ("now-400d", "400 d (all)"))
_USUAL = "now-7d"
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Pages:
    """Which part of a long list is shown: its number, how many parts there are, and how many entries in all."""

    number: int
    of: int
    total: int

    @classmethod
    def at(cls, first: int, total: int) -> "Pages":
        """The part that begins after `first` entries, or the last there is."""
        of = max(1, -(-total // MOST))
        return cls(min(first // MOST + 1, of), of, total)

    def part(self, entries: Sequence[T]) -> Sequence[T]:
        """The entries of this part."""
        return entries[(self.number - 1) * MOST : self.number * MOST]


def first_of(asked: str) -> int:
    """How many entries come before the part whose number an address has."""
    return (max(int(asked), 1) - 1) * MOST if asked.isdecimal() and len(asked) < 8 else 0


@dataclass(frozen=True, slots=True)
class Pending:
    """A limit that is crossed, but not for as long yet as it takes to alert.

    `inside` are the other limits that would be of the same incident.
    """

    severity: str
    sentence: str
    crossed: str
    left: str
    rule: str
    host: str
    inside: Sequence["Pending"] = ()


@dataclass(frozen=True, slots=True)
class Silenced:
    """A silence that holds; `matches` alerts that are firing."""

    id: int
    what: str
    until: str
    reason: str
    who: str
    matches: int


@dataclass(frozen=True, slots=True)
class Filter:
    """What of the history is shown, as the address of the page says. `wrong` is the reason why it cannot be read."""

    host: str
    rule: str
    severity: str
    last: str
    start: str
    end: str
    range: TimeRange
    wrong: str = ""

    @classmethod
    def of(cls, asked: QueryParams, zone: Zone) -> "Filter":
        """What the parameters of an address ask for."""
        host, rule = asked.get("host", "")[:_LONGEST].strip(), asked.get("rule", "")[:_LONGEST].strip()
        severity = asked.get("severity", "")
        severity = severity if severity in _CHOICES else ""
        last, start, end = asked.get("last", ""), asked.get("from", ""), asked.get("to", "")
        last = last if last in dict(LAST) else _USUAL
        try:
            span, wrong = TimeRange.parse(start or last, end or "now", zone), ""
        except Unusable as error:
            span, wrong = TimeRange.parse(last, "now", zone), str(error)
        return cls(host, rule, severity, last, start, end, span, wrong)

    @property
    def parameters(self) -> dict[str, str | int | None]:
        """The parameters of an address that asks for the same."""
        given: dict[str, str | int | None] = {"host": self.host, "rule": self.rule, "severity": self.severity}
        given |= {"last": "" if self.last == _USUAL else self.last, "from": self.start, "to": self.end}
        return {name: value or None for name, value in given.items()}


class Lists:
    """Makes the lists."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._file = watched.file

    def content(self, asked: QueryParams, zone: Zone) -> dict[str, Any]:
        """All that the page shows."""
        now = time.time_ns()
        chosen = Filter.of(asked, zone)
        silenced = silences.active(self._file, now)
        first, before = first_of(asked.get("firing", "")), first_of(asked.get("page", ""))
        fires = incidents(one for one in firing(self._file).every if one.severity in SEVERE)
        shown = Pages.at(first, len(fires))
        notes = alert_queries.find_firing(self._file, ("info",), 0, MOST)
        pending = self._pending(self._watched.judged().pending())
        ended = alert_queries.find_ended(self._file, _wanted(chosen, _CHOICES[chosen.severity]), before, MOST)
        return {
            "headline": _headline(fires),
            "firing": incident_rows(shown.part(fires), silenced, zone, now),
            "firing_pages": shown,
            "notes": rows(notes.alerts, silenced, zone, now),
            "notes_total": notes.total,
            "pending": pending[:MOST],
            "pending_total": len(pending),
            "silences": [self._silenced(one, zone) for one in silenced],
            "failing": [(one, _failing(one, zone)) for one in notification_log.states(self._file) if one.failing_since],
            "targets": [_told(one, zone) for one in self._watched.trials.targets],
            "reloaded": _reloaded(self._watched.reloaded, zone),
            "chosen": chosen,
            "ended": rows(ended.alerts, (), zone, now),
            "ended_pages": Pages.at(before, ended.total),
            "hidden_notes": self._hidden(chosen),
            "severities": SEVERITY_CHOICES,
            "lasts": LAST,
            "as_of": zone.clock(now, date=False),
            "zone_label": zone.label(now),
        }

    def _hidden(self, chosen: Filter) -> int:
        """How many alerts of severity info the history leaves out."""
        if chosen.severity:
            return 0
        return alert_queries.find_ended(self._file, _wanted(chosen, ("info",)), 0, 1).total

    def _silenced(self, one: silences.Silence, zone: Zone) -> Silenced:
        where = f" on {one.host}" if one.host != "*" else ""
        where += f", {one.instance}" if one.instance != "*" else ""
        matches = firing(self._file).like(one.rule, one.host, one.instance)
        return Silenced(one.id, f"{one.rule}{where}", zone.clock(one.until), one.reason, one.who, matches)

    def _pending(self, judged: Sequence[RuleState]) -> list[Pending]:
        at = self._watched.progress().evaluated or time.time_ns()
        ordered = sorted(judged, key=lambda one: (SEVERITIES.index(one.rule.severity), _left(one, at)))
        signals = self._watched.site.catalogue.signals
        together: dict[IncidentKey, list[RuleState]] = {}
        for one in ordered:
            together.setdefault(incident_of(one.rule, signals[one.rule.signal], one.subject), []).append(one)
        return [
            replace(self._about_to(worst, at), inside=[self._about_to(one, at) for one in others[:MOST]])
            for worst, *others in together.values()
        ]

    def _about_to(self, one: RuleState, at: int) -> Pending:
        signal = self._watched.site.catalogue.signals[one.rule.signal]
        value, limit = quantity(one.value, signal.unit), should_text(one.healthy, signal.unit)
        return Pending(
            severity=one.rule.severity,
            sentence=f"{signal.title} on {one.subject}: {value}; it {limit}.",
            crossed=duration_text(max(at - (one.since or at), 0) // SECOND * SECOND),
            left=duration_text(max(_left(one, at), 0) // SECOND * SECOND),
            rule=one.rule.id,
            host=one.subject.host,
        )


def _wanted(chosen: Filter, severities: Sequence[Severity]) -> alert_queries.AlertFilter:
    span = chosen.range
    return alert_queries.AlertFilter(span.start, span.end, severities, chosen.host or "*", chosen.rule or "*")


def _left(one: RuleState, at: int) -> int:
    """How long the limit must stay crossed until it alerts."""
    return (one.since or at) + one.rule.for_ - at


def _failing(target: TargetState, zone: Zone) -> str:
    since = zone.clock(target.failing_since or 0)
    return f"Notification to {target.name} ({target.address}) fails since {since}: {target.error}"


def _told(target: TestedTarget, zone: Zone) -> dict[str, str | bool]:
    """A target, and how its last test went."""
    last, said = target.last, ""
    if last is not None:
        how = "on its way" if not last.done else "sent" if last.error is None else f"failed: {last.error}"
        said = f"test of {zone.clock(last.at)}: {how}"
    failed = last is not None and last.error is not None
    return {"name": target.name, "address": target.address, "wants": target.wants, "said": said, "failed": failed}


def _reloaded(last: Reloaded | None, zone: Zone) -> dict[str, str | bool] | None:
    """When the settings were read anew, and what came of that."""
    return last and {"at": zone.clock(last.at), "text": last.text, "refused": bool(last.refused)}


def _headline(fires: Sequence[Incident]) -> str:
    if not fires:
        return "No alert is firing"
    levels = [one.severity for one in fires]
    each = ", ".join(f"{levels.count(one):,} {one}" for one in SEVERE if one in levels)
    return f"{counted(len(fires), 'incident')}: {each}"
