"""The sentences on alerts in notifications, on the command line and on pages."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from plimsoll.alerting.alert import Alert, is_healthy
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.alerting.silences import Silence
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.rules.load import Catalogue
from plimsoll.rules.next_steps import find_step
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import State
from plimsoll.rules.wording import describe_crossed, limit_text

_WORDS = {
    "cpu": "{host} {probably}is short of processors",
    "memory": "{host} {probably}has too little memory",
    "disk": "{disk} {probably}cannot keep up",
    "io": "{disk} {probably}cannot keep up",
    "space": "{disk} {probably}is running out of space",
    "network": "The network of {host} {probably}is near what it can carry",
    "software": "{host} {probably}waits for a lock, a thread or a queue",
}
# One processor or process, or the time that another guest takes, proves no shortage of the resource.
_OF_ITSELF = ("process.cpu", "cpu.processor_busy", "cpu.steal")
_MOST_AGAINST = _MOST_LOOKS = 3
_NEAR = 0.2  # of the limit; ours
_RESOURCES = {"cpu": "processors", "memory": "memory", "disk": "disks"}
_AGAIN = {
    "recovered": "healthy again",
    "retired": "no longer watched: the host was retired",
    "rule removed": "no longer judged: the rule was removed",
}
# The sentences of alerts without a rule.
_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "host-silent": {
        "headline": "{host} is silent",
        "still": "{host} has been silent for {long}{why}.",
        "state": "Sends no samples: nothing is judged.",
        "ended": "{host} sends again, after {long}.",
        "brief": "{host} was silent, {span}.",
    },
    "all-silent": {
        "headline": "No data from any of {hosts}",
        "still": "No data has come from any of {hosts} for {long}.",
        "state": "No data from any of {hosts}.",
        "ended": "Some of {hosts} sends again, after {long}.",
        "brief": "No data came from any of {hosts}, {span}.",
        "cause": "No host sends samples",
    },
    "flapping": {
        "headline": "{subject}: flapping",
        "fired": "{subject}: flapping: {fired} since {begin}. It is not notified again until it is stable.",
        "still": "{subject}, flapping for {long}: {fired}.",
        "state": "{title}, flapping: {fired}.",
        "ended": "{subject}: no longer flapping, {fired} between {span}.",
        "brief": "{subject}, flapping {span}: {fired}.",
        "cause": "{host} passes a limit again and again",
    },
    "plimsoll": {
        "headline": "{title}",
        "fired": "{summary}.",
        "still": "{summary}, for {long}.",
        "state": "{summary}.",
        "ended": "Over, after {long}: {title}.",
        "brief": "{title}, {span}.",
        "cause": "{title}",
    },
}


def format_headline(alert: Alert) -> str:
    """Return the alert in a few words: `Processor time on WEB01: 92 %`, `WEB01 is silent`."""
    if alert.kind != "rule":
        return _fill_sentence(alert, "headline")
    if _is_within(alert):
        return f"{_format_title(alert)}: was {format_value(alert.worst, alert.details.unit)}"
    return f"{_format_title(alert)}: {format_value(_find_shown_value(alert), alert.details.unit)}"


def format_evidence(alert: Alert) -> str:
    """Return the quantity past its limit, with its value: `Processor time 92 %`."""
    return f"{alert.details.title} {format_value(_find_shown_value(alert), alert.details.unit)}"


def describe_firing(alert: Alert, zone: Zone) -> str:
    """Return `Processor time on WEB01: 92 % (1 min mean); it should stay below 80 %.`"""
    match alert.kind:
        case "host-silent":
            never = "its samples are of a time that has not come" if alert.details.note else "it never sent one"
            since = f"no sample newer than {zone.clock(alert.since)} arrived" if alert.since else never
            return (
                f"{format_headline(alert)}: {since}; {alert.details.note or f'it should send {alert.details.limit}'}."
            )
        case "all-silent":
            since = f": none newer than {zone.clock(alert.since)} arrived" if alert.since else ": none ever arrived"
            return f"{format_headline(alert)}{since}. The network or this machine may be the reason."
        case "rule":
            stays = " and has not recovered" if _is_within(alert) else ""
            return f"{format_headline(alert)}{_describe_reduction(alert)}{stays}; it {alert.details.should}."
        case _:
            return _fill_sentence(alert, "fired", begin=zone.clock(alert.begin))


def describe_lasting(alert: Alert, now: int) -> str:
    """Return `Processor time on WEB01, past its limit for 2 h: now 95 %, at worst 99 %; it should stay ...`"""
    long = format_duration((now - alert.begin) // SECOND * SECOND)
    if alert.kind != "rule":
        return _fill_sentence(alert, "still", long=long, why=f": {alert.details.note}" if alert.details.note else "")
    last = (
        "without data now"
        if alert.stale
        else f"now {format_value(alert.last, alert.details.unit)}{_format_margin(alert)}"
    )
    past, ends = f"past its limit for {long}", ""
    if _is_within(alert) and not alert.stale:
        past = f"passed its limit {long} ago, not recovered"
        ends = f", and the alert ends when it is {alert.details.recovers}" if alert.details.recovers else ""
    return f"{_format_title(alert)}, {past}: {last}, {_format_worst(alert)}; it {alert.details.should}{ends}."


def describe_state(alert: Alert) -> str:
    """Return the alert without its host, which the caller names: `Processor time: 92 %; limit < 80 %.`"""
    if alert.kind == "host-silent" and alert.details.note:
        return f"Not judged: {alert.details.note}."
    if alert.kind != "rule":
        return _fill_sentence(alert, "state")
    value = format_value(_find_shown_value(alert), alert.details.unit)
    now = f"{value}{_format_margin(alert)}"
    if alert.stale:
        now = f"was {value} and has no data now"
    elif _is_within(alert):
        now = f"was {format_value(alert.worst, alert.details.unit)} and has not recovered, now {value}"
    return f"{alert.details.title}: {now}; limit {alert.details.limit}."


def describe_end(alert: Alert, zone: Zone, remains: Alert | None = None) -> str:
    """Return `Processor time on WEB01: healthy again; past its limit for 12 min, at worst 95 % (1 min mean).`

    `remains` is an alert of the same incident that still fires: the sentence then does not say `healthy again`.
    """
    ended = alert.fired_at if alert.ended_at is None else alert.ended_at
    long = format_duration(ended - alert.begin)
    ending = alert.ended_how or "recovered"
    if alert.kind == "host-silent" and ending != "recovered":
        return f"{alert.host}: {_AGAIN[ending]}."
    if alert.kind != "rule":
        return _fill_sentence(alert, "ended", long=long, span=zone.span(alert.begin, ended))
    again = _AGAIN[ending] if remains is None else f"no longer past its {alert.severity} limit"
    ended_part = (
        f"{_format_title(alert)}: {again}; past its limit for {long}, "
        f"{_format_worst(alert)}{_describe_reduction(alert)}."
    )
    return ended_part if remains is None else f"{ended_part} {describe_remaining(remains)}"


def describe_remaining(alert: Alert) -> str:
    """Return a sentence on an alert that still fires: `A warning still fires: Processor time on WEB01: 85 %; ...`"""
    kind = "A warning" if alert.severity == "warning" else "A critical alert"
    return f"{kind} still fires: {format_headline(alert)}; it {alert.details.should}."


def summarize_ended(alert: Alert, zone: Zone) -> str:
    """Return a line on an ended alert: `Processor time on WEB01, past its limit 10:22:00–10:34:00, at worst ...`."""
    span = zone.span(alert.begin, alert.fired_at if alert.ended_at is None else alert.ended_at)
    if alert.kind != "rule":
        return _fill_sentence(alert, "brief", span=span)
    was = f"{_format_title(alert)}, past its limit {span}, {_format_worst(alert)}{_describe_reduction(alert)}"
    return f"{was}; it {alert.details.should}."


def describe_silence(silence: Silence, muted: int, zone: Zone) -> str:
    """Return a sentence on what a silence just made does. `muted` is the number of firing alerts that match it."""
    firing = format_count(muted, "alert") if muted else "no alert"
    until = f"{zone.clock(silence.until)} {zone.label(silence.until)}"
    return f"Silence {silence.id} holds until {until}; it matches {firing} firing now"


def _find_shown_value(alert: Alert) -> float:
    return alert.value if math.isnan(alert.last) else alert.last


def _is_within(alert: Alert) -> bool:
    """Return whether the alert's value is healthy again, so that only the `recover` limit keeps the alert firing."""
    return bool(alert.healthy) and not math.isnan(alert.worst) and is_healthy(alert.healthy, _find_shown_value(alert))


