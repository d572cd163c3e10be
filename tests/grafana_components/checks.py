"""What must hold for every dashboard as it is drawn. Each check yields in words what does not."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from plimsoll.dashboards.areas import PanelSpec, load_areas
from plimsoll.dashboards.limits import Limits, drawn
from plimsoll.export.grafana.look import load_look
from plimsoll.rules.load import load_signals
from tests.grafana_components.filled import LIVE

Report = Mapping[str, Any]
Reports = Mapping[str, Report]  # by the name of the range

_RULES = Path(__file__).parents[2] / "docs" / "rules"
_RAW_NAME = re.compile(r"^Value( \d+)?$|Trend\b|#[A-Z]+\b|\{.*\}|\$|undefined|^[A-Z]{1,2}$|\bjoinByField\b")
_QUERIES = re.compile(r"/\^\(\?:([A-Z|]+)\) ")  # in a pattern, the queries whose lines it renames
_UNRESOLVED = re.compile(r"\$\{?\w|undefined|\bnull\b|NaN")
_AREAS = {area.uid for area in load_areas().areas}
_UIDS = _AREAS | {"plimsoll-health", "plimsoll-runs"}


def without_errors(reports: Reports) -> Iterator[str]:
    """Each query is answered, each variable is known, and neither components nor browser complain."""
    for name, report in reports.items():
        yield from (f"{name}: the browser says: {said}" for said in report["complaints"])
        yield from (f"{name}: unknown: {one}" for one in report["unknown"])
        yield from (f"{name}: {one['what']}: {one['error']}" for one in report["queries"] if one["error"])
        for panel in report["panels"]:
            yield from (f"{name}: {_called(panel)}: {error}" for error in panel["errors"])
            yield from (f"{name}: {_called(panel)}: {one['error']}" for one in panel["queries"] if one["error"])


def shows_its_data(reports: Reports) -> Iterator[str]:
    """No panel is empty that has data, none of a signal with the live hosts, and none that shows the data of others."""
    others: dict[str, bool] = {}
    for name, report in reports.items():
        for panel in report["panels"]:
            found = sum(one["values"] for one in panel["queries"] if not one["hidden"])
            if panel["empty"] and (found or (name == LIVE and report["uid"] in _AREAS)):
                yield f"{name}: {_called(panel)} is empty, its queries found {found} values"
            if not panel["queries"]:
                others[_called(panel)] = others.get(_called(panel), False) or not panel["empty"]
    yield from (f"{called} is empty in all of {', '.join(reports)}" for called, filled in others.items() if not filled)


def named_for_people(reports: Reports) -> Iterator[str]:
    """No line and no column has a name that Grafana made up, and no two lines of a panel have the same name."""
    for name, report in reports.items():
        for panel in report["panels"]:
            fields = [field for frame in panel["frames"] for field in frame["fields"] if field["type"] != "time"]
            # The name of a value may contain variables of its row.
            names = [value["title"] or "" for value in panel["values"]] or [field["name"] for field in fields]
            yield from (f"{name}: {_called(panel)}: {one}" for one in names if _RAW_NAME.search(one))
            if panel["type"] == "timeseries":
                twice = sorted({one for one in names if names.count(one) > 1})
                yield from (f"{name}: {_called(panel)}: several lines are called {one}" for one in twice)


def matching_something(reports: Reports) -> Iterator[str]:
    """Each override and transformation matches something in some range, if the queries that it names found anything.

    Pairs of Runs are copies of other panels.
    """
    always: dict[str, set[str]] = {}
    for report in reports.values():
        for panel in report["panels"]:
            if panel["frames"] and (report["uid"] in _AREAS or panel["type"] != "timeseries"):
                found = {frame["refId"] for frame in panel["frames"]}
                here = {f"{_called(panel)}: {what}" for what in panel["unmatched"] if _concerns(what, found)}
                always[panel["id"]] = always[panel["id"]] & here if panel["id"] in always else here
    for unmatched in always.values():
        yield from sorted(unmatched)


def _concerns(unmatched: str, found: set[str]) -> bool:
    named = _QUERIES.search(unmatched)
    return named is None or not found.isdisjoint(named[1].split("|"))


def leading_somewhere(reports: Reports) -> Iterator[str]:
    """Each link leads to a dashboard or to the page of a rule, with all its parameters."""
    for name, report in reports.items():
        for panel in report["panels"]:
            fields = [field for frame in panel["frames"] for field in frame["fields"]]
            for link in [*panel["links"], *(link for field in fields for link in field["links"])]:
                fault = _fault(link["href"])
                if fault:
                    yield f"{name}: {_called(panel)}: {link['title']}: {link['href']}: {fault}"


def _fault(href: str) -> str | None:
    if _UNRESOLVED.search(href):
        return "has a part without a value"
    path = urlsplit(href).path
    if path.startswith("/d/"):
        return None if path.removeprefix("/d/").split("/")[0] in _UIDS else "no such dashboard"
    if path.startswith("/public/plimsoll/rules/"):
        return None if (_RULES / path.rpartition("/")[2]).is_file() else "no such page"
    return "leads out of Plimsoll"


def one_frame_for_a_table(reports: Reports) -> Iterator[str]:
    """A table has one frame; of several, Grafana shows one and hides the others behind a choice."""
    for name, report in reports.items():
        for panel in report["panels"]:
            filled = [frame for frame in panel["frames"] if frame["length"]]
            if panel["type"] == "table" and len(filled) > 1:
                yield f"{name}: {_called(panel)} has {len(filled)} frames"


def limits_of_the_packs(reports: Reports) -> Iterator[str]:
    """Panels of signals have the unit of their signal, and a line for each limit of a fixed value, within the axis."""
    for name, report in reports.items():
        specs = {spec.id: spec for area in load_areas().areas if area.uid == report["uid"] for spec in area.panels}
        for panel in report["panels"]:
            if panel["id"] in specs and panel["type"] == "timeseries" and not panel["empty"]:
                yield from (f"{name}: {_called(panel)}: {what}" for what in _off(specs[panel["id"]], panel))


def _off(spec: PanelSpec, panel: Report) -> Iterator[str]:
    fields = [field for frame in panel["frames"] for field in frame["fields"] if field["type"] == "number"]
    look = load_look().units[load_signals()[spec.signal].unit].model_dump()
    units = {field["unit"] for field in fields}
    if not units <= {spec.unit or look["unit"], look.get("small")}:
        yield f"its unit is {units}, not {spec.unit or look['unit']}"
    limits = sorted({rule.healthy.limit for rule in drawn(Limits().rules_of(spec))})
    for field in fields:
        lines = (
            sorted({step["value"] for step in field["steps"]} - {None}) if field["lines"] in ("line", "dashed") else []
        )
        if not any(lines == pytest.approx([scale * limit for limit in limits]) for scale in (1, look["scale"])):
            yield f"{field['name']} has lines at {lines}, the packs have {limits}"
            break


def _called(panel: Report) -> str:
    return f"{panel['id']} {panel['title']}"


CHECKS = (
    without_errors,
    shows_its_data,
    named_for_people,
    matching_something,
    leading_somewhere,
    one_frame_for_a_table,
    limits_of_the_packs,
)
