"""What the page of one rule shows."""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from plimsoll.alerting import alert_queries
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.model.errors import printable_lines
from plimsoll.model.series import host_key
from plimsoll.model.times import Zone
from plimsoll.model.value_text import quantity
from plimsoll.pages.shared.alert_rows import rows
from plimsoll.pages.shared.panel_links import panel_of
from plimsoll.report.rule_page import sections, threshold_text
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State
from plimsoll.rules.wording import limit_text
from plimsoll.up.watched import Watched

_MOST_JUDGED = 200
_MOST_ALERTS = 20
_RULE_LINK = re.compile(r"\]\(([a-z0-9-]+)\.md\)")
_WORST_FIRST = (State.FIRING, State.PENDING, State.OK, State.NO_DATA, State.NOT_JUDGED)
_WORDS = {State.FIRING: "firing", State.PENDING: "pending", State.OK: "healthy"}


def content(watched: Watched, rule: Rule, zone: Zone, now: int) -> dict[str, Any]:
    """All that the page shows."""
    catalogue = watched.site.catalogue
    judged = sorted((one for one in watched.judged() if one.rule.id == rule.id), key=_rank)
    alerts = alert_queries.find_by_rule(watched.file, rule.id, 0, _MOST_ALERTS)
    unit = catalogue.signals[rule.signal].unit
    area, panel = panel_of(rule.signal)
    return {
        "rule": rule,
        "pack": next(pack for pack in catalogue.packs if any(one.id == rule.id for one in pack.rules)),
        "area": area,
        "panel": panel,
        "limit": threshold_text(rule, catalogue.signals),
        "signal": catalogue.signals[rule.signal].title,
        "sections": [(one.title, render_markdown(one.text)) for one in sections(rule, catalogue.signals)],
        "supersedes": [other.id for other in catalogue.rules.values() if rule.id in other.superseded_by],
        "overrides": [*_overrides(watched, rule)],
        "judged": [_judged(one, unit, zone) for one in judged[:_MOST_JUDGED]],
        "judged_total": len(judged),
        "states": _states(judged),
        "alerts": rows(alerts.alerts, (), zone, now),
        "alerts_total": alerts.total,
        "zone_label": zone.label(now),
    }


def _rank(one: RuleState) -> tuple[int, float, str, str]:
    where = host_key(one.subject.host), (one.subject.instance or "").casefold()
    return _WORST_FIRST.index(one.state), -_excess(one.value, one.healthy), *where


def _excess(value: float, healthy: Healthy) -> float:
    """How far a value is past its limit; below zero on the healthy side."""
    if math.isnan(value):
        return -math.inf
    match healthy.worse:
        case "higher":
            return value - healthy.limit
        case "lower":
            return healthy.limit - value
        case "either":
            return abs(value - healthy.limit)


def _judged(state: RuleState, unit: str, zone: Zone) -> dict[str, str]:
    """Return a host or instance for which the rule is judged now; `severity` is empty unless its limit is crossed."""
    is_crossed = state.state in (State.FIRING, State.PENDING)
    return {
        "host": state.subject.host,
        "instance": state.subject.instance or "",
        "value": quantity(state.value, unit),
        "limit": limit_text(state.healthy, unit),
        "state": _WORDS.get(state.state, "no data"),
        "since": zone.clock(state.since) if is_crossed and state.since else "",
        "severity": state.rule.severity if is_crossed else "",
        "note": state.note,
    }


def _states(judged: Sequence[RuleState]) -> str:
    """`2 firing, 14 healthy`."""
    states = [_WORDS.get(one.state, "no data") for one in judged]
    return ", ".join(f"{states.count(word):,} {word}" for word in dict.fromkeys(states))


def _overrides(watched: Watched, rule: Rule) -> Iterator[tuple[str, str]]:
    """What plimsoll.toml changes of the rule, for all hosts and for single ones."""
    overrides = watched.site.overrides
    if rule.id in overrides.general:
        yield "all hosts", _note(watched, rule, "")
    for host, changed in overrides.by_host.items():
        if rule.id in changed:
            yield host, _note(watched, rule, host)


def _note(watched: Watched, rule: Rule, host: str) -> str:
    override = watched.site.overrides.of(rule, host)[1]
    return override.note if override else ""


def render_markdown(text: str) -> Markup:
    """Return Markdown as HTML. HTML in it is shown as it is written, and pictures are not loaded.

    Links to pages of other rules in docs/rules lead to their pages here.
    """
    return Markup(_parser().render(_RULE_LINK.sub(r"](/rules/\1)", printable_lines(text))))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).disable("image")
