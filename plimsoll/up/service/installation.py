"""Installs `plimsoll up` as a service: the unit of systemd, the agent of launchd, and the calls for Windows."""

import plistlib
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.up.service.windows_service import NAME

USER = "plimsoll"
STATE_FOLDER = PurePosixPath("/var/lib") / USER
UNIT = Path("/etc/systemd/system/plimsoll.service")
# Local Service may read performance data, but nothing of other users; then administrators, and the system.
_LOCAL_SERVICE, _ADMINISTRATORS, _SYSTEM = "*S-1-5-19", "*S-1-5-32-544", "*S-1-5-18"
_USER_EXISTS = 9  # of useradd
_FOLDER_EXISTS = 1  # of mkdir
_KEY = f"HKLM\\SYSTEM\\CurrentControlSet\\Services\\{NAME}"


@dataclass(frozen=True)
class Command:
    """The command line of `plimsoll up`: the words that start `plimsoll`, and the arguments.

    `store_option` is the name of the option for the data folder, which the service sets.
    """

    program: Sequence[str]
    store_option: str
    arguments: Sequence[str] = ()

    def words(self, data: PurePath) -> list[str]:
        """Return all words of the command line, with the data folder `data`.

        Raise Unusable if the other arguments name a data folder, or contain line ends or invisible characters.
        """
        if any(word == self.store_option or word.startswith(f"{self.store_option}=") for word in self.arguments):
            raise Unusable(
                f"{Parameter.STORE}: the service file sets it; leave it out here, and change it in the file; "
                "up.toml in the data folder names an InfluxDB: [store] address"
            )
        unprintable = next((word for word in self.arguments if not word.isprintable()), None)
        if unprintable is not None:
            raise Unusable(f"{unprintable!r}: has a line end or another character that cannot be seen; leave it out")
        return [*self.program, "up", self.store_option, str(data), *self.arguments]


@dataclass(frozen=True)
class Step:
    """A step of an installation: a command to run, or a file to write. Exit statuses in `fine` count as success."""

    call: tuple[str, ...] = ()
    path: Path | None = None
    text: str = ""
    fine: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Return the step as text: the command as a person would type it, or the path of the file to write."""
        return f"write {self.path}" if self.path else subprocess.list2cmdline(self.call)


def format_systemd_unit(command: Command) -> str:
    """Return a systemd unit that runs the command as a separate user with the data folder as home."""
    words = " ".join(_escape_for_systemd(word) for word in command.words(STATE_FOLDER))
    template = (files("plimsoll.up.service") / "plimsoll.service").read_text(encoding="utf-8")
    return template.format(command=words, data=STATE_FOLDER, user=USER)


def _escape_for_systemd(word: str) -> str:
    """Return a word escaped for ExecStart, where systemd expands `%` and `$`."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if not word or any(char in word for char in " \t'\"\\;") else escaped


def format_launchd_agent(command: Command, home: PurePath) -> str:
    """Return a launchd agent, which runs while its user is logged in."""
    library = home / "Library"
    agent = {
        "Label": USER,
        "ProgramArguments": command.words(library / "Application Support" / "plimsoll"),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "Umask": 0o077,
        "StandardErrorPath": str(library / "Logs" / "plimsoll.log"),
    }
    return plistlib.dumps(agent, sort_keys=False).decode().replace("\t", "  ")


def plan_systemd(command: Command) -> list[Step]:
    """Return the steps that install the unit, with its user, and start it."""
    user = ("useradd", "--system", "--home-dir", str(STATE_FOLDER), "--shell", "/usr/sbin/nologin", USER)
    return [
        Step(call=user, fine=(_USER_EXISTS,)),
        Step(path=UNIT, text=format_systemd_unit(command)),
        Step(call=("systemctl", "daemon-reload")),
        Step(call=("systemctl", "enable", "--now", UNIT.name)),
    ]


def plan_windows(command: Command, folder: PureWindowsPath, launcher: PureWindowsPath | None) -> list[Step]:
    """Return the steps that create the service under the account Local Service, and start it.

    `launcher` is python.exe of a virtual environment, or None. As python.exe there starts Python in a second process,
    of which the service manager would not know, the service runs the base Python with `launcher` in its environment.
    """
    program, *arguments = command.program
    up = command.words(folder / "data")[len(command.program) + 1 :]
    words = [program, *arguments, "service", "run", "--log", str(folder / "plimsoll.log"), "--", *up]
    rights = (f"{_LOCAL_SERVICE}:(OI)(CI)M", f"{_ADMINISTRATORS}:(OI)(CI)F", f"{_SYSTEM}:(OI)(CI)F")
    create = ("sc.exe", "create", NAME, "binPath=", subprocess.list2cmdline(words), "start=", "auto")
    environment = ("reg.exe", "add", _KEY, "/v", "Environment", "/t", "REG_MULTI_SZ", "/f", "/d")
    restarts = "restart/10000/restart/10000/restart/60000"
    return [
        Step(call=("cmd.exe", "/c", "mkdir", str(folder)), fine=(_FOLDER_EXISTS,)),
        Step(call=("icacls.exe", str(folder), "/inheritance:r", "/grant:r", *rights)),
        Step(call=(*create, "obj=", "NT AUTHORITY\\LocalService", "DisplayName=", "Plimsoll")),
        Step(call=("sc.exe", "failure", NAME, "reset=", "86400", "actions=", restarts)),
        Step(call=("sc.exe", "failureflag", NAME, "1")),
        *([Step(call=(*environment, f"__PYVENV_LAUNCHER__={launcher}"))] if launcher else []),
        Step(call=("sc.exe", "start", NAME)),
    ]
