"""Fills in the files with which systemd or launchd runs `plimsoll up`."""

import plistlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath, PurePosixPath

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter

USER = "plimsoll"
STATE_FOLDER = PurePosixPath("/var/lib") / USER
LAUNCHD_LABEL = "plimsoll"
_TEMPLATES = files("plimsoll.up.service")


@dataclass(frozen=True)
class Command:
    """The call of `plimsoll up`: the words that call `plimsoll`, and further arguments of `up`.

    `store_option` is the option that names the data folder.
    """

    program: Sequence[str]
    store_option: str
    arguments: Sequence[str] = ()

    def words(self, data: PurePath) -> list[str]:
        """All words of the call. Unusable if the arguments name another data folder, or have line ends."""
        if any(one == self.store_option or one.startswith(f"{self.store_option}=") for one in self.arguments):
            raise Unusable(
                f"{Parameter.STORE}: the service file sets it; leave it out here, and change it in the file; "
                "up.toml in the data folder names an InfluxDB: [store] address"
            )
        odd = next((one for one in self.arguments if not one.isprintable()), None)
        if odd is not None:
            raise Unusable(f"{odd!r}: has a line end or another character that cannot be seen; leave it out")
        return [*self.program, "up", self.store_option, str(data), *self.arguments]


def systemd(command: Command) -> str:
    """A unit of systemd, for a user of its own whose home is the data folder."""
    words = " ".join(_for_systemd(word) for word in command.words(STATE_FOLDER))
    template = (_TEMPLATES / "plimsoll.service").read_text(encoding="utf-8")
    return template.format(command=words, data=STATE_FOLDER, user=USER)


def _for_systemd(word: str) -> str:
    """A word of ExecStart: `%` and `$` begin what systemd fills in."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if not word or any(char in word for char in " \t'\"\\;") else escaped


def launchd(command: Command, data: PurePath, log: PurePath) -> str:
    """An agent of launchd, which runs while its user is logged in."""
    agent = {
        "Label": LAUNCHD_LABEL,
        "ProgramArguments": command.words(data),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "Umask": 0o077,
        "StandardErrorPath": str(log),
    }
    return plistlib.dumps(agent, sort_keys=False).decode().replace("\t", "  ")
