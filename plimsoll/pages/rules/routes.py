"""The pages of rules: all of them, and one with its documentation, sources, overrides, values now and alerts."""

import time
from collections import Counter
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting.book import search
from plimsoll.model.times import duration_text
from plimsoll.pages.rules import rule_page
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.rule_page import threshold_text
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.strict_yaml import suggest
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
        judged = Counter(one.rule.id for one in watched.judged())
        firing = search.firing_by_rule(watched.file)

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
        name: str = request.path_params["id"]
        rule = catalogue.rules.get(name)
        if rule is None:
            near = suggest(name, [*catalogue.rules])
            hint = "The page Rules lists those of the packs that are loaded."
            return frame.missing(request, f'No rule has the id "{name}"{near}.', hint)
        content = rule_page.content(watched, rule, frame.zone_of(request), time.time_ns())
        return frame.page(request, "rules/rule.html.j2", rule.id, **content)

    return [Route("/rules", every), Route("/rules/{id}", one)]
