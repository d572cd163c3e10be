"""The insights, in the order in which the outputs have them. A new one takes a folder here, and a line in FOLDERS."""

from functools import cache
from importlib import import_module
from typing import Any

from plimsoll.insights.insight import Insight

FOLDERS = (
    "limits",
    "spikes",
    "trends",
    "averages",
    "load_steps",
)


@cache
def insights() -> tuple[Insight[Any], ...]:
    """All of them: the INSIGHT of each folder's module `insight`."""
    return tuple(import_module(f"plimsoll.insights.{folder}.insight").INSIGHT for folder in FOLDERS)
