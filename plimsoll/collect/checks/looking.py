"""Looks every 10 s, each check in a thread of its own, so that one that waits holds up nothing."""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future

import psutil

from plimsoll.collect.checks import reached
from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.collect.sources.reading import Group, Reading, run_in_background

# https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-service_status
_WINDOWS = {
    "stopped": 1,
    "start_pending": 2,
    "stop_pending": 3,
    "running": 4,
    "continue_pending": 5,
    "pause_pending": 6,
    "paused": 7,
}
# Those of Telegraf.
_LOAD = {"loaded": 0, "stub": 1, "not-found": 2, "bad-setting": 3, "error": 4, "merged": 5, "masked": 6}
_ACTIVE = {"active": 0, "reloading": 1, "inactive": 2, "failed": 3, "activating": 4, "deactivating": 5}


def groups(checks: Sequence[CheckSettings]) -> Mapping[str, Group]:
    """Return what makes each check, by the name that people see when it fails."""
    return {f"check {check.title}": Looking(check) for check in checks}


class Looking:
    """A check as a group of readings: gives what the last look gave, and begins the next one."""

    def __init__(self, check: CheckSettings) -> None:
        self._check = check
        self._site = None if check.kind in ("service", "process") else reached.WebSite(check)
        self._running: Future[list[Reading]] | None = None
        self._error: BaseException | None = None

    def __call__(self) -> Iterable[Reading]:
        """Return the readings since the last call, or raise what the check raised."""
        previous = self._running
        if previous is not None and not previous.done():
            if self._error is not None:
                raise self._error
            return self._site.late() if self._site else ()
        self._running = run_in_background(lambda: [*self.look()])
        if previous is None:
            return ()
        self._error = previous.exception()
        return previous.result()

    def look(self) -> Iterable[Reading]:
        """Look once."""
        if self._site:
            return self._site.look()
        if self._check.kind == "process":
            return [_process(self._check)]
        return [_windows_service(self._check) if sys.platform == "win32" else _unit(self._check)]


def _process(check: CheckSettings) -> Reading:
    name = check.target.casefold()
    count = sum(_name(process).casefold() in (name, f"{name}.exe") for process in psutil.process_iter())
    fields = {"pid_count": count, "running": count, "result_code": 0}
    return Reading("procstat_lookup", fields, (("check", check.title), ("exe", check.target), ("pid_finder", "native")))


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except (psutil.Error, OSError):  # it has ended, or is one of Windows' own
        return ""


def _windows_service(check: CheckSettings) -> Reading:
    tags = (("check", check.title), ("service_name", check.target))
    try:
        status = psutil.win_service_get(check.target).status()
    except psutil.NoSuchProcess:
        status = "stopped"  # one that is not there does not run
    return Reading("win_services", {"state": _WINDOWS[status]}, tags)


def _unit(check: CheckSettings) -> Reading:
    systemctl = shutil.which("systemctl")
    if systemctl is None:
        raise RuntimeError("services are those of systemd, and this computer has no systemctl; check a process instead")
    name = check.target if "." in check.target else f"{check.target}.service"
    done = subprocess.run(
        [systemctl, "show", "--property=LoadState,ActiveState", "--", name],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=check.timeout_s,
        check=False,
    )
    properties = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if done.returncode != 0 or properties.get("ActiveState") not in _ACTIVE:
        output = " ".join(done.stderr.split()) or done.stdout.strip()
        raise RuntimeError(f"systemctl show {name}: {output or f'status {done.returncode}'}")
    fields = {"active_code": _ACTIVE[properties["ActiveState"]]}
    if properties.get("LoadState") in _LOAD:
        fields["load_code"] = _LOAD[properties["LoadState"]]
    return Reading("systemd_units", fields, (("check", check.title), ("name", name)))
