"""Loads the names of exporters."""

from collections.abc import Mapping
from functools import cache

from plimsoll.model.shipped_files import shipped_files
from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.exporters.schema import Exporter


@cache
def exporters() -> Mapping[str, Exporter]:
    """The exporters by name. Raises Mistakes if a file in rules/exporters has any."""
    folder = shipped_files("rules") / "exporters"
    return {path.stem: validate(read(path.name, path.read_bytes()), Exporter) for path in sorted(folder.glob("*.yaml"))}
