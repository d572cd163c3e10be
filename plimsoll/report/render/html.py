"""Renders a document as one self-contained HTML file."""

import base64
import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from plimsoll.charts.chart import Chart, Charts
from plimsoll.model.document import (
    Block,
    ChartBlock,
    ChartSpec,
    Curve,
    Document,
    Link,
    Point,
    Section,
    Statement,
    Text,
    VerdictBlock,
)
from plimsoll.model.errors import escape_printable_lines
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_value, number
from plimsoll.report.first_screen import split_headline
from plimsoll.report.html.templates import make_environment
from plimsoll.rules.wording import MARKS

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 46, 16, 40
_TICKS = 5


class Drawing:
    """A curve in drawing units: points as (x, y, text), lines as texts for SVG's `points`."""

    width, height, left, top = _WIDTH, _HEIGHT, _LEFT, _TOP
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def __init__(self, curve: Curve) -> None:
        self._x_end, self._y_end = curve.x_end, curve.y_end
        self.x_axis = [(self._scale_x(at), number(at)) for at in _choose_ticks(curve.x_end)]
        self.y_axis = [(self._scale_y(at), format_value(at, curve.y_unit)) for at in _choose_ticks(curve.y_end)]
        self.points = self._list_marks(curve.points)
        self.marks = self._list_marks(curve.marks)
        self.shares = [
            (self._scale_x(share.x), self._scale_y(share.y / 100 * curve.y_end), share.text) for share in curve.shares
        ]
        self.fit, self.beyond = self._draw_line(curve.fit), self._draw_line(curve.beyond)
        edge = [(x, high) for x, _, high in curve.band] + [(x, low) for x, low, _ in reversed(curve.band)]
        self.band = self._draw_line((x, min(max(y, 0.0), curve.y_end)) for x, y in edge)
        self.limit = self._scale_y(curve.limit[0]) if curve.limit else None

    def _list_marks(self, points: Iterable[Point]) -> list[tuple[float, float, str]]:
        return [(self._scale_x(point.x), self._scale_y(point.y), point.text) for point in points]

    def _draw_line(self, points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self._scale_x(x)},{self._scale_y(y)}" for x, y in points if np.isfinite(y))

    def _scale_x(self, value: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * value / self._x_end, 1)

    def _scale_y(self, value: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * value / self._y_end, 1)


_STYLES = {"review": (), "comparison": ("page/compare.css",), "capacity": ("page/capacity.css",)}
_UTC = Zone.parse("UTC")


def render_page(
    document: Document,
    charts: Charts | None = None,
    *,
    zone: str = "",
    elapsed: bool = False,
    now: int | None = None,
    template: str = "page.html.j2",
    **details: Any,
) -> str:
    """Render a document as an HTML page.

    `zone` names the time zone of the charts; with `elapsed` their times are since the start of a run. `now` is the time
    the page is made (UTC ns). `template` extends `page.html.j2`, and shows the `details`. Characters that UTF-8 cannot
    encode (half of a surrogate pair in a counter's name) become question marks.
    """
    encoded = dict(_encode_charts(document.blocks, charts))
    script = read_page_script() if charts is not None or details else Markup()
    page = (
        _make_environment()
        .get_template(template)
        .render(
            **{field.name: getattr(document, field.name) for field in fields(document)},
            zone=zone,
            css=Markup(read_chart_style() + "".join(map(read_asset, ("page/report.css", *_STYLES[document.kind])))),
            script=script,
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            data=encode_page_data(charts, elapsed=elapsed),
            encoded=lambda chart: chart if isinstance(chart, Chart) else encoded.get(id(chart)),
            made_by=f"Plimsoll {version('plimsoll')}",
            made_at=f"{_UTC.clock(time.time_ns() if now is None else now)} UTC",
            **details,
        )
    )
    return page.encode(errors="replace").decode()


