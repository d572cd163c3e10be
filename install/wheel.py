"""Puts rules, dashboards and Telegraf's configurations into the wheel, as plimsoll/data."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Shipped(BuildHookInterface[Any]):
    """Not into an editable wheel: an installed plimsoll/ that holds nothing else would hide the checkout's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds."""
        if version == "standard":
            build_data["force_include"] |= {
                name: f"plimsoll/data/{name}" for name in ("rules", "dashboards", "telegraf")
            }
