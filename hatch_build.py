"""Puts Telegraf's configurations into the wheel, as native/conf: `plimsoll stack` runs it with the very files that
live hosts get.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Configurations(BuildHookInterface[Any]):
    """Not into an editable wheel: beside an installed native/ that holds nothing else, ours would not be found."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds."""
        if version == "standard":
            build_data["force_include"]["telegraf"] = "native/conf"
