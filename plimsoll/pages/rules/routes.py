"""The search for rules, and the page of a rule: documentation, overrides, current values, alerts, limit form."""

import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import alert_queries
from plimsoll.alerting.actions import Actor
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.alerting.preview import Preview, parse_rule_settings, preview, strip_lines
from plimsoll.alerting.series_index import check_nothing, limit_time
from plimsoll.dashboards.limits import find_panel
from plimsoll.hosts import overlay
from plimsoll.model.errors import Unreachable, Unusable, escape_printable_lines, suggest
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, Zone
from plimsoll.model.value_text import format_value
from plimsoll.pages.shared.alert_rows import build_rows
from plimsoll.pages.shared.forms import Fields, find_actor, list_form_routes, redirect_to
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.settings_change import change_settings
from plimsoll.report.rule_page import format_threshold, list_sections
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.units import find_unit, format_healthy
from plimsoll.rules.states import State
from plimsoll.rules.wording import limit_text
from plimsoll.up.watched import Watched

_PREVIEWED = 30 * 86_400 * SECOND
_LONGEST_PREVIEW_S = 20.0
_MOST_JUDGED = 200
_MOST_ALERTS = 20
_MOST_FOUND = 100
_RULE_LINK = re.compile(r"\]\(([a-z0-9-]+)\.md\)")
_WORST_FIRST = (State.FIRING, State.PENDING, State.OK, State.NO_DATA, State.NOT_JUDGED)
_WORDS = {State.FIRING: "firing", State.PENDING: "pending", State.OK: "healthy"}
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")
_MOST_HOSTS = 5000
Form = Mapping[str, str]
# The fields of the form. `length` is how long a crossing must last, `wrong` why the form was refused.
EMPTY: Form = dict.fromkeys(("host", "healthy", "length", "reason", "wrong"), "")
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule in a list of rules. `judged` and `firing` are the numbers of hosts or instances."""

    rule: Rule
    pack: Pack
    signal: str
    limit: str
    judged: int
    firing: int

    def matches(self, words: str, pack: str) -> bool:
        """Return whether the line has all search words and is of the pack; an empty text matches every line."""
        rule = self.rule
        text = f"{rule.id} {self.signal} {rule.summary} {rule.severity} {self.pack.title} {self.pack.pack}".casefold()
        return pack in ("", self.pack.pack) and all(word in text for word in words.casefold().split())


def list_routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the routes of the pages of rules."""
    catalogue = watched.site.catalogue

    def show_all(request: Request) -> Response:
        """Return the page of rules: the matches of a search, else the firing rules; and the packs."""
        words, pack = (request.query_params.get(name, "").strip()[:_LONGEST] for name in ("q", "pack"))
        judged = Counter[str]()
        for states in watched.judged().rules:
            judged[states.rule.id] += sum(map(len, states.limits.rows.values()))
        firing = Counter(alert.rule for alert in alert_queries.read_firing_alerts(watched.file) if alert.kind == "rule")

        def make_line(rule: Rule, pack: Pack) -> RuleLine:
            signal, limit = catalogue.signals[rule.signal].title, format_threshold(rule, catalogue.signals)
            return RuleLine(rule, pack, signal, limit, judged[rule.id], firing[rule.id])

        packs = [(pack, [make_line(rule, pack) for rule in pack.rules]) for pack in catalogue.packs]
        lines = [line for _, lines in packs for line in lines]
        matches = [line for line in lines if (line.matches(words, pack) if words or pack else line.firing)]
        matches.sort(key=lambda line: (line.rule.id != words, not line.firing, not line.judged))
        content: dict[str, Any] = {"words": words, "pack": pack, "lines": matches[:_MOST_FOUND], "found": len(matches)}
        return frame.page(request, "rules/rules.html.j2", "Rules", packs=packs, total=len(lines), **content)

    def show_rule(request: Request, form: Form, previewed: Sequence[str] = ()) -> Response:
        name: str = request.path_params["id"]
        rule = catalogue.rules.get(name)
        if rule is None:
            near = suggest(name, [*catalogue.rules])
            hint = "The page Rules lists those of the packs that are loaded."
            return frame.missing(request, f'No rule has the id "{name}"{near}.', hint)
        content = build_rule_content(watched, rule, frame.zone_of(request), time.time_ns())
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form["wrong"] else HTTPStatus.OK
        content |= {**_limit_content(watched, rule), "previewed": previewed}
        return frame.page(request, "rules/rule.html.j2", rule.id, status, change=form, **content)

    def answer_form(request: Request, form: Form, wrong: str) -> Response:
        if wrong:
            return show_rule(request, {**form, "wrong": wrong})
        path = f"/rules/{request.path_params['id']}"
        return redirect_to(f"{frame.links(request).to(path)}#overrides")

    def change_limit(request: Request, fields: Fields) -> Response:
        form = {name: fields.get(name, "") for name in EMPTY}
        rule = catalogue.rules.get(request.path_params["id"])
        if rule is None:
            return show_rule(request, form)
        return answer_form(request, form, apply_form(watched, rule, form, find_actor(request, fields.get("who", ""))))

    def preview_limit(request: Request, fields: Fields) -> Response:
        form = {name: fields.get(name, "") for name in EMPTY}
        rule = catalogue.rules.get(request.path_params["id"])
        if rule is None:
            return show_rule(request, form)
        values, end = {"healthy": form["healthy"], "for": form["length"]}, watched.progress().evaluated or 0
        try:
            shown = preview_rule(watched, rule, values, end - _PREVIEWED, end, form["host"] or "*")
        except (Unusable, Unreachable) as error:
            return show_rule(request, {**form, "wrong": str(error)})
        return show_rule(request, form, strip_lines(shown, frame.zone_of(request)))

    def undo_change(request: Request, fields: Fields) -> Response:
        rule, host = request.path_params["id"], fields.get("host", "")

        def change_file() -> str:
            overlay.remove(watched.folder, rule, host)
            return f"took back the limit of {rule} on {host}"

        return answer_form(request, {**EMPTY, "host": host}, change_settings(watched, find_actor(request), change_file))

    return [
        Route("/rules", show_all),
        Route(
            "/rules/{id}", lambda request: show_rule(request, {**EMPTY, "host": request.query_params.get("host", "")})
        ),
        *list_form_routes("/rules/{id}/limit", change_limit, "/rules/{id}"),
        *list_form_routes("/rules/{id}/limit/preview", preview_limit, "/rules/{id}"),
        *list_form_routes("/rules/{id}/limit/undo", undo_change, "/rules/{id}"),
    ]


