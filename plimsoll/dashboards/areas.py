"""The content of areas.yaml: the signals on each dashboard, and how each panel reduces its signal."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Literal

from plimsoll.model.errors import suggest
from plimsoll.model.file_models import FieldBounds, entry, file_model
from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.model.strict_yaml import Mistakes, Place, StrictDocument, read, validate
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.field_types import Identifier, SignalName

WIDTH = 24
Function = Literal["mean", "min", "max", "last", "sum", "count", "median"]
PanelId = Annotated[int, FieldBounds(ge=1, le=999)]


@file_model
class PanelSpec:
    """A panel of a dashboard, with its signal and how the signal is shown.

    `function` reduces the samples of each interval. The value axis ends at `max`, or at `soft_max` unless values exceed
    it; `limit_in_view` extends it to the limits. The kind `table` lists instances by last value. A panel with `drive`
    shows only disks that the reader marks as database or log disks, and draws the limits of rules for these disks.
    """

    id: PanelId
    signal: SignalName
    kind: Literal["lines", "table"] = "lines"
    width: Annotated[int, FieldBounds(ge=1, le=WIDTH)] = 12
    height: Annotated[int, FieldBounds(ge=3)] = 8
    function: Function = "mean"
    unit: str | None = None
    max: float | None = None
    soft_max: float | None = None
    below_zero: bool = False
    limit_in_view: bool = True
    drive: Literal["database", "log"] | None = None


@file_model
class RowSpec:
    """A row of panels, under a heading unless it is the first row of a dashboard."""

    id: PanelId | None = None
    title: str | None = None
    collapsed: bool = False
    panels: tuple[PanelSpec, ...] = entry(min_length=1)


@file_model
class Area:
    """The dashboard for one area of computers, such as disks; pages list it if a host has any of its signals."""

    area: Identifier
    title: str
    about: str
    rows: tuple[RowSpec, ...] = entry(min_length=1)

    @property
    def uid(self) -> str:
        """The dashboard's uid in Grafana."""
        return make_uid(self.area)

    @property
    def panels(self) -> Iterator[PanelSpec]:
        """The specs of the panels in all rows, in order."""
        return (panel for row in self.rows for panel in row.panels)


@file_model
class HealthDashboard:
    """The Health dashboard: the signals in its table of hosts, and the rules in its table of distances to limits."""

    title: str
    about: str
    hosts: tuple[SignalName, ...]
    limits: tuple[tuple[Identifier, ...], ...]
    alive: SignalName


@file_model
class RunsDashboard:
    """The dashboard that compares recorded runs."""

    title: str
    about: str
    compared: tuple[SignalName, ...]


@file_model
class Areas:
    """The content of areas.yaml."""

    areas: tuple[Area, ...]
    health: HealthDashboard
    runs: RunsDashboard


def make_uid(area: str) -> str:
    """Return the uid that the dashboard of an area has in Grafana."""
    return f"plimsoll-{area}"


@cache
def load_areas() -> Areas:
    """Load areas.yaml. Raise Mistakes if it is invalid, or names a signal or rule that does not exist."""
    document = read("areas.yaml", find_shipped_files("dashboards").joinpath("areas.yaml").read_bytes())
    areas = validate(document, Areas)
    if mistakes := [*_find_duplicate_ids(document, areas), *_find_unknown_names(document, areas)]:
        raise Mistakes(mistakes)
    return areas


def _find_duplicate_ids(document: StrictDocument, areas: Areas) -> Iterator[str]:
    """Yield a mistake for each repeated id of a row or panel on a dashboard, as links refer to panels by id."""
    for at, area in enumerate(areas.areas):
        places: dict[int, str] = {}
        highest = max((panel.id for row in area.rows for panel in row.panels), default=0)
        for row_at, row in enumerate(area.rows):
            row_place: Place = ("areas", at, "rows", row_at)
            parts = [
                (row_place, row.id),
                *(((*row_place, "panels", n), panel.id) for n, panel in enumerate(row.panels)),
            ]
            for place, number in parts:
                if number is not None and number in places:
                    text = (
                        f"area {area.area}: the id {number} stands at {places[number]} already; give the new one "
                        f"{highest + 1}, or another that this dashboard never had"
                    )
                    yield document.mistake((*place, "id"), text)
                places.setdefault(number or 0, document.where((*place, "id")))


def _find_unknown_names(document: StrictDocument, areas: Areas) -> Iterator[str]:
    """Yield a mistake for each name of a signal or rule that does not exist."""
    signals, rules = load_signals(), load().rules
    names: list[tuple[Place, str]] = [
        (("areas", at, "rows", row_at, "panels", panel_at, "signal"), panel.signal)
        for at, area in enumerate(areas.areas)
        for row_at, row in enumerate(area.rows)
        for panel_at, panel in enumerate(row.panels)
    ]
    names += [(("health", "hosts", at), name) for at, name in enumerate(areas.health.hosts)]
    names += [(("runs", "compared", at), name) for at, name in enumerate(areas.runs.compared)]
    names.append((("health", "alive"), areas.health.alive))
    for place, name in names:
        if name not in signals:
            yield document.mistake(place, f'signal "{name}" is not known{suggest(name, [*signals])}')
    for at, row in enumerate(areas.health.limits):
        for name in row:
            if name not in rules:
                yield document.mistake(("health", "limits", at), f'rule "{name}" is not known{suggest(name, [*rules])}')
