"""What must hold for every dashboard as it is drawn. Each check yields in words what does not."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from plimsoll.dashboards.areas import PanelSpec, load_areas
from plimsoll.dashboards.limits import PanelLimits, select_drawn
from plimsoll.export.grafana.dashboards.parts import load_look
from plimsoll.rules.load import load_signals

Report = Mapping[str, Any]

_RULES = Path(__file__).parents[2] / "docs" / "rules"
_RAW_NAME = re.compile(r"^Value( \d+)?$|Trend\b|#[A-Z]+\b|\{.*\}|\$|undefined|^[A-Z]{1,2}$|\bjoinByField\b")
_QUERIES = re.compile(r"/\^\(\?:([A-Z|]+)\) ")  # in a pattern, the queries whose lines it renames
_UNRESOLVED = re.compile(r"\$\{?\w|undefined|\bnull\b|NaN")
_AREAS = {area.uid: area for area in load_areas().areas}
_UIDS = {*_AREAS, "plimsoll-health", "plimsoll-runs"}


def errors(report: Report, panel: Report) -> Iterator[str]:
    """Each query is answered and the components do not complain."""
    yield from panel["errors"]
    yield from (query["error"] for query in panel["queries"] if query["error"])


def emptiness(report: Report, panel: Report) -> Iterator[str]:
    """No panel is empty."""
    if panel["empty"]:
        yield f"is empty, its queries found {sum(query['values'] for query in panel['queries'])} values"


def raw_names(report: Report, panel: Report) -> Iterator[str]:
    """No line and no column has a name that Grafana made up, and no two lines of a panel have the same name."""
    fields = [field for frame in panel["frames"] for field in frame["fields"] if field["type"] != "time"]
    # The name of a value may contain variables of its row.
    names = [value["title"] or "" for value in panel["values"]] or [field["name"] for field in fields]
    yield from (name for name in names if _RAW_NAME.search(name))
    if panel["type"] == "timeseries":
        yield from (f"several lines are called {name}" for name in {*names} if names.count(name) > 1)


def unmatched(report: Report, panel: Report) -> Iterator[str]:
    """Each override and transformation matches something, if the queries that it names found anything."""
    filled = {frame["refId"] for frame in panel["frames"]}
    for text in panel["unmatched"] if filled else ():
        named = _QUERIES.search(text)
        if named is None or not filled.isdisjoint(named[1].split("|")):
            yield text


def dead_links(report: Report, panel: Report) -> Iterator[str]:
    """Each link leads to a dashboard or to the page of a rule, with all its parameters."""
    fields = [field for frame in panel["frames"] for field in frame["fields"]]
    for link in [*panel["links"], *(link for field in fields for link in field["links"])]:
        path = urlsplit(link["href"]).path
        dashboard = path.startswith("/d/") and path.removeprefix("/d/").split("/")[0] in _UIDS
        page = path.startswith("/public/plimsoll/rules/") and (_RULES / path.rpartition("/")[2]).is_file()
        if _UNRESOLVED.search(link["href"]) or not (dashboard or page):
            yield f"{link['title']}: {link['href']} leads nowhere"


def split_tables(report: Report, panel: Report) -> Iterator[str]:
    """A table has one frame; of several, Grafana shows one and hides the others behind a choice."""
    frames = [frame for frame in panel["frames"] if frame["length"]]
    if panel["type"] == "table" and len(frames) > 1:
        yield f"has {len(frames)} frames"


def wrong_limits(report: Report, panel: Report) -> Iterator[str]:
    """Panels of signals have the unit of their signal, and a line for each limit of a fixed value."""
    specs = {spec.id: spec for spec in _AREAS[report["uid"]].panels} if report["uid"] in _AREAS else {}
    if panel["id"] in specs and panel["type"] == "timeseries" and not panel["empty"]:
        yield from _limit_faults(specs[panel["id"]], panel)


def _limit_faults(spec: PanelSpec, panel: Report) -> Iterator[str]:
    fields = [field for frame in panel["frames"] for field in frame["fields"] if field["type"] == "number"]
    look = load_look().units[load_signals()[spec.signal].unit]
    units = {field["unit"] for field in fields}
    if not units <= {spec.unit or look.unit, look.small}:
        yield f"its unit is {units}, not {spec.unit or look.unit}"
    limits = sorted({rule.healthy.limit for rule in select_drawn(PanelLimits().rules_of(spec))})
    for field in fields:
        steps = {step["value"] for step in field["steps"]} if field["lines"] in ("line", "dashed") else set()
        lines = sorted(steps - {None})
        if not any(lines == pytest.approx([scale * limit for limit in limits]) for scale in (1, look.scale)):
            yield f"{field['name']} has lines at {lines}, the packs have {limits}"
            break


CHECKS = (errors, emptiness, raw_names, unmatched, dead_links, split_tables, wrong_limits)
