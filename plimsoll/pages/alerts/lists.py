"""The lists on the alerts page: firing and pending alerts, silences, notification targets, and the alert history."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.datastructures import QueryParams

from plimsoll.alerting import alert_queries, silences
from plimsoll.alerting.alert import IncidentKey, find_incident_key
from plimsoll.alerting.firing import group_incidents, load_firing
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import format_count
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.notify import notification_log
from plimsoll.pages.shared.alert_rows import build_incident_rows, build_rows
from plimsoll.pages.shared.forms import count_before
from plimsoll.pages.shared.time_range import PageRange
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES, limit_text
from plimsoll.up.watched import Watched

T = TypeVar("T")
MOST = 50
SEVERE: Sequence[Severity] = ("critical", "warning")
# The choices of the form: value, label and severities of each.
_CHOICES: Mapping[str, tuple[str, Sequence[Severity]]] = {
    "": ("critical and warning", SEVERE),
    **{severity: (severity, (severity,)) for severity in SEVERITIES},
    "all": ("all", SEVERITIES),
}
LAST = (("now-24h", "24 h"), ("now-7d", "7 d"), ("now-30d", "30 d"), ("now-400d", "400 d (all)"))
_USUAL = "now-7d"
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Pages:
    """A page of a long list: its number, the count of pages (`of`), and the count of entries in the list (`total`)."""

    number: int
    of: int
    total: int

    @classmethod
    def at(cls, first: int, total: int) -> "Pages":
        """Return the page that begins after `first` entries, or the last page if the list has fewer entries."""
        of = max(1, -(-total // MOST))
        return cls(min(first // MOST + 1, of), of, total)

    def part(self, entries: Sequence[T]) -> Sequence[T]:
        """Return the entries of the list that belong on this page."""
        return entries[(self.number - 1) * MOST : self.number * MOST]


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter of the alert history, from the URL. `wrong` says why its time range is invalid; empty if valid."""

    host: str
    rule: str
    severity: str
    last: str
    start: str
    end: str
    range: PageRange
    wrong: str = ""

    @classmethod
    def of(cls, query: QueryParams, zone: Zone) -> "Filter":
        """Return the filter that the parameters of a URL set."""
        host, rule = (query.get(name, "")[:_LONGEST].strip() for name in ("host", "rule"))
        severity, last, start, end = (query.get(name, "") for name in ("severity", "last", "from", "to"))
        severity = severity if severity in _CHOICES else ""
        last = last if last in dict(LAST) else _USUAL
        try:
            span, wrong = PageRange.parse(start or last, end or "now", zone), ""
        except Unusable as error:
            span, wrong = PageRange.parse(last, "now", zone), str(error)
        return cls(host, rule, severity, last, start, end, span, wrong)

    def search(self, severities: Sequence[Severity]) -> alert_queries.AlertFilter:
        """Return this filter as a search for alerts of these severities."""
        span = self.range
        return alert_queries.AlertFilter(severities, self.host or "*", self.rule or "*", span.start, span.end)

    @property
    def parameters(self) -> dict[str, str | int | None]:
        """The URL parameters that set this filter; None for a parameter that is not set."""
        last = "" if self.last == _USUAL else self.last
        query = {"host": self.host, "rule": self.rule, "severity": self.severity, "last": last}
        return {name: value or None for name, value in (query | {"from": self.start, "to": self.end}).items()}


def build_content(watched: Watched, query: QueryParams, zone: Zone) -> dict[str, Any]:
    """Return the variables of the template of the alerts page. `query` are the parameters of the URL."""
    now, file = time.time_ns(), watched.file
    chosen, active = Filter.of(query, zone), silences.read_active_silences(watched.file, now)
    first, before = (count_before(query.get(name, ""), MOST) for name in ("firing", "page"))
    severe = group_incidents(alert for alert in load_firing(file).all_alerts if alert.severity in SEVERE)
    levels = [incident.severity for incident in severe]
    counts = ", ".join(f"{levels.count(level):,} {level}" for level in SEVERE if level in levels)
    shown = Pages.at(first, len(severe))
    notes, notes_total = alert_queries.find_firing(file, alert_queries.AlertFilter(("info",)), 0, MOST)
    pending = _list_pending(watched)
    ended, ended_total = alert_queries.find_ended(file, chosen.search(_CHOICES[chosen.severity][1]), before, MOST)
    hidden = 0 if chosen.severity else alert_queries.find_ended(file, chosen.search(("info",)), 0, 1)[1]
    reloaded = watched.reloaded
    return {
        "headline": f"{format_count(len(severe), 'incident')}: {counts}" if severe else "No alert is firing",
        "firing": build_incident_rows(shown.part(severe), active, zone),
        "firing_pages": shown,
        "notes": build_rows(notes, active, zone),
        "notes_total": notes_total,
        "pending": pending[:MOST],
        "pending_total": len(pending),
        "silences": [
            {
                "id": silence.id,
                "what": silence.rule
                + (f" on {silence.host}" if silence.host != "*" else "")
                + (f", {silence.instance}" if silence.instance != "*" else ""),
                "until": zone.clock(silence.until),
                "reason": silence.reason,
                "who": silence.who,
                "matches": load_firing(file).like(silence.rule, silence.host, silence.instance),
            }
            for silence in active
        ],
        "failing": [
            f"Notification to {target.name} ({target.address}) fails since {zone.clock(target.failing_since)}: "
            f"{target.error}"
            for target in notification_log.read_states(file)
            if target.failing_since
        ],
        "targets": watched.trials.targets,
        "reloaded": reloaded and {"at": zone.clock(reloaded.at), "text": reloaded.text, "refused": reloaded.refused},
        "chosen": chosen,
        "ended": build_rows(ended, (), zone),
        "ended_pages": Pages.at(before, ended_total),
        "hidden_notes": hidden,
        "severities": [(name, label) for name, (label, _) in _CHOICES.items()],
        "lasts": LAST,
        "as_of": zone.clock(now, date=False),
        "zone_label": zone.label(now),
    }


def _list_pending(watched: Watched) -> list[dict[str, Any]]:
    """Return each pending incident as template variables for its worst limit.

    `inside` contains the same variables for the incident's other limits.
    """
    signals, now = watched.site.catalogue.signals, watched.progress().evaluated or time.time_ns()

    def left(state: RuleState) -> int:
        return (state.since or now) + state.rule.for_ - now

    def describe(state: RuleState, rule_states: Sequence[RuleState] = ()) -> dict[str, Any]:
        signal, rule = signals[state.rule.signal], state.rule
        value, limit = format_value(state.value, signal.unit), limit_text(state.healthy, signal.unit)
        return {
            "severity": rule.severity,
            "sentence": f"{signal.title} on {state.subject}: {value}; limit {limit}.",
            "crossed": format_duration(max(now - (state.since or now), SECOND) // SECOND * SECOND),
            "left": format_duration(max(left(state), 0) // SECOND * SECOND),
            "rule": rule.id,
            "host": state.subject.host,
            "inside": [describe(other) for other in rule_states[:MOST]],
        }

    groups: dict[IncidentKey, list[RuleState]] = {}
    states = watched.judged().pending()
    for state in sorted(states, key=lambda state: (SEVERITIES.index(state.rule.severity), left(state))):
        groups.setdefault(find_incident_key(state.rule, signals[state.rule.signal], state.subject), []).append(state)
    return [describe(worst, rule_states) for worst, *rule_states in groups.values()]