def _limit_content(watched: Watched, rule: Rule) -> dict[str, Any]:
    """Return the variables of the limit form: the rule's hosts, the hosts with a changed limit, and the usual limit."""
    hosts = {state.subject.host for state in watched.judged() if state.rule.id == rule.id}
    try:
        here = overlay.list_changed_hosts(watched.folder, rule.id)
    except Unusable:
        here = set[str]()
    changed, _ = watched.site.overrides.of(rule, "")
    usual = format_healthy(changed.healthy, find_unit(rule, watched.site.catalogue.signals))
    return {"hosts": sorted(hosts, key=make_host_key)[:_MOST_HOSTS], "changed_here": here, "usual": usual}


def apply_form(watched: Watched, rule: Rule, form: Form, actor: Actor) -> str:
    """Change the limit of a rule on a host, as the form says. Return why it was refused, or an empty text."""
    if not form["host"]:
        return "give the host"
    names = {host.name for host in watched.health().hosts} | {state.subject.host for state in watched.judged()}
    host = next((name for name in names if make_host_key(name) == make_host_key(form["host"])), None)
    if host is None:
        return f"no host is named {form['host'][:200]}: the page Health lists those that are known"
    if not form["healthy"]:
        return "give the limit, as it is healthy: < 95 %"
    values = {"healthy": form["healthy"], "for": form["length"], "reason": form["reason"]}
    author = f"{actor.name}, {Zone.parse('UTC').clock(time.time_ns())[:10]}"

    def change_file() -> str:
        limit = overlay.change_limit(watched.folder, watched.site.catalogue, rule, host, values, author)
        return f"changed the limit of {rule.id} on {host} to {limit}: {form['reason']}"

    return change_settings(watched, actor, change_file)


