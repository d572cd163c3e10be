"""The smallest change of a signal that is worth a sentence, by its unit."""

from functools import cache
from importlib.resources import files

import yaml


@cache
def _smallest() -> dict[str, float]:
    return yaml.safe_load(files("plimsoll.insights").joinpath("smallest_change.yaml").read_text(encoding="utf-8"))


def smallest_change(unit: str) -> float:
    """The smallest change worth telling, in the unit."""
    return _smallest().get(unit, 1.0)
