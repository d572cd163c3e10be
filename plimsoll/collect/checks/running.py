"""Whether a service or a process runs on this computer.

The plugins win_services, systemd_units and procstat_lookup of Telegraf.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator

import psutil

from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.collect.sources.reading import Reading

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


def look(one: CheckSettings) -> Iterator[Reading]:
    """Look once."""
    if one.kind == "process":
        yield _process(one)
    elif sys.platform == "win32":
        yield _windows_service(one)
    else:
        yield _unit(one)


def _process(one: CheckSettings) -> Reading:
    wanted = one.asked.casefold()
    count = sum(_name(found).casefold() in (wanted, f"{wanted}.exe") for found in psutil.process_iter())
    fields = {"pid_count": count, "running": count, "result_code": 0}
    return Reading("procstat_lookup", fields, (("check", one.title), ("exe", one.asked), ("pid_finder", "native")))


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except (psutil.Error, OSError):  # it has ended, or is one of Windows' own
        return ""


def _windows_service(one: CheckSettings) -> Reading:
    tags = (("check", one.title), ("service_name", one.asked))
    try:
        status = psutil.win_service_get(one.asked).status()
    except psutil.NoSuchProcess:
        status = "stopped"  # one that is not there does not run
    return Reading("win_services", {"state": _WINDOWS[status]}, tags)


def _unit(one: CheckSettings) -> Reading:
    systemctl = shutil.which("systemctl")
    if systemctl is None:
        raise RuntimeError("services are those of systemd, and this computer has no systemctl; check a process instead")
    name = one.asked if "." in one.asked else f"{one.asked}.service"
    done = subprocess.run(
        [systemctl, "show", "--property=LoadState,ActiveState", "--", name],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=one.timeout_s,
        check=False,
    )
    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if done.returncode != 0 or found.get("ActiveState") not in _ACTIVE:
        said = " ".join(done.stderr.split()) or done.stdout.strip()
        raise RuntimeError(f"systemctl show {name}: {said or f'status {done.returncode}'}")
    fields = {"active_code": _ACTIVE[found["ActiveState"]]}
    if found.get("LoadState") in _LOAD:
        fields["load_code"] = _LOAD[found["LoadState"]]
    return Reading("systemd_units", fields, (("check", one.title), ("name", name)))
