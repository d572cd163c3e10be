"""Runs the checks every 10 s, each in its own thread, so that a slow check does not delay other checks.

The readings have the measurements, fields and result codes of Telegraf's plugins ping, net_response, http_response,
x509_cert, procstat, win_services and systemd_units.
"""

import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from urllib.parse import urlsplit

import psutil
import urllib3

from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.collect.sources.reading import Group, Reading, run_in_background

_Fields = Mapping[str, float]
_CERTIFICATE_AGAIN_S = 300.0
_MOST_READ = 2**20
# `time=0.4 ms`, `Zeit<1ms`, `temps=3 ms`.
_ROUND_TRIP = re.compile(r"[=<]\s*(\d+(?:[.,]\d+)?)\s*ms\b")
_LOST: _Fields = {"packets_transmitted": 1, "packets_received": 0, "percent_packet_loss": 100, "result_code": 0}
_LATE: Mapping[str, _Fields] = {"ping": _LOST, "tcp": {"result_code": 1}, "http": {"result_code": 4}}


class Looking:
    """A check that runs in the background; each call returns the readings of the last run, and starts the next run."""

    def __init__(self, check: CheckSettings) -> None:
        self._check = check
        self._certificate: tuple[float, float] | None = None  # read at (monotonic), ends at (Unix time)
        self._running: Future[list[Reading]] | None = None
        self._error: BaseException | None = None

    def __call__(self) -> Iterable[Reading]:
        """Return the readings of the last run, or raise its error; start the next run.

        While a run is not over, raise the error of the run before, or return Telegraf's reading for a timeout, if any.
        """
        previous = self._running
        if previous is not None and not previous.done():
            if self._error is not None:
                raise self._error
            kind = self._check.kind
            return [self._make_reading(_LATE[kind])] if kind in _LATE else ()
        self._running = run_in_background(lambda: [*self.look()])
        if previous is None:
            return ()
        self._error = previous.exception()
        return previous.result()

    def look(self) -> Iterator[Reading]:
        """Run the check once in this thread, and yield its readings."""
        check, is_tls = self._check, self._check.target.startswith("https://")
        match check.kind:
            case "service":
                yield _look_at_windows_service(check) if sys.platform == "win32" else _look_at_unit(check)
            case "process":
                yield _look_at_process(check)
            case "ping":
                yield self._make_reading(_ping_once(check))
            case "tcp":
                yield self._make_reading(_connect_once(check))
            case "http":
                yield self._make_reading(_get(check, self._trust if is_tls else None))
            case _:
                pass
        if check.kind == "certificate" or (check.kind == "http" and is_tls):
            yield from self._read_certificate()

    def _make_reading(self, fields: _Fields) -> Reading:
        title, target = ("check", self._check.title), self._check.target
        if self._check.kind == "ping":
            return Reading("ping", fields, (title, ("url", target)))
        if self._check.kind == "http":
            return Reading("http_response", fields, (title, ("method", "GET"), ("server", target)))
        host, port = _split_address(target)
        tags = (title, ("port", str(port)), ("protocol", "tcp"), ("server", host))
        return Reading("net_response", fields, tags)

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """The TLS settings with the trusted certificates. Raise OSError if the check's file `ca` cannot be read."""
        trust = ssl.create_default_context()
        if self._check.ca is not None:
            trust.load_verify_locations(self._check.ca)
        return trust

    def _read_certificate(self) -> Iterator[Reading]:
        """Yield a reading with the time until the server's certificate expires (s), or with the failure to verify it.

        The certificate is fetched again after five minutes, or if the last attempt failed.
        """
        url = urlsplit(self._check.target)
        is_page = self._check.kind != "certificate"
        host, port = (url.hostname or "", url.port or 443) if is_page else _split_address(self._check.target)
        tags = (("check", self._check.title), ("source", f"tcp://{host}:{port}"))
        now = time.monotonic()
        if self._certificate is None or now - self._certificate[0] >= _CERTIFICATE_AGAIN_S:
            self._certificate = None
            try:
                with (
                    socket.create_connection((host, port), timeout=self._check.timeout_s) as plain,
                    self._trust.wrap_socket(plain, server_hostname=host) as secure,
                ):
                    certificate = secure.getpeercert() or {}
                self._certificate = now, float(ssl.cert_time_to_seconds(str(certificate["notAfter"])))
            except OSError as error:
                # The http check reports an address that cannot be reached.
                if not is_page or isinstance(error, ssl.SSLError):
                    yield Reading("x509_cert", {"verification_code": 1}, tags)
                return
        yield Reading("x509_cert", {"expiry": self._certificate[1] - time.time(), "verification_code": 0}, tags)


