"""What is drawn, as data: areas.yaml says which signals are on which dashboard, and how each is reduced."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field

from rules.field_types import Identifier, SignalName, Strict
from rules.strict_yaml import read, validate

WIDTH = 24

Function = Literal["mean", "min", "max", "last", "sum", "count", "median"]
PanelId = Annotated[int, Field(ge=1, le=999)]


class PanelSpec(Strict):
    """One panel: the signal it shows, and how.

    `function` reduces each interval. `max` is where the axis ends, `soft_max` where it ends unless values go beyond;
    `limit_in_view` makes it reach to the limits. `drive` makes it a panel of the disks that hold such files, which its
    reader chooses; only there are the limits of rules for such disks drawn. `table` lists instances by last value.
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
    """Panels under a heading, or, as the first of a dashboard, without one."""

    id: PanelId | None = None
    title: str | None = None
    collapsed: bool = False
    panels: tuple[PanelSpec, ...] = Field(min_length=1)


class Area(Strict):
    """A dashboard of one subject."""

    area: Identifier
    title: str
    about: str
    rows: tuple[RowSpec, ...] = Field(min_length=1)

    @property
    def uid(self) -> str:
        """The uid of its dashboard."""
        return uid(self.area)

    @property
    def panels(self) -> Iterator[PanelSpec]:
        """Its panels, in order."""
        return (panel for row in self.rows for panel in row.panels)


class Health(Strict):
    """The first dashboard: hosts by signals, and the distance to the limits of rules."""

    title: str
    about: str
    hosts: tuple[SignalName, ...]
    limits: tuple[Identifier, ...]
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
    """The uid of the dashboard of an area."""
    return f"plimsoll-{area}"


@cache
def load_areas() -> Areas:
    """areas.yaml. Mistakes if it is not right."""
    return validate(read("areas.yaml", files("dashboards").joinpath("areas.yaml").read_bytes()), Areas)
