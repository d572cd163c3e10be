"""What has to be done so that a service manager runs `plimsoll up`, step by step, for each system."""

import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from plimsoll.up.service import files
from plimsoll.up.service.files import Command
from plimsoll.up.service.windows_service import NAME

UNIT = Path("/etc/systemd/system/plimsoll.service")
# Local Service: it may read performance data, and nothing of other users. Administrators, and the system.
_LOCAL_SERVICE, _ADMINISTRATORS, _SYSTEM = "*S-1-5-19", "*S-1-5-32-544", "*S-1-5-18"
_NOT_THERE = 1060  # of sc.exe: no such service
_NOT_RUNNING = 1062
_USER_THERE = 9  # of useradd
_KEY = f"HKLM\\SYSTEM\\CurrentControlSet\\Services\\{NAME}"


@dataclass(frozen=True)
class Step:
    """A call, a folder to make, or a file to write (`text`) or to delete. `fine` are statuses that are no failure."""

    call: tuple[str, ...] = ()
    folder: PurePath | None = None
    path: PurePath | None = None
    text: str | None = None
    fine: tuple[int, ...] = ()

    def __str__(self) -> str:
        """The step in words, as a person would type it."""
        if self.call:
            return subprocess.list2cmdline(self.call)
        if self.folder:
            return f"mkdir {self.folder}"
        return f"{'delete' if self.text is None else 'write'} {self.path}"


def systemd(command: Command) -> list[Step]:
    """Install the unit, with its user, and start it."""
    user = ("useradd", "--system", "--home-dir", str(files.STATE_FOLDER), "--shell", "/usr/sbin/nologin", files.USER)
    return [
        Step(call=user, fine=(_USER_THERE,)),
        Step(path=UNIT, text=files.systemd(command)),
        Step(call=("systemctl", "daemon-reload")),
        Step(call=("systemctl", "enable", "--now", UNIT.name)),
    ]


def no_systemd() -> list[Step]:
    """End the service and take it away; its user and its data stay."""
    return [
        Step(call=("systemctl", "disable", "--now", UNIT.name), fine=(1, 5)),
        Step(path=UNIT),
        Step(call=("systemctl", "daemon-reload")),
    ]


def launchd(command: Command, home: PurePosixPath, user_id: int) -> list[Step]:
    """Install the agent of this user, and start it."""
    library = home / "Library"
    data, log = library / "Application Support" / "plimsoll", library / "Logs" / "plimsoll.log"
    agent = _agent(home)
    return [
        Step(path=agent, text=files.launchd(command, data, log)),
        Step(call=("launchctl", "bootstrap", f"gui/{user_id}", str(agent))),
    ]


def no_launchd(home: PurePosixPath, user_id: int) -> list[Step]:
    """End the agent and take it away; its data stay."""
    return [
        Step(call=("launchctl", "bootout", f"gui/{user_id}/{files.LAUNCHD_LABEL}"), fine=(3, 113)),
        Step(path=_agent(home)),
    ]


def _agent(home: PurePosixPath) -> PurePosixPath:
    return home / "Library" / "LaunchAgents" / f"{files.LAUNCHD_LABEL}.plist"


def windows(command: Command, folder: PureWindowsPath, launcher: PureWindowsPath | None) -> list[Step]:
    """Create the service, of the account Local Service, and start it.

    `launcher` is python.exe of a virtual environment. The service runs the base Python instead, with the launcher in
    its environment: the launcher starts another process, which the service manager would not know.
    """
    program, *arguments = command.program
    data, log = folder / "data", folder / "plimsoll.log"
    up = command.words(data)[len(command.program) + 1 :]
    words = [program, *arguments, "service", "run", "--log", str(log), "--", *up]
    rights = (f"{_LOCAL_SERVICE}:(OI)(CI)M", f"{_ADMINISTRATORS}:(OI)(CI)F", f"{_SYSTEM}:(OI)(CI)F")
    sc = "sc.exe"
    environment = ("reg.exe", "add", _KEY, "/v", "Environment", "/t", "REG_MULTI_SZ", "/f", "/d")
    restarts = "restart/10000/restart/10000/restart/60000"
    return [
        Step(folder=folder),
        Step(call=("icacls.exe", str(folder), "/inheritance:r", "/grant:r", *rights)),
        Step(
            call=(
                *(sc, "create", NAME, "binPath=", subprocess.list2cmdline(words), "start=", "auto"),
                *("obj=", "NT AUTHORITY\\LocalService", "DisplayName=", "Plimsoll"),
            )
        ),
        Step(call=(sc, "description", NAME, "Live monitoring and alerts")),
        Step(call=(sc, "failure", NAME, "reset=", "86400", "actions=", restarts)),
        Step(call=(sc, "failureflag", NAME, "1")),
        *([Step(call=(*environment, f"__PYVENV_LAUNCHER__={launcher}"))] if launcher else []),
        Step(call=(sc, "start", NAME)),
    ]


def no_windows() -> list[Step]:
    """End the service and take it away; its data stay."""
    return [
        Step(call=("sc.exe", "stop", NAME), fine=(_NOT_RUNNING,)),
        Step(call=("sc.exe", "delete", NAME)),
    ]
