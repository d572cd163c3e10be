"""Loads the names of exporters."""

from collections.abc import Mapping
from functools import cache

from plimsoll.model.shipped_files import shipped_files
from plimsoll.rules.exporters.schema import Exporter
from plimsoll.rules.schema.read_yaml import read
from plimsoll.rules.schema.strict_yaml import validate


@cache
def exporters() -> Mapping[str, Exporter]:
    """The exporters by name. Raises Mistakes if a file in rules/exporters has any."""
    folder = shipped_files("rules") / "exporters"
    return {path.stem: validate(read(path.name, path.read_bytes()), Exporter) for path in sorted(folder.glob("*.yaml"))}
