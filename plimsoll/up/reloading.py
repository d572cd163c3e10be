"""Reads up.toml anew while `plimsoll up` runs, and says what came of that."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.serve.access import OWN
from plimsoll.up import settings as up_settings
from plimsoll.up.settings import UpSettings

PATH = f"{OWN}reload"
# What the server, the store and the pages were made with.
_NEED_RESTART = ("zone", "store", "limits", "login", "proxy")


@dataclass(frozen=True, slots=True)
class Reloaded:
    """When settings were read anew (UTC ns), whom they notify, which changes wait for a restart.

    `refused`: why they were refused; then those of before hold.
    """

    at: int
    targets: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    refused: str = ""

    @property
    def text(self) -> str:
        """What came of it, in words."""
        if self.refused:
            return f"The new settings are refused, and those of before hold: {self.refused}"
        text = f"The settings were read anew; they notify {', '.join(self.targets) or 'nobody'}."
        return f"{text} A change of {', '.join(self.restart)} in up.toml needs a restart." if self.restart else text


def fresh(folder: Path, old: UpSettings) -> tuple[UpSettings, tuple[str, ...]]:
    """up.toml as it is now, but with the `old` ones of the settings that need a restart; which of those have changed.

    Unusable, naming the setting, if it is invalid.
    """
    settings = up_settings.load(folder)
    unchanged = {name: getattr(old, name) for name in _NEED_RESTART}
    return settings.model_copy(update=unchanged), tuple(
        name for name in unchanged if getattr(settings, name) != unchanged[name]
    )


def route(reload: Callable[[], Reloaded], done_by_owner: Callable[[str], None]) -> Route:
    """Return the route by which the owner's command has settings read anew."""

    def answer(_: Request) -> Response:
        done = reload()
        done_by_owner(f"had the settings read anew{': they were refused' if done.refused else ''}")
        return Response(json.dumps({"text": done.text, "refused": bool(done.refused)}), media_type="application/json")

    return Route(PATH, answer, methods=["POST"])
