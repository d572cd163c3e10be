"""A real InfluxDB in a folder, reachable from this machine alone."""

import json
import os
import re
import secrets
import signal
import subprocess
import time
from pathlib import Path

import psutil

from plimsoll.store.influx import tokens
from tests.servers.programs import INFLUXDB

_READY_WITHIN_S = 120


class InfluxDB:
    """An InfluxDB with its data, settings and log in a folder; as a context, it runs and gives its settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._state = folder / "server.json"
        self._port = 0

    def running(self) -> dict[str, str] | None:
        """Return the settings of the server that runs in the folder, which another process may have started."""
        if not self._state.is_file():
            return None
        state = json.loads(self._state.read_text())
        return state["settings"] if _is_running(state["pid"]) else None

    def start(self) -> dict[str, str]:
        """Start it on a free port, later on the same, set it up where it is new, and return its settings."""
        self.folder.mkdir(exist_ok=True)
        settings = json.loads(self._state.read_text())["settings"] if self._state.is_file() else _new_settings()
        data = {"bolt": "influxd.bolt", "engine": "engine", "sqlite": "influxd.sqlite"}
        command = [
            str(INFLUXDB.path),
            *(f"--{kind}-path={self.folder / name}" for kind, name in data.items()),
            f"--http-bind-address=127.0.0.1:{self._port}",
            "--reporting-disabled",
            "--pprof-disabled",  # keeping profiles would take a quarter of its CPU time
        ]
        log = self.folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        end = time.monotonic() + _READY_WITHIN_S
        while not (port := re.search(r"service=tcp-listener.*\bport=(\d+)", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        self._port = int(port[1])
        settings = tokens.set_up(settings | {tokens.URL: f"http://127.0.0.1:{self._port}"})
        self._state.write_text(json.dumps({"pid": process.pid, "settings": settings}))
        process.returncode = 0  # it may outlive this process, which Python would warn of
        return settings

    def stop(self) -> None:
        """Stop it and wait until its data is on disk."""
        state = json.loads(self._state.read_text())
        os.kill(state["pid"], signal.SIGTERM)
        while _is_running(state["pid"]):
            time.sleep(0.02)
        self._state.write_text(json.dumps(state | {"pid": 0}))

    def __enter__(self) -> dict[str, str]:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def _is_running(pid: int) -> bool:
    """Return whether a process runs. One that has ended is a zombie until its parent, maybe another process, waits."""
    try:
        return bool(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _new_settings() -> dict[str, str]:
    return {
        tokens.ORG: "plimsoll",
        tokens.BUCKET: "plimsoll",
        tokens.USERNAME: "plimsoll",
        tokens.PASSWORD: secrets.token_urlsafe(24),
        tokens.ADMIN_TOKEN: secrets.token_urlsafe(48),
    }
