"""The folders of a user for what programs keep."""

import os
import sys
from pathlib import Path


def cache() -> Path:
    """The folder for files that can be rebuilt: `PLIMSOLL_CACHE`, else plimsoll/ in the user's cache folder."""
    if chosen := os.environ.get("PLIMSOLL_CACHE"):
        return Path(chosen).absolute()
    return _users("XDG_CACHE_HOME", ".cache", "Library/Caches") / "plimsoll"


def _users(variable: str, linux: str, macos: str) -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / macos
    chosen = os.environ.get(variable, "")
    # The XDG specification says to ignore a path that is not absolute.
    return Path(chosen) if chosen.startswith("/") else Path.home() / linux
