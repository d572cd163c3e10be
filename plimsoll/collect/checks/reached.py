"""Whether an address answers, how soon, and how long its certificate is valid.

The plugins ping, net_response, http_response and x509_cert of Telegraf, with the codes of their results.
"""

import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from urllib.parse import urlsplit

import urllib3

from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.collect.sources.reading import Reading

_Fields = Mapping[str, float]
_CERTIFICATE_AGAIN_S = 300.0
_MOST_READ = 2**20
# `time=0.4 ms`, `Zeit<1ms`, `temps=3 ms`.
_ROUND_TRIP = re.compile(r"[=<]\s*(\d+(?:[.,]\d+)?)\s*ms\b")
_LOST: _Fields = {"packets_transmitted": 1, "packets_received": 0, "percent_packet_loss": 100, "result_code": 0}
_LATE: Mapping[str, _Fields] = {"ping": _LOST, "tcp": {"result_code": 1}, "http": {"result_code": 4}}


class WebSite:
    """One address that is to answer."""

    def __init__(self, check: CheckSettings) -> None:
        self._check = check
        self._certificate: tuple[float, float] | None = None  # read at (monotonic), ends at (Unix time)

    def look(self) -> Iterator[Reading]:
        """Ask it once."""
        check, is_tls = self._check, self._check.target.startswith("https://")
        if check.kind == "ping":
            yield self._reading(_ping(check))
        elif check.kind == "tcp":
            yield self._reading(_connect(check))
        elif check.kind == "http":
            yield self._reading(_get(check, self._trust if is_tls else None))
        if check.kind == "certificate" or is_tls:
            yield from self._read_certificate()

    def late(self) -> Iterator[Reading]:
        """Return what says that it has not answered yet."""
        if self._check.kind in _LATE:
            yield self._reading(_LATE[self._check.kind])

    def _reading(self, fields: _Fields) -> Reading:
        title, target = ("check", self._check.title), self._check.target
        if self._check.kind == "ping":
            return Reading("ping", fields, (title, ("url", target)))
        if self._check.kind == "http":
            return Reading("http_response", fields, (title, ("method", "GET"), ("server", target)))
        host, port = _host_and_port(target)
        tags = (title, ("port", str(port)), ("protocol", "tcp"), ("server", host))
        return Reading("net_response", fields, tags)

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """What is trusted. OSError if the file of the check cannot be read."""
        trust = ssl.create_default_context()
        if self._check.ca is not None:
            trust.load_verify_locations(self._check.ca)
        return trust

    def _read_certificate(self) -> Iterator[Reading]:
        """Read the certificate, anew every five minutes, as it hardly changes, and after each failure."""
        url = urlsplit(self._check.target)
        is_page = self._check.kind != "certificate"
        host, port = (url.hostname or "", url.port or 443) if is_page else _host_and_port(self._check.target)
        tags = (("check", self._check.title), ("source", f"tcp://{host}:{port}"))
        now = time.monotonic()
        if self._certificate is None or now - self._certificate[0] >= _CERTIFICATE_AGAIN_S:
            self._certificate = None
            try:
                self._certificate = now, _certificate_end(self._trust, host, port, self._check.timeout_s)
            except OSError as error:
                # The http check reports an address that cannot be reached.
                if not is_page or isinstance(error, ssl.SSLError):
                    yield Reading("x509_cert", {"verification_code": 1}, tags)
                return
        yield Reading("x509_cert", {"expiry": self._certificate[1] - time.time(), "verification_code": 0}, tags)


def _ping(check: CheckSettings) -> _Fields:
    program = shutil.which("ping")
    if program is None:
        raise RuntimeError(
            "this computer has no program ping; install it (Debian's iputils-ping), or check tcp instead"
        )
    try:
        done = subprocess.run(
            [program, *_ping_options(check), check.target],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=check.timeout_s + 3,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _LOST
    # Windows ends with 0 where a router said that it cannot be reached.
    match = _ROUND_TRIP.search(done.stdout) if done.returncode == 0 else None
    if match is None:
        return _LOST
    took = float(match[1].replace(",", "."))
    return {**_LOST, "packets_received": 1, "percent_packet_loss": 0, "average_response_ms": took}


def _ping_options(check: CheckSettings) -> list[str]:
    if sys.platform == "win32":
        return ["-n", "1", "-w", str(round(1000 * check.timeout_s))]
    seconds = str(round(check.timeout_s))
    return ["-n", "-c", "1", *(("-t", seconds) if sys.platform == "darwin" else ("-W", seconds))]


def _connect(check: CheckSettings) -> _Fields:
    started = time.perf_counter()
    try:
        with socket.create_connection(_host_and_port(check.target), timeout=check.timeout_s):
            return {"result_code": 0, "response_time": time.perf_counter() - started}
    except TimeoutError:
        return {"result_code": 1}
    except OSError:
        return {"result_code": 2}


def _get(check: CheckSettings, trust: ssl.SSLContext | None) -> _Fields:
    started = time.perf_counter()
    try:
        with urllib3.PoolManager(ssl_context=trust) as pool:
            answer = pool.request(
                "GET",
                check.target,
                timeout=urllib3.Timeout(total=check.timeout_s),
                retries=False,
                redirect=False,
                preload_content=False,
                headers={"User-Agent": "plimsoll", "Connection": "close"},
            )
            body = answer.read(_MOST_READ)
    except urllib3.exceptions.NameResolutionError:
        return {"result_code": 5}
    except urllib3.exceptions.NewConnectionError:  # for urllib3 a kind of timeout
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


def _certificate_end(trust: ssl.SSLContext, host: str, port: int, timeout_s: float) -> float:
    """Return the time (Unix) at which the certificate ends. OSError if there is none that is trusted for this name."""
    with (
        socket.create_connection((host, port), timeout=timeout_s) as plain,
        trust.wrap_socket(plain, server_hostname=host) as secure,
    ):
        certificate = secure.getpeercert() or {}
    return float(ssl.cert_time_to_seconds(str(certificate["notAfter"])))


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