def preview_rule(watched: Watched, rule: Rule, values: Mapping[str, str], start: int, end: int, host: str) -> Preview:
    """Return how often a rule fired from `start` to `end` (UTC ns), and how often it would have with other `values`.

    Raise Unusable if `values` are invalid, or if there are too many samples.
    """
    settings = parse_rule_settings(values, rule, watched.site) if any(values.values()) else None
    check = limit_time(_LONGEST_PREVIEW_S, check_nothing)
    try:
        return preview(watched.store.live, watched.site, watched.configured, rule, settings, start, end, host, check)
    except TimeoutError:
        raise Unusable("there are too many samples to look at here; use plimsoll rules preview") from None


def build_rule_content(watched: Watched, rule: Rule, zone: Zone, now: int) -> dict[str, Any]:
    """Return the template variables of the page of a rule."""
    catalogue = watched.site.catalogue
    judged = sorted((state for state in watched.judged() if state.rule.id == rule.id), key=_rank)
    alerts, alerts_total = alert_queries.find_latest(watched.file, rule.id, 0, _MOST_ALERTS)
    unit = catalogue.signals[rule.signal].unit
    states = [_WORDS.get(state.state, "no data") for state in judged]
    area, panel = find_panel(rule.signal)
    return {
        "rule": rule,
        "pack": next(pack for pack in catalogue.packs if any(other.id == rule.id for other in pack.rules)),
        "area": area,
        "panel": panel,
        "limit": format_threshold(rule, catalogue.signals),
        "signal": catalogue.signals[rule.signal].title,
        "sections": [(title, render_markdown(text)) for title, text in list_sections(rule, catalogue.signals)],
        "supersedes": [other.id for other in catalogue.rules.values() if rule.id in other.superseded_by],
        "overrides": [*_list_overrides(watched, rule)],
        "judged": [_format_state(state, unit, zone) for state in judged[:_MOST_JUDGED]],
        "judged_total": len(judged),
        # `2 firing, 14 healthy`.
        "states": ", ".join(f"{states.count(word):,} {word}" for word in dict.fromkeys(states)),
        "alerts": build_rows(alerts, (), zone),
        "alerts_total": alerts_total,
        "zone_label": zone.label(now),
    }


def _rank(state: RuleState) -> tuple[int, float, str, str]:
    """Return a sort key: the worst state first, then the value that is furthest past its limit."""
    over = state.value - state.healthy.limit
    excess: Mapping[str, float] = {"higher": over, "lower": -over, "either": abs(over)}
    furthest_first = math.inf if math.isnan(over) else -excess[state.healthy.worse]
    where = make_host_key(state.subject.host), (state.subject.instance or "").casefold()
    return _WORST_FIRST.index(state.state), furthest_first, *where


def _format_state(state: RuleState, unit: str, zone: Zone) -> dict[str, str]:
    """Return the state of a rule on a host or instance as texts; `severity` is empty unless the limit is crossed."""
    is_crossed = state.state in (State.FIRING, State.PENDING)
    return {
        "host": state.subject.host,
        "instance": state.subject.instance or "",
        "value": format_value(state.value, unit),
        "limit": limit_text(state.healthy, unit),
        "state": _WORDS.get(state.state, "no data"),
        "since": zone.clock(state.since) if is_crossed and state.since else "",
        "severity": state.rule.severity if is_crossed else "",
        "note": state.note,
    }


def _list_overrides(watched: Watched, rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield where plimsoll.toml changes a rule, with a note: host groups, then `all hosts`, then single hosts."""
    overrides = watched.site.overrides
    for group in overrides.groups:
        if rule.id in group.rules:
            yield group.place, f"{group.rules[rule.id].reason}"
    hosts = [host for host, changed in overrides.by_host.items() if rule.id in changed]
    for host in [*([""] if rule.id in overrides.general else []), *hosts]:
        override = overrides.of(rule, host)[1]
        yield host or "all hosts", override.note if override else ""


def render_markdown(text: str) -> Markup:
    """Return Markdown as HTML without raw HTML and pictures; links between rules lead to the rules' pages."""
    return Markup(_MARKDOWN.render(_RULE_LINK.sub(r"](/rules/\1)", escape_printable_lines(text))))
