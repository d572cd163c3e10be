"""A local InfluxDB: its folder, process and settings. Only this machine can reach it."""

import os
import re
import socket
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.native import settings as names
from plimsoll.native.background import Background
from plimsoll.native.damage import ACCOUNTS, damage, damaged, is_cut_off
from plimsoll.native.influx_api import Refused, set_up
from plimsoll.native.listener import listens
from plimsoll.native.programs import INFLUXDB

HOST = "127.0.0.1"
PORT = 8086
_READY_WITHIN_S = 120


@dataclass(frozen=True)
class InfluxDB:
    """An InfluxDB with its data, settings and log in a folder."""

    folder: Path

    @property
    def background(self) -> Background:
        """Its process."""
        return Background("influxd", self.folder)

    @property
    def env_file(self) -> Path:
        """The file of its settings."""
        return self.folder / "influxdb.env"

    def settings(self) -> dict[str, str]:
        """Its settings; empty if it was never started. Unusable if they are lost or cannot be read."""
        if self.env_file.is_file():
            return names.read(self.env_file)
        if self._accounts.is_file():
            raise Unusable(
                f"{self.env_file}: is not there, and the data in {self.folder} cannot be used without the tokens in "
                f"it; {self._remedy}"
            )
        return {}

    def start(self, port: int | None = None, retention_s: int | None = None) -> dict[str, str]:
        """Start it if it is not running, set it up if needed, and return its settings.

        The default port is the last one used, at first 8086; 0 means any free port. Data is kept for ever by default,
        or as long as last requested.

        Raises:
            Unusable: The port is taken, the data is damaged, or the settings do not match it.
            Unreachable: It does not start; no process is left running.
        """
        running = self.background.running()
        settings = self.settings()
        if running and port and port != _port(settings):
            raise Unusable(
                f"InfluxDB runs on port {_port(settings)} already; to have it on {port}, stop it first: "
                "plimsoll stack stop"
            )
        try:
            if not running:
                settings = self._launch(settings, _port(settings) if port is None else port)
            return self._prepare(settings, retention_s)
        except BaseException as error:
            if not running:
                self.background.stop()
            if isinstance(error, Unreachable) and (found := self._damage()):
                raise found from None
            raise

    def check_listens(self, url: str) -> None:
        """Raise ConnectionError unless the process that was started in this folder listens at an address.

        It is to be called on a connection, before a secret is sent: whoever else has the port does not get it.
        """
        running = self.background.running()
        if running is None or not listens(running.pid, urlsplit(url).port or 0, HOST):
            raise ConnectionError("another program listens there than plimsoll stack started; no token was sent to it")

    def stop(self) -> bool:
        """Stop it and wait until its data is on disk; False if it was not running."""
        return self.background.stop()

    def __enter__(self) -> dict[str, str]:
        """Start it on a free port, and return its settings."""
        return self.start(port=0)

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _accounts(self) -> Path:
        """InfluxDB's file of users, buckets and tokens."""
        return self.folder / ACCOUNTS

    @property
    def _remedy(self) -> str:
        return f"put the file back, or start afresh without the data: plimsoll stack stop, then move {self.folder} away"

    def _launch(self, settings: dict[str, str], port: int) -> dict[str, str]:
        self._check_accounts(settings)
        _check_free(port)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings = settings or names.generated(_url(port))
        # Save them before InfluxDB gets them, so that an interruption does not lose the password.
        self._keep(settings)
        data = {"bolt": self._accounts.name, "engine": "engine", "sqlite": "influxd.sqlite"}
        command = [
            str(INFLUXDB.path),
            *(f"--{kind}-path={self.folder / name}" for kind, name in data.items()),
            f"--http-bind-address={HOST}:{port}",
            "--reporting-disabled",
            "--pprof-disabled",  # keeping profiles would take a quarter of its CPU time
        ]
        # Ignore options that are set for another InfluxDB.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("INFLUXD_")}
        self.background.start(command, environment, INFLUXDB.version)
        listening = self.background.wait("InfluxDB", "service=tcp-listener", _READY_WITHIN_S)
        bound = re.search(r"\bport=(\d+)", listening)
        return settings | {names.URL: _url(int(bound[1]) if bound else port)}

    def _check_accounts(self, settings: dict[str, str]) -> None:
        """Raise Unusable if InfluxDB would begin anew, or with a part of its accounts, although it was set up here."""
        if settings.get(names.TOKEN_INGEST) and not (self._accounts.is_file() and self._accounts.stat().st_size):
            state = "is empty" if self._accounts.is_file() else "is not there"
            raise Unusable(f"{self._accounts}: {state}, and the data in {self.folder} needs it; {self._remedy}")
        if self._accounts.is_file() and is_cut_off(self._accounts):
            raise damaged(self._accounts, "a part of it is missing")

    def _damage(self) -> Unusable | None:
        log = self.background.log
        return damage(self.folder, log.read_text("utf-8", "replace")) if log.is_file() else None

    def _prepare(self, settings: dict[str, str], retention_s: int | None) -> dict[str, str]:
        try:
            settings = set_up(settings, retention_s, partial(self.check_listens, settings[names.URL]))
        except Refused as error:
            if error.status == HTTPStatus.UNAUTHORIZED:
                raise Unusable(
                    f"{self.env_file}: its {names.ADMIN_TOKEN} is not that of the data in {self.folder}; {self._remedy}"
                ) from None
            raise Unreachable(
                f"{settings[names.URL]}: InfluxDB cannot be set up: {error} ({self.background.log})"
            ) from None
        self._keep(settings)
        return settings

    def _keep(self, settings: dict[str, str]) -> None:
        if settings != self.settings():
            names.write(self.env_file, settings, "Made by plimsoll stack start: where InfluxDB is, and its secrets")


def _url(port: int) -> str:
    return f"http://{HOST}:{port}"


def _port(settings: dict[str, str]) -> int:
    if not settings:
        return PORT
    try:
        return urlsplit(settings[names.URL]).port or PORT
    except ValueError:
        raise Unusable(f"{names.URL}={settings[names.URL]}: is not an address; correct it, or start afresh") from None


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        # As InfluxDB does; otherwise a connection that has just closed makes the port look taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except PermissionError:
            raise Unusable(
                f"port {port} is not for ordinary users; choose one above 1023 with {Parameter.PORT}"
            ) from None
        except OSError:
            raise Unusable(
                f"port {port} is taken by another program; stop that, or choose another, "
                f"such as {Parameter.PORT} {port + 1}"
            ) from None
