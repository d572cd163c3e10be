"""What readers stumbled over once, and must not meet again. Each check yields in words what it finds."""

import re
from collections.abc import Iterator, Mapping
from colorsys import rgb_to_hls
from itertools import combinations
from typing import Any

from tests.grafana_components.checks import Report, Reports

_RED = {"rgb(196, 22, 42)", "#C4162A"}  # the colour of critical limits, semi-dark-red in the light theme
_MARKS = "▲◆○"
_NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?)\s*[^\d\s]*")
_FREE = {"Labels"}  # what users wrote may be longer than any column
_WITHOUT_SEPARATORS = re.compile(r"(?<![\d.,#:/-])\d{5,}(?![\d:-])")
_TWO_SPACES = re.compile(r"\d\s{2,}\S")
_OVERLONG = re.compile(r"[1-9]\d*\.\d{3,}|0\.0*[1-9]\d{3,}|\d{2,}\.\d{2,}")  # more than three significant digits
_NO_UNIT = re.compile(r"[=<≤≥]\s*0\s*/s")  # more than none is a limit
_BINARY = re.compile(r"\b[KMGT]iB\b")
_DECIMAL = re.compile(r"\b[KMGT]B\b")


def silence_is_not_zero(reports: Reports) -> Iterator[str]:
    """A sparkline draws no zeros that are not in its data."""
    for name, report in reports.items():
        for panel in report["panels"]:
            fields = [field for frame in panel["frames"] for field in frame["fields"] if field["trends"]]
            drawn = sum(line["zeros"] for plot in panel["plots"] if plot["inCell"] for line in plot["series"])
            stored = sum(trend["zeros"] for field in fields for trend in field["trends"] if trend)
            if drawn > stored:
                yield f"{name}: {panel['title']} draws {drawn - stored} zeros where nothing was recorded"


def tables_are_plain(reports: Reports) -> Iterator[str]:
    """Cells are not cut off, one column leads elsewhere, no column repeats another, a mark has one meaning."""
    for name, report in reports.items():
        for panel in report["panels"]:
            if panel["table"] and panel["table"]["rows"]:
                yield from (f"{name}: {panel['title']}: {what}" for what in _faults(panel))


def _faults(panel: Report) -> Iterator[str]:
    columns = [column["text"] for column in panel["table"]["columns"]]
    cells = dict(zip(columns, zip(*panel["table"]["rows"], strict=True), strict=True))
    cut = [column["text"] for column in panel["table"]["columns"] if column["cut"]]
    if cut:
        yield f"headings are cut off: {', '.join(cut)}"
    for column, own in cells.items():
        texts = [cell["text"] for cell in own if cell["cut"] and not cell["plot"]]
        if texts and column not in _FREE:
            yield f"{column} is cut off: {texts[0]}"
    linked = [column for column, own in cells.items() if any(cell["clickable"] for cell in own)]
    if len(linked) > 1:
        yield f"{len(linked)} columns are links: {', '.join(linked)}"
    numbers = {column: _numbers(own) for column, own in cells.items()}
    for (one, first), (other, second) in combinations(numbers.items(), 2):
        if first and second and len(set(first)) > 2 and _repeats(first, second):
            yield f"{other} repeats {one}"
    marked = {
        mark: [column for column, own in cells.items() if any(mark in cell["text"] for cell in own)] for mark in _MARKS
    }
    yield from (f"{mark} is in several columns: {', '.join(found)}" for mark, found in marked.items() if len(found) > 1)


def _numbers(cells: Any) -> list[float] | None:
    found = [_NUMBER.fullmatch(cell["text"]) for cell in cells]
    return [float(one[1].replace(",", "")) for one in found if one] if all(found) else None


def _repeats(first: list[float], second: list[float]) -> bool:
    """Whether the second is the first, or what is left of it to a fixed sum, up to rounding."""
    sums = [a + b for a, b in zip(first, second, strict=True)]
    return max(sums) - min(sums) <= 1 or all(abs(a - b) <= 0.5 for a, b in zip(first, second, strict=True))


def units_are_written_one_way(reports: Reports) -> Iterator[str]:
    """One space, separated thousands, short limits, and the multiples of the title on the axis."""
    for name, report in reports.items():
        for panel in report["panels"]:
            ticks = [tick for plot in panel["plots"] for tick in plot["ticks"]]
            cells = [cell["text"] for row in (panel["table"] or {"rows": []})["rows"] for cell in row]
            values = [*ticks, *(text for row in panel["legend"] for text in row[1:]), *cells]
            title = panel["title"]
            for what, pattern, texts in (
                ("two spaces", _TWO_SPACES, [*values, title]),
                ("no separators", _WITHOUT_SEPARATORS, [*values, title]),
                ("an overlong limit", _OVERLONG, [title]),
                ("a limit without a number", _NO_UNIT, [title]),
            ):
                found = next((text for text in texts if pattern.search(text)), None)
                if found:
                    yield f"{name}: {title}: {what}: {found!r}"
            binary = next((text for text in values if _BINARY.search(text)), None)
            if binary and _DECIMAL.search(title):
                yield f"{name}: {title}: the values are in other units: {binary!r}"


