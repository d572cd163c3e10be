"""The pages of rules: all of them, and one with its documentation, sources, overrides, values now and alerts."""

import time
from collections import Counter
from dataclasses import dataclass, replace
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import alert_queries
from plimsoll.model.errors import suggest
from plimsoll.model.times import duration_text
from plimsoll.pages.rules import limits, rule_page
from plimsoll.pages.rules.limits import LimitForm
from plimsoll.pages.shared.asking import asking
from plimsoll.pages.shared.forms import Fields, Forms, see
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.rule_page import threshold_text
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.up.watched import Watched

_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Line:
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


@dataclass(frozen=True, slots=True)
class Part:
    """A pack with its rules."""

    pack: Pack
    lines: list[Line]


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The pages."""
    catalogue = watched.site.catalogue

    def every(request: Request) -> Response:
        words = request.query_params.get("q", "").strip()[:_LONGEST]
        judged = Counter[str]()
        for one in watched.judged().rules:
            judged[one.rule.id] += sum(map(len, one.limits.rows.values()))
        firing = alert_queries.firing_by_rule(watched.file)

        def line(rule: Rule) -> Line:
            signal = catalogue.signals[rule.signal].title
            text = f"{rule.id} {signal} {rule.summary} {rule.severity}".casefold()
            return Line(
                rule=rule,
                signal=signal,
                limit=threshold_text(rule, catalogue.signals),
                holds=duration_text(rule.for_) if rule.for_ else "at once",
                judged=judged[rule.id],
                firing=firing.get(rule.id, 0),
                text=text,
                is_shown=all(word in text for word in words.casefold().split()),
            )

        packs = [Part(pack, [line(rule) for rule in pack.rules]) for pack in catalogue.packs]
        shown = sum(line.is_shown for part in packs for line in part.lines)
        return frame.page(request, "rules/rules.html.j2", "Rules", packs=packs, words=words, shown=shown)

    def one(request: Request) -> Response:
        return shown(request, LimitForm(host=request.query_params.get("host", "")))

    def changed(request: Request, fields: Fields) -> Response:
        form = LimitForm(**{name: fields.get(name, "") for name in ("host", "healthy", "length", "reason")})
        rule = catalogue.rules.get(request.path_params["id"])
        if rule is None:
            return shown(request, form)
        wrong = limits.change(watched, rule, form, asking(request, fields.get("who", "")))
        return shown(request, replace(form, wrong=wrong)) if wrong else see(back(request))

    def undone(request: Request, fields: Fields) -> Response:
        name, host = request.path_params["id"], fields.get("host", "")
        wrong = limits.undo(watched, name, host, asking(request))
        return shown(request, LimitForm(host=host, wrong=wrong)) if wrong else see(back(request))

    def back(request: Request) -> str:
        path = f"/rules/{request.path_params['id']}"
        return f"{frame.links(request).to(path)}#overrides"

    def shown(request: Request, form: LimitForm) -> Response:
        name: str = request.path_params["id"]
        rule = catalogue.rules.get(name)
        if rule is None:
            near = suggest(name, [*catalogue.rules])
            hint = "The page Rules lists those of the packs that are loaded."
            return frame.missing(request, f'No rule has the id "{name}"{near}.', hint)
        content = rule_page.content(watched, rule, frame.zone_of(request), time.time_ns())
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.wrong else HTTPStatus.OK
        return frame.page(
            request, "rules/rule.html.j2", rule.id, status, change=form, **limits.content(watched, rule), **content
        )

    forms = Forms()
    return [
        Route("/rules", every),
        Route("/rules/{id}", one),
        forms.route("/rules/{id}/limit", changed),
        forms.route("/rules/{id}/limit/undo", undone),
        # A form that was refused is shown under these addresses: they must not end nowhere if they are opened.
        Route("/rules/{id}/limit", lambda request: see(f"/rules/{request.path_params['id']}")),
        Route("/rules/{id}/limit/undo", lambda request: see(f"/rules/{request.path_params['id']}")),
    ]
