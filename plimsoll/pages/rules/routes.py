"""The pages of rules: all of them, and one with its documentation, sources, overrides, values now and alerts."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import alert_queries
from plimsoll.alerting.actions import Actor
from plimsoll.hosts import overlay
from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.series import host_key
from plimsoll.model.times import Zone, duration_text
from plimsoll.pages.rules import rule_page
from plimsoll.pages.shared.asking import asking, record
from plimsoll.pages.shared.forms import Fields, Forms, see
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.rule_page import threshold_text
from plimsoll.rules.schema.pack import Rule
from plimsoll.up.watched import Watched

_MOST_HOSTS = 5000
_one_at_a_time = Lock()
Form = Mapping[str, str]
# What the form has; `length` is for how long a crossing must last, `wrong` why it was refused.
EMPTY: Form = dict.fromkeys(("host", "healthy", "length", "reason", "wrong"), "")
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule in the list: for how many hosts or instances it is judged now, and for how many of them it fires.

    `text` is what a search looks through; `is_shown` is whether it has the words of the address.
    """

    rule: Rule
    signal: str
    limit: str
    holds: str
    judged: int
    firing: int
    text: str
    is_shown: bool


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the pages."""
    catalogue = watched.site.catalogue

    def show_all(request: Request) -> Response:
        words = request.query_params.get("q", "").strip()[:_LONGEST]
        judged = Counter[str]()
        for states in watched.judged().rules:
            judged[states.rule.id] += sum(map(len, states.limits.rows.values()))
        firing = alert_queries.firing_by_rule(watched.file)

        def make_line(rule: Rule) -> RuleLine:
            signal = catalogue.signals[rule.signal].title
            text = f"{rule.id} {signal} {rule.summary} {rule.severity}".casefold()
            limit, holds = threshold_text(rule, catalogue.signals), duration_text(rule.for_) if rule.for_ else "at once"
            is_shown = all(word in text for word in words.casefold().split())
            return RuleLine(rule, signal, limit, holds, judged[rule.id], firing.get(rule.id, 0), text, is_shown)

        packs = [(pack, [*map(make_line, pack.rules)]) for pack in catalogue.packs]
        shown = sum(line.is_shown for _, lines in packs for line in lines)
        return frame.page(request, "rules/rules.html.j2", "Rules", packs=packs, words=words, shown=shown)

    def show_rule(request: Request, form: Form) -> Response:
        name: str = request.path_params["id"]
        rule = catalogue.rules.get(name)
        if rule is None:
            near = suggest(name, [*catalogue.rules])
            hint = "The page Rules lists those of the packs that are loaded."
            return frame.missing(request, f'No rule has the id "{name}"{near}.', hint)
        content = rule_page.content(watched, rule, frame.zone_of(request), time.time_ns())
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form["wrong"] else HTTPStatus.OK
        content |= _limit_content(watched, rule)
        return frame.page(request, "rules/rule.html.j2", rule.id, status, change=form, **content)

    def answer_form(request: Request, form: Form, wrong: str) -> Response:
        if wrong:
            return show_rule(request, {**form, "wrong": wrong})
        path = f"/rules/{request.path_params['id']}"
        return see(f"{frame.links(request).to(path)}#overrides")

    def change_limit(request: Request, fields: Fields) -> Response:
        form = {name: fields.get(name, "") for name in EMPTY}
        rule = catalogue.rules.get(request.path_params["id"])
        if rule is None:
            return show_rule(request, form)
        return answer_form(request, form, change(watched, rule, form, asking(request, fields.get("who", ""))))

    def undo_change(request: Request, fields: Fields) -> Response:
        host = fields.get("host", "")
        wrong = undo(watched, request.path_params["id"], host, asking(request))
        return answer_form(request, {**EMPTY, "host": host}, wrong)

    forms = Forms()
    return [
        Route("/rules", show_all),
        Route(
            "/rules/{id}",
            lambda request: show_rule(request, {**EMPTY, "host": request.query_params.get("host", "")}),
        ),
        *forms.routes("/rules/{id}/limit", change_limit, "/rules/{id}"),
        *forms.routes("/rules/{id}/limit/undo", undo_change, "/rules/{id}"),
    ]


def _limit_content(watched: Watched, rule: Rule) -> dict[str, Any]:
    """What the page needs: the hosts on which the rule is judged, and those whose limit can be taken back."""
    hosts = {one.subject.host for one in watched.judged() if one.rule.id == rule.id}
    try:
        here = overlay.changed_here(watched.folder, rule.id)
    except Unusable:
        here = set[str]()
    general = overlay.limit_now(watched.site.overrides, rule, "", watched.site.catalogue)
    return {"hosts": sorted(hosts, key=host_key)[:_MOST_HOSTS], "changed_here": here, "usual": general}


def change(watched: Watched, rule: Rule, form: Form, actor: Actor) -> str:
    """Change the limit of a rule on a host. Return why that is refused, empty if it is not."""
    if not form["host"]:
        return "give the host"
    host = next((name for name in _known_hosts(watched) if host_key(name) == host_key(form["host"])), None)
    if host is None:
        return f"no host is named {form['host'][:200]}: the page Health lists those that are known"
    if not form["healthy"]:
        return "give the limit, as it is healthy: < 95 %"
    values = {"healthy": form["healthy"], "for": form["length"], "reason": form["reason"]}
    author = f"{actor.name}, {Zone.parse('UTC').clock(time.time_ns())[:10]}"

    def change_file() -> str:
        limit = overlay.change(watched.folder, watched.site.catalogue, rule, host, values, author)
        return f"changed the limit of {rule.id} on {host} to {limit}: {form['reason']}"

    return _perform(watched, actor, change_file)


def undo(watched: Watched, rule: str, host: str, actor: Actor) -> str:
    """Take a change back. Return why that is refused, empty if it is not."""

    def change_file() -> str:
        overlay.remove(watched.folder, rule, host)
        return f"took back the limit of {rule} on {host}"

    return _perform(watched, actor, change_file)


def _known_hosts(watched: Watched) -> set[str]:
    return {host.name for host in watched.health().hosts} | {state.subject.host for state in watched.judged()}


def _perform(watched: Watched, actor: Actor, change_file: Callable[[], str]) -> str:
    """Change the file, and judge by it. If it cannot be judged by, the file is as before."""
    with _one_at_a_time:
        try:
            before = overlay.text(watched.folder)
            action = change_file()
            reloaded = watched.reload()
            if reloaded.refused:
                overlay.save(watched.folder, before)
                return f"nothing was changed: {reloaded.refused}"
        except Unusable as error:
            return str(error)
        except OSError as error:
            return f"{overlay.FILE_NAME} cannot be written: {error.strerror or error}"
    record(watched, actor, action)
    return ""