def lines_are_not_limits(reports: Reports) -> Iterator[str]:
    """No line is orange or red as limits are."""
    for name, report in reports.items():
        for panel in report["panels"]:
            fields = [field for frame in panel["frames"] for field in frame["fields"] if panel["type"] == "timeseries"]
            warm = [
                one["name"] for one in fields if one["color"] and _is_warm(one["color"]) and "limit" not in one["name"]
            ]
            if warm:
                yield f"{name}: {panel['title']}: {warm[0]} is orange or red"


def _is_warm(color: str) -> bool:
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, _, saturation = rgb_to_hls(red, green, blue)
    return saturation > 0.4 and not 0.12 < hue < 0.93


def runs_are_comparable(reports: Reports) -> Iterator[str]:
    """Runs has two runs, each panel shows hosts of its run alone, and the axes of a pair begin alike.

    Where they end follows each run's own values, as Grafana's panels cannot share an axis. Percentages alone end alike.
    """
    for name, report in reports.items():
        if "baseline" in report["variables"]:
            yield from (f"{name}: {what}" for what in _incomparable(report))


def _incomparable(report: Report) -> Iterator[str]:
    run, baseline = (report["variables"][one]["value"] for one in ("run", "baseline"))
    if run == baseline:
        yield f"both runs are {run}"
    listed = next(panel for panel in report["panels"] if panel["table"])
    hosts = _hosts_of_runs(listed)
    pairs: dict[float, list[Report]] = {}
    for panel in report["panels"]:
        if panel["type"] == "timeseries":
            pairs.setdefault(panel["box"]["top"], []).append(panel)
    for pair in pairs.values():
        for panel, shown in zip(sorted(pair, key=lambda one: one["box"]["left"]), (run, baseline), strict=True):
            names = [
                field["name"] for frame in panel["frames"] for field in frame["fields"] if field["type"] == "number"
            ]
            others = [one for one in names if not one.startswith(hosts[shown])]
            if others:
                yield f"{panel['title']}: {others[0]} is no host of {shown}"
        scales = {_axes(plot) for panel in pair for plot in panel["plots"]}
        if len(scales) > 1:
            yield f"{pair[0]['title']}: the axes of both sides differ"
    raw = next((cell["text"] for row in listed["table"]["rows"] for cell in row if "var-" in cell["text"]), None)
    if raw:
        yield f"{listed['title']}: shows a part of an address: {raw!r}"


def _hosts_of_runs(listed: Report) -> Mapping[str, tuple[str, ...]]:
    columns = [column["text"] for column in listed["table"]["columns"]]
    rows = [dict(zip(columns, (cell["text"] for cell in row), strict=True)) for row in listed["table"]["rows"]]
    return {row["Run"]: tuple(row["Hosts"].split(", ")) for row in rows}


def _axes(plot: Report) -> tuple[tuple[str, float, float | None], ...]:
    """Return the units of the axes, where they begin, and where those of percentages end."""
    scales = [(key, ends) for key, ends in plot["scales"].items() if key != "x"]
    return tuple(
        sorted((key, ends["min"], ends["max"] if key.startswith("percent/") else None) for key, ends in scales)
    )


def red(report: Report, above: float = float("inf")) -> list[str]:
    """Return what is in the colour of critical limits: cells and values of panels that begin above a height."""
    found: list[str] = []
    for panel in report["panels"]:
        if panel["box"]["top"] < above:
            rows = (panel["table"] or {"rows": []})["rows"]
            found += [
                f"{panel['title']}: {cell['text']}"
                for row in rows
                for cell in row
                if {cell["color"], cell["background"]} & _RED
            ]
            found += [f"{panel['title']}: {value['text']}" for value in panel["values"] if value["color"] in _RED]
    return found


def idle_disks(opened: Report, chosen: Report) -> list[str]:
    """Return the panels of chosen disks in which, on opening, the busiest of all disks is missing."""
    busiest = {panel["id"]: _most(panel) for panel in chosen["panels"]}
    return [panel["title"] for panel in opened["panels"] if _most(panel) < busiest[panel["id"]]]


def _most(panel: Report) -> float:
    fields = [field for frame in panel["frames"] for field in frame["fields"] if field["type"] == "number"]
    return max((field["max"] for field in fields if field["max"] is not None), default=0.0)


CHECKS = (
    silence_is_not_zero,
    tables_are_plain,
    units_are_written_one_way,
    lines_are_not_limits,
    runs_are_comparable,
)
