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
    """The result of reading the settings again, at a time (UTC ns).

    `targets` are the names of the notification targets, `restart` the changed settings that need a restart. `refused`
    says why the new settings were refused and the old settings stay in use; it is empty if they were accepted.
    """

    at: int
    targets: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    refused: str = ""

    @property
    def text(self) -> str:
        """The result as a sentence or two."""
        if self.refused:
            return f"The new settings are refused, and those of before hold: {self.refused}"
        text = f"The settings were read anew; they notify {', '.join(self.targets) or 'nobody'}."
        return f"{text} A change of {', '.join(self.restart)} in up.toml needs a restart." if self.restart else text


def choose_fresh(folder: Path, old: UpSettings) -> tuple[UpSettings, tuple[str, ...]]:
    """Return the new settings to use, and the names of changed settings that need a restart.

    The settings that need a restart have their `old` values in the result. Raise Unusable, naming the setting, if
    up.toml is invalid.
    """
    settings = up_settings.load(folder)
    changed = tuple(name for name in _NEED_RESTART if getattr(settings, name) != getattr(old, name))
    return settings.model_copy(update={name: getattr(old, name) for name in changed}), changed


def make_route(reload: Callable[[], Reloaded], done_by_owner: Callable[[str], None]) -> Route:
    """Return the route with which `plimsoll reload` makes this process read its settings again.

    `done_by_owner` is called with a sentence for the audit log.
    """

    def answer(_: Request) -> Response:
        done = reload()
        done_by_owner(f"had the settings read anew{': they were refused' if done.refused else ''}")
        return JSONResponse({"text": done.text, "refused": bool(done.refused)})

    return Route(PATH, answer, methods=["POST"])
