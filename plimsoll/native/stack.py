"""Runs Telegraf and InfluxDB on this machine, with the configuration of live hosts."""

import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from plimsoll.native import folders
from plimsoll.native import settings as names
from plimsoll.native.background import Background, Running, one_at_a_time
from plimsoll.native.build import build
from plimsoll.native.influx import InfluxDB
from plimsoll.native.influx_api import Api
from plimsoll.native.private import check_private
from plimsoll.native.programs import INFLUXDB, TELEGRAF

_STARTING = "[agent] Config:"
_STARTS_WITHIN_S = 30
_SETTLES_WITHIN_S = 0.5


@dataclass(frozen=True)
class Part:
    """The state of one server."""

    title: str
    running: Running | None
    log: Path


@dataclass(frozen=True)
class Status:
    """The state of the servers in a folder, and its size."""

    folder: Path
    parts: tuple[Part, ...]
    url: str
    answers: bool
    bytes_used: int

    @property
    def running(self) -> bool:
        """Whether all servers run, and InfluxDB answers."""
        return self.answers and all(part.running for part in self.parts)


@dataclass(frozen=True)
class Stack:
    """The servers with their data, settings and logs in a folder."""

    folder: Path

    @property
    def influxdb(self) -> InfluxDB:
        """Its InfluxDB."""
        return InfluxDB(self.folder)

    @property
    def telegraf(self) -> Background:
        """Its Telegraf's process."""
        return Background("telegraf", self.folder)

    @property
    def watch(self) -> Background:
        """The process that ends Telegraf if InfluxDB ends."""
        return Background("watch", self.folder)

    def start(self, port: int | None = None, retention_s: int | None = None) -> None:
        """Start the servers that are not running. If one fails, those started by this call are stopped again.

        Unusable if others could change what is in the folder.
        """
        check_private(self.folder)
        # InfluxDB first: it needs more tools, so a missing one is reported at once.
        for program in (INFLUXDB, TELEGRAF):
            build(program)
        with one_at_a_time(self.folder):
            check_private(self.folder)  # again, as somebody may have made it meanwhile
            had = self.influxdb.background.running()
            settings = self.influxdb.start(port, retention_s)
            try:
                if not self.telegraf.running():
                    self._start_telegraf(settings)
                self._start_watch()
            except BaseException:
                self.telegraf.stop()
                if not had:
                    self.influxdb.stop()
                raise

    def stop(self) -> list[str]:
        """Stop the servers, Telegraf first so that its last samples arrive. Returns the names of those that ran."""
        with one_at_a_time(self.folder):
            stopped: list[str] = []
            if self.telegraf.stop():
                stopped.append(TELEGRAF.title)
            if self.influxdb.stop():
                stopped.append(INFLUXDB.title)
            self.watch.stop()
            return stopped

    def status(self) -> Status:
        """The state of the servers."""
        influxdb = self.influxdb.background
        settings = self.influxdb.settings()
        url = settings.get(names.URL, "")
        parts = (
            Part(INFLUXDB.title, influxdb.running(), influxdb.log),
            Part(TELEGRAF.title, self.telegraf.running(), self.telegraf.log),
        )
        answers = bool(parts[0].running) and Api(url, check=partial(self.influxdb.check_listens, url)).healthy()
        return Status(self.folder, parts, url, answers, _size(self.folder))

    def _start_telegraf(self, settings: dict[str, str]) -> None:
        configuration = folders.configurations() / "linux.conf"
        command = [str(TELEGRAF.path), "--strict-env-handling", "--config", str(configuration)]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("TELEGRAF_", "INFLUX_"))
        }
        environment |= {name: settings[name] for name in (names.URL, names.ORG, names.BUCKET)}
        environment["INFLUX_TOKEN"] = settings[names.TOKEN_TELEGRAF]
        self.telegraf.start(command, environment, TELEGRAF.version)
        self.telegraf.wait(TELEGRAF.title, _STARTING, _STARTS_WITHIN_S)
        # A plugin that rejects the configuration ends Telegraf shortly after this line.
        time.sleep(_SETTLES_WITHIN_S)
        self.telegraf.check(TELEGRAF.title)

    def _start_watch(self) -> None:
        self.watch.stop()
        command = [sys.executable, "-P", "-m", "plimsoll.native.watch", str(self.folder)]
        self.watch.start(command, os.environ, version="")


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        # InfluxDB may remove the file meanwhile.
        with suppress(OSError):
            status = path.lstat()
            # Count allocated blocks, as InfluxDB's files are sparse.
            total += getattr(status, "st_blocks", 0) * 512 or status.st_size
    return total
