"""Opens a page for the person at the terminal."""

import os
import sys
import webbrowser
from collections.abc import Mapping


def is_there(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser with a window can be opened: not over SSH, nor without a display."""
    if "SSH_CONNECTION" in environment:
        return False
    return platform in ("win32", "darwin") or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def open_page(address: str) -> bool:
    """Open a page, if there is a browser with a window. Returns whether one was found."""
    return is_there(os.environ) and webbrowser.open(address)
