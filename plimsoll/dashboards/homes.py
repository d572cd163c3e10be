"""Finds the dashboard and panel of a signal."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from plimsoll.dashboards.areas import PanelSpec, load_areas
from plimsoll.dashboards.limits import Limits


def home_of(signal: str) -> tuple[str, PanelSpec] | None:
    """Return the dashboard's uid and the panel that draws the rules of a signal, else the first that shows it."""
    shown = panels_of(signal)
    drawing = [(uid, spec) for uid, spec in shown if Limits().judged_rules(spec)]
    return next(iter([*drawing, *shown]), None)


def panels_of(signal: str) -> Sequence[tuple[str, PanelSpec]]:
    """Return every panel that shows a signal, with the uid of its dashboard."""
    return _panels().get(signal, ())


@cache
def _panels() -> Mapping[str, Sequence[tuple[str, PanelSpec]]]:
    found: dict[str, list[tuple[str, PanelSpec]]] = defaultdict(list)
    for area in load_areas().areas:
        for spec in area.panels:
            found[spec.signal].append((area.uid, spec))
    return found