def _format_margin(alert: Alert) -> str:
    """Return `, 3 % past its limit` if a value is just past its limit; empty if it is past by a fifth or more.

    Shares have no margin, as per cent of per cent are misread.
    """
    limit = Healthy.parse(alert.healthy).limit if alert.healthy and alert.details.unit != "%" else 0.0
    share = abs(_find_shown_value(alert) - limit) / abs(limit) if limit else math.inf
    return f", {share:.0%} past its limit".replace("%", " %") if share < _NEAR and not _is_within(alert) else ""


def name_quantity(alert: Alert) -> str:
    """Return the name of the quantity past its limit, without the host: `Free space, C:`."""
    return f"{alert.details.title}, {alert.instance}" if alert.instance else alert.details.title


def _format_title(alert: Alert) -> str:
    return f"{alert.details.title} on {alert.place}"


def _fill_sentence(alert: Alert, name: str, **times: str) -> str:
    """Return sentence `name` of _SENTENCES for an alert. An alert on all hosts has the title `Samples of 10 hosts`."""
    details, subject = alert.details, _format_title(alert)
    hosts, fired = details.title.removeprefix("Samples of "), f"it fired {format_count(alert.firings, 'time')}"
    words = {"host": alert.host, "hosts": hosts, "title": details.title, "summary": details.summary}
    return _SENTENCES[alert.kind][name].format(**words, subject=subject, fired=fired, **times)


