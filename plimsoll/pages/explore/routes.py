"""`/explore?q=WORDS&line=SPEC&line=SPEC`: series that words find, and a chart of those that were added."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.charts.raw_series import is_raw, raw_signal
from plimsoll.pages.dashboards.range_picker import RangePicker
from plimsoll.pages.explore.offers import MOST, offers
from plimsoll.pages.shared.frame import Frame
from plimsoll.rules.schema.signal import Signal
from plimsoll.up.watched import Watched

_LONGEST = 100
_MOST_LINES = 40  # in an address
_MILLISECONDS = 1000


@dataclass(frozen=True)
class Chosen:
    """A line that was added: its spec, what it is, and the link without it.

    Lines that share a unit share a chart; None is no line.
    """

    spec: str
    title: str
    shares: str | None
    without: str


def routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """The page, and the part of it that is found while somebody types."""

    def page(request: Request) -> Response:
        return frame.page(request, "explore/explore.html.j2", "Explore", **_content(request, frame, scenes))

    def found(request: Request) -> Response:
        return HTMLResponse(frame.part(request, "explore/found.html.j2", **_found(request, frame, scenes)))

    return [Route("/explore", page), Route("/explore/found", found)]


def _content(request: Request, frame: Frame, scenes: Scenes) -> dict[str, Any]:
    texts = _lines(request)
    chosen = [_chosen(request, frame, scenes.signals, texts, text) for text in texts]
    charts: dict[str, list[str]] = {}
    for one in chosen:
        if one.shares is not None:
            charts.setdefault(one.shares, []).append(one.spec)
    return {
        **_found(request, frame, scenes),
        "chosen": chosen,
        "charts": [(";".join(specs), unit) for unit, specs in charts.items()],
        **_senders(request, frame, scenes),
        "picker": RangePicker.of(request, frame.zone_of(request)),
        "now": round(time.time() * _MILLISECONDS),
    }


def _senders(request: Request, frame: Frame, scenes: Scenes) -> dict[str, Any]:
    """The hosts to begin with, each with the link that finds what it sends."""
    picker, links = RangePicker.of(request, frame.zone_of(request)), frame.links(request)
    if request.query_params.get("q", "").strip() or _lines(request):
        return {"senders": (), "more_senders": 0}
    try:
        hosts = scenes.live(picker.chosen.start, picker.chosen.end).hosts
    except (Unreachable, Unusable):  # the part that is found says so
        hosts = ()
    return {
        "senders": [(one, links.to("/explore", q=one)) for one in hosts[:MOST]],
        "more_senders": max(0, len(hosts) - MOST),
    }


def _found(request: Request, frame: Frame, scenes: Scenes) -> dict[str, Any]:
    """What the words find, each with the link that adds it."""
    words = request.query_params.get("q", "")[:_LONGEST]
    picker, texts = RangePicker.of(request, frame.zone_of(request)), _lines(request)
    try:
        every, problem = offers(scenes.live(picker.chosen.start, picker.chosen.end), words), ""
    except (Unreachable, Unusable) as error:
        every, problem = [], str(error)
    links = frame.links(request)
    rows = [(one, links.kept(_address(request, [*texts, one.spec])) if one.spec not in texts else "") for one in every]
    return {
        "words": words,
        "signals": [(one, link) for one, link in rows if one.is_signal],
        "sent": [(one, link) for one, link in rows if not one.is_signal],
        "most": MOST,
        "problem": problem,
        "lines": texts,
    }


def _lines(request: Request) -> list[str]:
    return [*dict.fromkeys(request.query_params.getlist("line"))][:_MOST_LINES]


def _chosen(request: Request, frame: Frame, signals: Mapping[str, Signal], texts: Sequence[str], text: str) -> Chosen:
    without = frame.links(request).kept(_address(request, [one for one in texts if one != text]))
    try:
        spec = Spec.parse(text)
    except Unusable as error:
        return Chosen(text, str(error), None, without)
    signal = signals.get(spec.signal) or (raw_signal(spec.signal) if is_raw(spec.signal) else None)
    if signal is None:
        return Chosen(text, f'no signal is named "{spec.signal[:_LONGEST]}"', None, without)
    places = [*(spec.hosts[:3] or ["all hosts"]), *([spec.instance] if spec.instance else [])]
    return Chosen(text, " · ".join([signal.title, *places]), signal.unit, without)


def _address(request: Request, lines: Sequence[str]) -> str:
    """The page with these lines; the words and the range stay."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("line", "zone")]
    return f"/explore?{urlencode([*kept, *(('line', one) for one in lines)])}"
