"""How much load a system can carry, as one HTML file that loads nothing else: the answer, tables, and the curves."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Template
from markupsafe import Markup

from plimsoll.insights.capacity.find import Capacity
from plimsoll.insights.capacity.tables import demands_table, resources_table
from plimsoll.insights.capacity.words import answer, sentences
from plimsoll.report.capacity.curves import response_curve, use_curve
from plimsoll.report.html import cover
from plimsoll.report.html.templates import environment
from plimsoll.report.render.html import asset
from plimsoll.review.review import Review

_MOST = 12  # curves: of the resources that reach their limits first


@dataclass(frozen=True)
class Table:
    """A table with its heads."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def render(found: Capacity, reviews: Sequence[Review], asked: Sequence[str] = (), now: int | None = None) -> str:
    """The page.

    Args:
        found: What the system can carry.
        reviews: The runs that it was told from.
        asked: Sentences about a number of users and growth, if they were asked for.
        now: When it is made (UTC ns); by default now.
    """
    curves = [use_curve(found, one) for one in found.resources[:_MOST]]
    page = _template().render(
        answer=answer(found),
        asked=asked,
        sentences=sentences(found),
        runs=", ".join(dict.fromkeys(one.run.name or ", ".join(one.hosts) for one in reviews)),
        simulated=any(one.run.simulated for one in reviews),
        tables=[
            Table("Resources", *resources_table(found)),
            Table("What one operation demands", *demands_table(found)),
        ],
        curves=curves,
        responses=[response_curve(found, found.response)] if found.response else [],
        documents=[(one.resource.title, one.resource.limit, one.resource.document) for one in found.resources[:_MOST]],
        made_by=cover.made_by(),
        made_at=cover.made_at(time.time_ns() if now is None else now),
        css=Markup(asset("page/theme.css")) + Markup(asset("page/report.css")) + Markup(asset("page/capacity.css")),
    )
    return page.encode(errors="replace").decode()


@cache
def _template() -> Template:
    return environment(lambda name: asset(f"page/{name}"), {}).get_template("capacity.html.j2")
