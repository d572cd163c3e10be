"""Run by a Python for Windows: sets up be_a_service.py as a service, starts and ends it, and prints its states as JSON.

It stays for as long as that takes, since Wine's service manager ends with the last program.
"""

import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

NAME = "PlimsollTest"
_RUNNING, _STOPPED = "4", "1"


def sc(*arguments: str) -> str:
    """What sc.exe says."""
    return subprocess.run(["sc.exe", *arguments], capture_output=True, text=True, check=False).stdout


def state() -> dict[str, str]:
    """The fields of the service's state: the number of each."""
    lines = (line.split(":", 1) for line in sc("query", NAME).splitlines() if ":" in line)
    return {name.strip(): value.split()[0] for name, value in lines if value.split()}


def waited(is_there: Callable[[], bool]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + 300
    while not is_there() and time.monotonic() < until:
        time.sleep(0.2)


def have_read_anew() -> None:
    """Tell the service that its settings have changed, as sc.exe control does, which Wine's cannot."""
    api = ctypes.WinDLL("advapi32.dll")
    for function in (api.OpenSCManagerW, api.OpenServiceW):
        function.restype = ctypes.c_void_p
    manager = api.OpenSCManagerW(None, None, 1)
    service = api.OpenServiceW(ctypes.c_void_p(manager), NAME, 0x40)
    assert api.ControlService(ctypes.c_void_p(service), 6, ctypes.create_string_buffer(64))


def main(path: Path, status: str) -> None:
    """Have the service end with this status."""
    words = [sys.executable, "-P", str(Path(__file__).with_name("be_a_service.py")), str(path), status]
    sc("create", NAME, "binPath=", subprocess.list2cmdline(words), "start=", "demand")
    try:
        sc("start", NAME)
        waited(lambda: path.exists() and state().get("STATE") == _RUNNING)
        before = state()
        have_read_anew()
        sc("stop", NAME)
        waited(lambda: state().get("STATE") == _STOPPED)
        print(json.dumps([before, state(), path.read_text(encoding="utf-8").split("\n")]))
    finally:
        sc("delete", NAME)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
