"""look.yaml: the units and colours of signals and limits, under Grafana's names; and that of the data source."""

from functools import cache
from importlib.resources import files

from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.schema.field_types import Severity, Strict

DATASOURCE_UID = "plimsoll-influxql"


class Unit(Strict):
    """How one unit of signals is shown in Grafana."""

    unit: str
    small: str | None = None
    axis: str = ""
    scale: float = 1.0


class Look(Strict):
    """look.yaml as a whole."""

    units: dict[str, Unit]
    severities: dict[Severity, str]
    run: str
    line: str


@cache
def load_look() -> Look:
    """Load look.yaml. Raises Mistakes if it is invalid."""
    return validate(read("look.yaml", files("plimsoll.export.grafana").joinpath("look.yaml").read_bytes()), Look)