@cache
def _make_environment() -> Environment:
    names = {
        "kind_of": lambda block: type(block).__name__,
        "text_parts": _list_text_parts,
        "menu_of": _list_menu,
        "drawing_of": Drawing,
        "split_headline": split_headline,
        "symbols": MARKS,
    }
    return make_environment(lambda name: read_asset(f"page/{name}"), names)


def _encode_charts(blocks: Iterable[Block | VerdictBlock], charts: Charts | None) -> Iterator[tuple[int, Chart]]:
    """Add each chart that `blocks` specify to `charts`; yield the `id()` of the specification, and the chart."""
    for block in blocks:
        if isinstance(block, Section):
            yield from _encode_charts(block.blocks, charts)
        drawn = block.chart if isinstance(block, Statement) else block
        if charts is not None and isinstance(drawn, ChartBlock) and isinstance(spec := drawn.chart, ChartSpec):
            chart = charts.add(spec.lines, spec.unit, spec.label, limits=spec.limits, spans=spec.spans)
            yield id(spec), chart


def _list_text_parts(text: Text) -> Iterator[tuple[str, ...]]:
    """Yield each part of a text as (text, role), a link as (text, "link", anchor)."""
    for part in (text,) if isinstance(text, str) else text:
        if isinstance(part, str):
            yield part, ""
        elif isinstance(part, Link):
            yield part.text, "link", part.anchor
        else:
            yield part


def _list_menu(blocks: Iterable[Block | VerdictBlock]) -> list[tuple[str, str]]:
    """Return (anchor, entry) for each section that is in the menu."""
    return [(block.anchor, block.menu) for block in blocks if isinstance(block, Section) and block.menu]


def encode_page_data(charts: Charts | None, *, elapsed: bool = False) -> Markup:
    """Return the data of all charts as JSON, escaped for a script element."""
    content: dict[str, Any] = {}
    if charts is not None:
        charts.choose_resolutions()
        content = charts.data() | ({"elapsed": True} if elapsed else {})
    text = json.dumps(_escape_json(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _escape_json(value: Any) -> Any:
    """Return a JSON value with invisible characters escaped in all its texts and names."""
    match value:
        case str():
            return escape_printable_lines(value)
        case dict():
            return {escape_printable_lines(name): _escape_json(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_escape_json(inner) for inner in value]
        case _:
            return value


@cache
def read_page_script() -> Markup:
    """Return the script of a page with charts."""
    return Markup(f'"use strict";\n{read_chart_script()}{read_asset("page/report.js")}')


def read_chart_script() -> str:
    """Return the script that draws charts: uPlot, as a function that takes a pixel ratio, and our own code."""
    plot = f"/*\n{read_asset('vendor/uPlot.LICENSE')}*/\nfunction loadUPlot(devicePixelRatio) {{\n"
    plot += f"{read_asset('vendor/uPlot.iife.min.js')}\nreturn uPlot;\n}}\n"
    return f"{plot}{read_asset('page/clock.js')}\n{read_asset('page/chart.js')}\n{read_asset('page/pointer.js')}\n"


def read_chart_style() -> str:
    """Return the CSS of uPlot, of the theme and of charts."""
    return f"{read_asset('vendor/uPlot.min.css')}{read_asset('page/theme.css')}{read_asset('page/chart.css')}"


def read_asset(name: str) -> str:
    """Return the text of a file shipped with plimsoll.report.html, such as a style or a script."""
    return files("plimsoll.report.html").joinpath(name).read_text(encoding="utf-8")


def _choose_ticks(end: float) -> list[float]:
    """Return about five axis values up to `end`, at steps of 1, 2, 2.5 or 5 times a power of ten."""
    value = end / _TICKS
    power = 10 ** np.floor(np.log10(value))
    step = next(float(factor * power) for factor in (1, 2, 2.5, 5, 10) if factor * power >= value * 0.999)
    return [at * step for at in range(int(end / step * 1.000001) + 1)]
