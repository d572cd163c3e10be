"""Reads up.toml again while `plimsoll up` runs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.serve.access import OWN
from plimsoll.up import settings as up_settings
from plimsoll.up.settings import UpSettings

PATH = f"{OWN}reload"
# Settings that the server, the store and the pages read only at the start.
_NEED_RESTART = ("zone", "store", "limits", "login", "proxy")


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The result of reading the settings again: when (UTC ns), whom they notify, and which changes need a restart.

    `refused` says why the new settings were refused, so that the old settings stay in use; empty if they were accepted.
    """

    at: int
    targets: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    refused: str = ""

    @property
    def text(self) -> str:
        """The outcome as a sentence."""
        if self.refused:
            return f"The new settings are refused, and those of before hold: {self.refused}"
        text = f"The settings were read anew; they notify {', '.join(self.targets) or 'nobody'}."
        return f"{text} A change of {', '.join(self.restart)} in up.toml needs a restart." if self.restart else text


def fresh(folder: Path, old: UpSettings) -> tuple[UpSettings, tuple[str, ...]]:
    """Return the new settings, with the `old` values where a change needs a restart, and the names of those settings.

    Raise Unusable, naming the setting, if up.toml is invalid.
    """
    settings = up_settings.load(folder)
    changed = tuple(name for name in _NEED_RESTART if getattr(settings, name) != getattr(old, name))
    return settings.model_copy(update={name: getattr(old, name) for name in changed}), changed


def route(reload: Callable[[], Reloaded], done_by_owner: Callable[[str], None]) -> Route:
    """Return the route by which `plimsoll reload`, run by the owner, makes this process read its settings again."""

    def answer(_: Request) -> Response:
        done = reload()
        done_by_owner(f"had the settings read anew{': they were refused' if done.refused else ''}")
        return JSONResponse({"text": done.text, "refused": bool(done.refused)})

    return Route(PATH, answer, methods=["POST"])
