"""areas.yaml: which dashboard shows which signals, and how each panel reduces its signal."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.shipped_files import shipped_files
from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.schema.field_types import Identifier, SignalName, Strict

WIDTH = 24

Function = Literal["mean", "min", "max", "last", "sum", "count", "median"]
PanelId = Annotated[int, Field(ge=1, le=999)]


class PanelSpec(Strict):
    """One panel: its signal, and how the signal is shown.

    `function` reduces each interval. The axis ends at `max`, or at `soft_max` unless values are beyond it;
    `limit_in_view` extends it to the limits. A panel with `drive` shows the disks that the reader chooses as holding
    such files, and draws the limits of rules for these disks. The kind `table` lists instances by last value.
    """

    id: PanelId
    signal: SignalName
    kind: Literal["lines", "table"] = "lines"
    width: Annotated[int, Field(ge=1, le=WIDTH)] = 12
    height: Annotated[int, Field(ge=3)] = 8
    function: Function = "mean"
    unit: str | None = None
    max: float | None = None
    soft_max: float | None = None
    below_zero: bool = False
    limit_in_view: bool = True
    drive: Literal["database", "log"] | None = None


class RowSpec(Strict):
    """A row of panels under a heading. The first row of a dashboard may have no heading."""

    id: PanelId | None = None
    title: str | None = None
    collapsed: bool = False
    panels: tuple[PanelSpec, ...] = Field(min_length=1)


class Area(Strict):
    """A dashboard for one area, such as disks. One of `a_role` is listed only where a host has any of its signals."""

    area: Identifier
    title: str
    about: str
    a_role: bool = False
    rows: tuple[RowSpec, ...] = Field(min_length=1)

    @property
    def uid(self) -> str:
        """The uid of its dashboard."""
        return uid(self.area)

    @property
    def panels(self) -> Iterator[PanelSpec]:
        """The panels of all rows, in order."""
        return (panel for row in self.rows for panel in row.panels)


class Health(Strict):
    """The Health dashboard: a table of hosts by signals, and the distance to the limits of rules."""

    title: str
    about: str
    hosts: tuple[SignalName, ...]
    limits: tuple[tuple[Identifier, ...], ...]
    alive: SignalName


class Runs(Strict):
    """The dashboard of recorded runs."""

    title: str
    about: str
    compared: tuple[SignalName, ...]


class Areas(Strict):
    """areas.yaml as a whole."""

    areas: tuple[Area, ...]
    health: Health
    runs: Runs


def uid(area: str) -> str:
    """Return the uid of the dashboard of an area."""
    return f"plimsoll-{area}"


@cache
def load_areas() -> Areas:
    """Load areas.yaml. Raises Mistakes if it is invalid."""
    return validate(read("areas.yaml", shipped_files("dashboards").joinpath("areas.yaml").read_bytes()), Areas)