# https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-service_status
_STATES = ("stopped", "start_pending", "stop_pending", "running", "continue_pending", "pause_pending", "paused")
# Telegraf's codes of these states.
_LOAD = {"loaded": 0, "stub": 1, "not-found": 2, "bad-setting": 3, "error": 4, "merged": 5, "masked": 6}
_ACTIVE = {"active": 0, "reloading": 1, "inactive": 2, "failed": 3, "activating": 4, "deactivating": 5}


def group_checks(checks: Sequence[CheckSettings]) -> Mapping[str, Group]:
    """Return each check as a group of the collector, by the name under which failures are reported."""
    return {f"check {check.title}": Looking(check) for check in checks}


def _look_at_process(check: CheckSettings) -> Reading:
    name = check.target.casefold()
    count = sum(_name(process).casefold() in (name, f"{name}.exe") for process in psutil.process_iter())
    fields = {"pid_count": count, "running": count, "result_code": 0}
    return Reading("procstat_lookup", fields, (("check", check.title), ("exe", check.target), ("pid_finder", "native")))


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except (psutil.Error, OSError):  # it has ended, or is one of Windows' own
        return ""


def _look_at_windows_service(check: CheckSettings) -> Reading:
    tags = (("check", check.title), ("service_name", check.target))
    try:
        status = psutil.win_service_get(check.target).status()
    except psutil.NoSuchProcess:
        status = "stopped"  # a service that does not exist does not run
    return Reading("win_services", {"state": 1 + _STATES.index(status)}, tags)


def _look_at_unit(check: CheckSettings) -> Reading:
    """Return a reading with the state of a systemd unit. Raise RuntimeError if systemctl does not tell it."""
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


def _ping_once(check: CheckSettings) -> _Fields:
    """Return the packets, loss and response time (ms) of one ping. Raise RuntimeError without the program `ping`."""
    program = shutil.which("ping")
    if program is None:
        raise RuntimeError(
            "this computer has no program ping; install it (Debian's iputils-ping), or check tcp instead"
        )
    if sys.platform == "win32":
        options = ["-n", "1", "-w", str(round(1000 * check.timeout_s))]
    else:
        options = ["-n", "-c", "1", "-t" if sys.platform == "darwin" else "-W", str(round(check.timeout_s))]
    try:
        done = subprocess.run(
            [program, *options, check.target],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=check.timeout_s + 3,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _LOST
    # On Windows ping exits with 0 even if a router answered that the host is unreachable.
    match = _ROUND_TRIP.search(done.stdout) if done.returncode == 0 else None
    if match is None:
        return _LOST
    took = float(match[1].replace(",", "."))
    return {**_LOST, "packets_received": 1, "percent_packet_loss": 0, "average_response_ms": took}


def _connect_once(check: CheckSettings) -> _Fields:
    started = time.perf_counter()
    try:
        with socket.create_connection(_split_address(check.target), timeout=check.timeout_s):
            return {"result_code": 0, "response_time": time.perf_counter() - started}
    except TimeoutError:
        return {"result_code": 1}
    except OSError:
        return {"result_code": 2}


def _get(check: CheckSettings, trust: ssl.SSLContext | None) -> _Fields:
    """Return the fields of an HTTP request, with Telegraf's result code.

    The fields are status, response time (s) and size (bytes); if there is no answer, only the result code.
    """
    started = time.perf_counter()
    try:
        timeout, headers = urllib3.Timeout(total=check.timeout_s), {"User-Agent": "plimsoll", "Connection": "close"}
        with urllib3.PoolManager(ssl_context=trust, timeout=timeout, headers=headers, retries=False) as pool:
            answer = pool.request("GET", check.target, redirect=False, preload_content=False)
            body = answer.read(_MOST_READ)
    except urllib3.exceptions.NameResolutionError:
        return {"result_code": 5}
    except urllib3.exceptions.NewConnectionError:  # a subclass of TimeoutError in urllib3
        return {"result_code": 3}
    except urllib3.exceptions.TimeoutError:
        return {"result_code": 4}
    except (urllib3.exceptions.HTTPError, OSError):
        return {"result_code": 3}
    fields: dict[str, float] = {
        "http_response_code": answer.status,
        "response_time": time.perf_counter() - started,
        "content_length": len(body),
    }
    if answer.status != check.status if check.status else answer.status >= 400:
        return {**fields, "result_code": 6}
    if check.contains and check.contains.encode() not in body:
        return {**fields, "result_code": 1}
    return {**fields, "result_code": 0}


def _split_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
