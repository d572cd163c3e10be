"""`/explore?q=WORDS&line=SPEC&line=SPEC`: searches for signals and series, and draws those that the user added."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.dashboards.areas import load_areas
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.series import make_host_key
from plimsoll.pages.charts.chart_spec import Spec, make_raw_signal, name_raw_instance, name_raw_series
from plimsoll.pages.charts.hosts_in_range import Scene, Scenes
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import MILLISECOND, RangePicker
from plimsoll.rules.subjects import find_host, list_host_tags

_LONGEST = 100
_MOST_LINES = 40  # in an address
_MOST = 40  # offers of each kind
_MOST_HOSTS = 50  # whose signals are looked at


@dataclass(frozen=True, slots=True)
class ExploreLine:
    """A line that the user can add to the charts (an offer), or that is drawn.

    `link` adds an offered line or removes a drawn line; empty for an offer that is drawn already. Drawn lines of the
    same unit share a chart. If the spec is invalid, `unit` is None and `title` is the reason.
    """

    title: str
    spec: str
    host: str = ""
    link: str = ""
    unit: str | None = None


def list_routes(frame: Frame, scenes: Scenes) -> list[Route]:
    """Return the routes of the Explore page and of its search results, which a script requests."""

    def page(request: Request) -> Response:
        return frame.page(request, "dashboards/explore.html.j2", "Explore", **_Explore(request, frame, scenes).page())

    def offers(request: Request) -> Response:
        content = _Explore(request, frame, scenes).offers()
        return HTMLResponse(frame.part(request, "dashboards/found.html.j2", **content))

    return [Route("/explore", page), Route("/explore/found", offers)]


class _Explore:
    """The Explore page for one request."""

    def __init__(self, request: Request, frame: Frame, scenes: Scenes) -> None:
        self._request = request
        self._query = request.query_params
        self._links = frame.links(request)
        self._scenes = scenes
        self._picker = RangePicker.of(request, frame.zone_of(request))
        self._lines = [*dict.fromkeys(self._query.getlist("line"))][:_MOST_LINES]

    def page(self) -> dict[str, Any]:
        """Return the variables of the template of the page."""
        hosts: Sequence[str] = ()
        shown = self._lines
        with suppress(Unreachable, Unusable):  # the search results report these
            if not self._query.get("q", "").strip() and not shown:
                scene = self._open_scene()
                hosts = scene.hosts
                firsts = (Spec(name, ()) for name in load_areas().health.hosts)
                shown = [str(spec) for spec in firsts if scene.has(spec)][:1]
        lines = [*map(self._parse_line, shown)]
        charts = group_pairs((line.unit, line.spec) for line in lines if line.unit is not None)
        return {
            **self.offers(),
            "chosen": lines if self._lines else (),
            "charts": [(";".join(specs), unit if self._lines else lines[0].title) for unit, specs in charts.items()],
            "senders": [(host, self._links.to("/explore", q=host)) for host in hosts[:_MOST]],
            "more_senders": max(0, len(hosts) - _MOST),
            "picker": self._picker,
            "now": time.time_ns() // MILLISECOND,
        }

    def offers(self) -> dict[str, Any]:
        """Return the template variables of the search results, each with the link that draws it."""
        words, problem = self._query.get("q", "")[:_LONGEST], ""
        signals: list[ExploreLine] = []
        sent: list[ExploreLine] = []
        try:
            if folded := words.casefold().split():
                scene = self._open_scene()
                signals = [*map(self._add_link, islice(_find_signals(scene, folded), _MOST))]
                sent = [*map(self._add_link, islice(_find_sent(scene, folded), _MOST))]
        except (Unreachable, Unusable) as error:
            problem = str(error)
        return {"words": words, "signals": signals, "sent": sent, "most": _MOST, "problem": problem}

    def _open_scene(self) -> Scene:
        return self._scenes.live(self._picker.chosen.start, self._picker.chosen.end)

    def _add_link(self, line: ExploreLine) -> ExploreLine:
        return line if line.spec in self._lines else replace(line, link=self._make_address([*self._lines, line.spec]))

    def _parse_line(self, text: str) -> ExploreLine:
        without = self._make_address([line for line in self._lines if line != text])
        try:
            spec = Spec.parse(text)
            if not spec.is_raw and spec.signal not in self._scenes.signals:
                raise Unusable(f'no signal is named "{spec.signal[:_LONGEST]}"')
        except Unusable as error:
            return ExploreLine(str(error), text, link=without)
        signal = make_raw_signal(spec.signal) if spec.is_raw else self._scenes.signals[spec.signal]
        places = [*(spec.hosts[:3] or ["all hosts"]), *([spec.instance] if spec.instance else [])]
        return ExploreLine(" · ".join([signal.title, *places]), text, link=without, unit=signal.unit)

    def _make_address(self, lines: Sequence[str]) -> str:
        """Return the URL of this page with these lines and the current search words and time range."""
        kept = [(name, value) for name, value in self._query.multi_items() if name not in ("line", "zone")]
        return self._links.kept(f"/explore?{urlencode([*kept, *(('line', line) for line in lines)])}")


def _find_signals(scene: Scene, words: Sequence[str]) -> Iterator[ExploreLine]:
    """Yield the signals of hosts for which every search word is in the signal's name or title, or in the host's name.

    Signals with more search words in name and title come first.
    """
    left = {
        name: [word for word in words if word not in f"{name} {signal.title}".casefold()]
        for name, signal in scene.signals.items()
        if signal.fact is None  # a constant, which has no samples
    }
    hosts = {host: make_host_key(host) for host in scene.hosts}
    for name in sorted(left, key=lambda name: (len(left[name]), len(name), name)):
        matches = [host for host, key in hosts.items() if all(word in key for word in left[name])]
        for host in matches[:_MOST_HOSTS]:
            spec = Spec(name, (host,))
            if scene.has(spec):
                yield ExploreLine(scene.signals[name].title, str(spec), host)


def _find_sent(scene: Scene, words: Sequence[str]) -> Iterator[ExploreLine]:
    """Yield the raw series whose host, measurement, field and tags contain all search words."""
    tags = list_host_tags(scene.signals)
    for series in scene.series:
        instance, host = name_raw_instance(series), find_host(series, tags)
        text = f"{host} {series.measurement} {series.field} {instance or ''}".casefold()
        if all(word in text for word in words):
            title = make_raw_signal(name_raw_series(series)).title
            spec = Spec(name_raw_series(series), (host,), instance)
            yield ExploreLine(f"{title}, {instance}" if instance else title, str(spec), host)
