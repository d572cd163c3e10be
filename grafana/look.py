"""How Grafana shows signals and limits: units and colours under Grafana's names (look.yaml)."""

from functools import cache
from importlib.resources import files

from rules.field_types import Severity, Strict
from rules.strict_yaml import read, validate


class Unit(Strict):
    """One of our units in Grafana."""

    unit: str
    axis: str = ""
    column: str | None = None
    scale: float = 1.0


class Shown(Strict):
    """How a limit of one severity is shown: its colour, and a mark that tells it without colour."""

    color: str
    mark: str


class Look(Strict):
    """look.yaml as a whole."""

    units: dict[str, Unit]
    severities: dict[Severity, Shown]
    run: str


@cache
def load_look() -> Look:
    """look.yaml. Mistakes if it is not right."""
    return validate(read("look.yaml", files("grafana").joinpath("look.yaml").read_bytes()), Look)
