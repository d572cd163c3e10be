"""The pages of rules: all of them, and one with its documentation, sources, overrides, values now and alerts."""

import time
from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import alert_queries
from plimsoll.model.errors import suggest
from plimsoll.model.times import duration_text
from plimsoll.pages.rules import limits, rule_page
from plimsoll.pages.rules.limits import Form
from plimsoll.pages.shared.asking import asking
from plimsoll.pages.shared.forms import Fields, Forms, see
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.rule_page import threshold_text
from plimsoll.rules.schema.pack import Rule
from plimsoll.up.watched import Watched

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
        content |= limits.content(watched, rule)
        return frame.page(request, "rules/rule.html.j2", rule.id, status, change=form, **content)

    def answer_form(request: Request, form: Form, wrong: str) -> Response:
        if wrong:
            return show_rule(request, {**form, "wrong": wrong})
        path = f"/rules/{request.path_params['id']}"
        return see(f"{frame.links(request).to(path)}#overrides")

    def change_limit(request: Request, fields: Fields) -> Response:
        form = {name: fields.get(name, "") for name in limits.EMPTY}
        rule = catalogue.rules.get(request.path_params["id"])
        if rule is None:
            return show_rule(request, form)
        return answer_form(request, form, limits.change(watched, rule, form, asking(request, fields.get("who", ""))))

    def undo_change(request: Request, fields: Fields) -> Response:
        host = fields.get("host", "")
        wrong = limits.undo(watched, request.path_params["id"], host, asking(request))
        return answer_form(request, {**limits.EMPTY, "host": host}, wrong)

    forms = Forms()
    return [
        Route("/rules", show_all),
        Route(
            "/rules/{id}",
            lambda request: show_rule(request, {**limits.EMPTY, "host": request.query_params.get("host", "")}),
        ),
        *forms.routes("/rules/{id}/limit", change_limit, "/rules/{id}"),
        *forms.routes("/rules/{id}/limit/undo", undo_change, "/rules/{id}"),
    ]
