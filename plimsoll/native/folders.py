"""The folders of built servers, of their data, and of Telegraf's configurations."""

from pathlib import Path

from plimsoll.model.shipped_files import shipped_files
from plimsoll.model.user_folders import cache, state

__all__ = ["cache", "configurations", "stack", "state"]


def stack() -> Path:
    """The default folder of the servers that `plimsoll stack` runs."""
    return state() / "stack"


def configurations() -> Path:
    """The folder of Telegraf's configurations."""
    return shipped_files("telegraf")
