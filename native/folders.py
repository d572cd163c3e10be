"""Where built servers and their data are kept, and where Telegraf's configurations are."""

import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).parent


def cache() -> Path:
    """The folder for what can be made again: `PLIMSOLL_CACHE`, else plimsoll/ in the user's cache folder."""
    if chosen := os.environ.get("PLIMSOLL_CACHE"):
        return Path(chosen).absolute()
    return _users("XDG_CACHE_HOME", ".cache", "Library/Caches") / "plimsoll"


def state() -> Path:
    """The folder for data of servers: plimsoll/ in the user's state folder."""
    return _users("XDG_STATE_HOME", ".local/state", "Library/Application Support") / "plimsoll"


def stack() -> Path:
    """The folder of the servers that `plimsoll stack` runs where no other is named."""
    return state() / "stack"


def configurations() -> Path:
    """The folder of Telegraf's configurations: in the wheel a copy, in a checkout telegraf/."""
    packed = _PACKAGE / "conf"
    return packed if packed.is_dir() else _PACKAGE.parent / "telegraf"


def _users(variable: str, linux: str, macos: str) -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / macos
    chosen = os.environ.get(variable, "")
    # The XDG specification: a path that is not absolute is to be ignored.
    return Path(chosen) if chosen.startswith("/") else Path.home() / linux
