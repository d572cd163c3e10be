"""What the page of one alert shows."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from plimsoll.alerting import alert_queries, silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_queries import Event, events
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.wording import cause, certainty, unjudged
from plimsoll.model.times import SECOND, Zone, duration_text
from plimsoll.model.value_text import quantity
from plimsoll.notify.notification_log import notifications
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.shared.alert_rows import marks, rows, sentence
from plimsoll.pages.shared.panel_links import panel_of
from plimsoll.pages.shared.time_range import MILLISECOND
from plimsoll.rules.schema.signal import Signal
from plimsoll.up.watched import Watched

_BEFORE = 1800 * SECOND
_AFTER = 600 * SECOND
_MOST_OTHERS = 10
_HAPPENED = {
    "fired": "fired",
    "recovered": "recovered",
    "retired": "ended: the host was retired",
    "rule removed": "ended: the rule is not judged any more",
    "stale": "no data any more",
    "data again": "data again",
    "amended": "amended, as samples came late",
    "acknowledged": "acknowledged",
    "flapping": "flapping: it fires again and again",
}


@dataclass(frozen=True, slots=True)
class Look:
    """A signal to look at: its title, its chart (as `data-chart` has it) and its panel's dashboard; empty if none."""

    title: str
    chart: str = ""
    area: str = ""
    panel: int = 0


def content(watched: Watched, alert: Alert, asked: QueryParams, zone: Zone) -> dict[str, Any]:
    """All that the page shows. Its address may ask for another range of the charts."""
    now = time.time_ns()
    signals, rule = watched.site.catalogue.signals, watched.site.catalogue.rules.get(alert.rule)
    others = alert_queries.find_by_key(watched.file, alert.key, 0, _MOST_OTHERS + 1)
    start = str((alert.begin - _BEFORE) // MILLISECOND)
    end = "now" if alert.ended_at is None else str(min(alert.ended_at + _AFTER, now) // MILLISECOND)
    names = rule.look_at if rule and alert.signal else ()
    fires = alert.firing and alert.kind == "rule"
    mates = [one for one in watched.health().alerts if one.incident == alert.incident and one.id != alert.id]
    sure = [certainty(Incident([alert, *mates])), unjudged(alert.host, watched.judged(), signals)] if fires else []
    return {
        "alert": alert,
        "cause": cause(alert) if fires else "",
        "sure": " · ".join(one for one in sure if one),
        "sentence": sentence(alert, zone, now),
        "marks": [*marks(alert, silences.active(watched.file, now), zone)],
        "facts": [*_facts(alert, zone, now)],
        "zone_label": zone.label(alert.fired_at),
        "known_rule": rule is not None,
        "own": _look(alert.signal, alert.host, alert.instance, signals.get(alert.signal)),
        "looks": [_look(name, alert.host, None, signals.get(name)) for name in names]
        or [Look(title) for title in alert.details.look_at],
        "band": [*_band(alert, zone, now)],
        "start": asked.get("from") or start,
        "end": asked.get("to") or end,
        "now": now // MILLISECOND,
        "happened": _happened(watched, alert, zone),
        "others": rows([one for one in others.alerts if one.id != alert.id][:_MOST_OTHERS], (), zone, now),
        "others_total": max(others.total - 1, 0),
    }


def _facts(alert: Alert, zone: Zone, now: int) -> Iterator[tuple[str, str]]:
    unit, details = alert.details.unit, alert.details
    match alert.kind:
        case "rule" | "flapping":
            reduced = f" ({details.reduced})" if details.reduced else ""
            yield "Limit", f"{details.limit}{reduced}"
            yield "Value when it fired", quantity(alert.value, unit)
            if alert.kind == "rule":
                yield "Worst", quantity(alert.worst, unit)
                yield "Last", "no data now" if alert.stale else quantity(alert.last, unit)
                yield "Crossed since", zone.clock(alert.begin)
                yield "Fired", zone.clock(alert.fired_at)
            else:
                yield "Fired", f"{alert.firings} times since {zone.clock(alert.begin)}"
                yield "Flapping since", zone.clock(alert.fired_at)
        case "host-silent" | "all-silent":
            yield "Last sample", zone.clock(alert.since) if alert.since else "none ever came"
            yield "Expected", details.limit
            yield "Fired", zone.clock(alert.fired_at)
        case "plimsoll":
            yield "Since", zone.clock(alert.begin)
    if alert.ended_at is not None:
        yield "Ended", f"{zone.clock(alert.ended_at)}, {alert.ended_how}"
    lasted = duration_text(((alert.ended_at or now) - alert.begin) // SECOND * SECOND)
    yield "Lasted" if alert.ended_at else "Lasts for", lasted


def _band(alert: Alert, zone: Zone, now: int) -> Iterator[tuple[str, str, str]]:
    """What is shaded in the chart: its kind, a word, and when."""
    end = now if alert.ended_at is None else alert.ended_at
    if alert.kind != "rule":
        return
    for kind, word, first, last in (
        ("brief", "pending", alert.begin, alert.fired_at),
        (alert.severity, "firing", alert.fired_at, end),
    ):
        if first < last:
            till = "now" if last == now else zone.clock(last, date=False)
            length = duration_text((last - first) // SECOND * SECOND)
            yield kind, word, f"{zone.clock(first, date=False)}–{till} ({length})"


def _look(name: str, host: str, instance: str | None, signal: Signal | None) -> Look:
    if signal is None:
        return Look(name)
    area, panel = panel_of(name)
    return Look(signal.title, str(Spec(name, (host,), instance)), area, panel)


def _happened(watched: Watched, alert: Alert, zone: Zone) -> Sequence[tuple[str, str, str]]:
    """What happened, in order: when, what, and more about it."""
    found = [(one.at, _HAPPENED.get(one.what, one.what), _more(one, alert)) for one in events(watched.file, alert.id)]
    found += [
        (one.at, f"message to {one.target}: {one.outcome}", one.error or one.title)
        for one in notifications(watched.file, alert.id)
    ]
    return [(zone.clock(at), what, more) for at, what, more in sorted(found, key=lambda one: one[0])]


def _more(event: Event, alert: Alert) -> str:
    value = "" if event.value is None else quantity(event.value, alert.details.unit)
    return ": ".join(part for part in (value, event.note) if part)