def _format_worst(alert: Alert) -> str:
    return (
        f"at worst {format_value(alert.worst, alert.details.unit)}"
        if not math.isnan(alert.worst)
        else "without a value"
    )


def _describe_reduction(alert: Alert) -> str:
    return f" ({alert.details.reduced})" if alert.details.reduced else ""


def describe_cause(alert: Alert) -> str:
    """Return the cause of an alert, without a full stop: `SQLSRV01 has too little memory`."""
    if alert.kind == "host-silent":
        return f"{alert.host} sends {'samples of a wrong time' if alert.details.note else 'no samples'}"
    if alert.kind != "rule":
        return _fill_sentence(alert, "cause")
    # Where no resource is short, its rule says what a crossing means.
    summary = alert.details.summary.partition(". ")[0].rstrip(".")
    return describe_shortage(alert) or f"{alert.host}: {summary or alert.details.title}"


def describe_shortage(alert: Alert) -> str:
    """Return a phrase on the resource that a host lacks: `SQLSRV01 has too little memory`; empty if not shown."""
    if alert.kind != "rule" or alert.signal in _OF_ITSELF:
        return ""
    return _WORDS.get(alert.details.cause, "").format(
        host=alert.host,
        disk=f"{alert.instance} of {alert.host}" if alert.instance else f"A disk of {alert.host}",
        probably="probably " if alert.is_hint else "",
    )


def describe_certainty(incident: Incident) -> str:
    """Return how an incident's cause is known: `inferred from 3 signals`; empty if the cause is not inferred."""
    if incident.worst.kind != "rule":
        return ""
    count = len({alert.signal for alert in incident.alerts})
    return f"inferred from {format_count(count, 'signal')}"


def describe_confidence(incident: Incident, judged: LatestEvaluation, catalogue: Catalogue) -> str:
    """Return how sure an incident's cause is: the evidence for and against it, and resources that no limit judges."""
    alert = incident.worst
    if alert.kind != "rule":
        return ""
    against = _weigh_evidence(alert, judged, catalogue) if alert.is_hint and alert.rule in catalogue.rules else ()
    parts = (describe_certainty(incident), *against, describe_unjudged(alert.host, judged, catalogue.signals))
    return " · ".join(filter(None, parts))


def _weigh_evidence(alert: Alert, judged: LatestEvaluation, catalogue: Catalogue) -> Iterator[str]:
    """Yield the further conditions of an alert's rule, and the limits that hold although the cause would cross them."""
    rule, signals = catalogue.rules[alert.rule], catalogue.signals
    states = [state for state in judged.on(make_host_key(alert.host)) if state.state != State.NO_DATA]
    recorded = {state.rule.signal for state in states}
    for condition in rule.and_:
        title, unit = signals[condition.signal].title, signals[condition.signal].unit
        limit = describe_crossed(condition.healthy, unit)
        yield f"and {title} {limit}" if condition.signal in recorded else f"{title} would decide, and is not recorded"
    healthy_values = {
        state.rule.signal: f"{title} {format_value(state.value, unit)} ({limit_text(state.healthy, unit)})"
        for state in states
        for title, unit in [(signals[state.rule.signal].title, signals[state.rule.signal].unit)]
        if state.rule.severity != "info" and state.healthy.holds(np.array([state.value]))[0]
    }
    if against := [healthy_values[name] for name in rule.look_at if name in healthy_values][:_MOST_AGAINST]:
        yield f"against it: {', '.join(against)}"


def list_next_steps(alert: Alert, catalogue: Catalogue) -> Iterator[str]:
    """Yield clauses on what to do next about an alert: by its rule, then which signals to look at."""
    if (rule := catalogue.rules.get(alert.rule)) and (step := find_step(rule, alert.host)):
        yield step
    if titles := alert.details.look_at[:_MOST_LOOKS]:
        yield f"look at {', '.join(titles)}"


def describe_unjudged(host: str, judged: LatestEvaluation, signals: Mapping[str, Signal]) -> str:
    """Return the resources of a host that no limit judges, as text: `memory and disks not judged`; empty if none."""
    have = {
        signals[rule_state.rule.signal].resource
        for rule_state in judged.on(make_host_key(host))
        if rule_state.state != State.NO_DATA and rule_state.rule.severity != "info"
    }
    lacking = [word for resource, word in _RESOURCES.items() if resource not in have]
    return f"{join_names(lacking, len(lacking))} not judged" if lacking else ""
