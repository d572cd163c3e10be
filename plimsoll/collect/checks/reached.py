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
from urllib.parse import urlsplit

import urllib3

from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.collect.sources.reading import Reading

_Fields = Mapping[str, float]
_CERTIFICATE_AGAIN_S = 300.0
_MOST_READ = 2**20
# `time=0.4 ms`, `Zeit<1ms`, `temps=3 ms`.
_ROUND_TRIP = re.compile(r"[=<]\s*(\d+(?:[.,]\d+)?)\s*ms\b")


class Site:
    """One address that is to answer."""

    def __init__(self, one: CheckSettings) -> None:
        self._one = one
        self._certificate: tuple[float, float] | None = None  # read at (monotonic), ends at (Unix time)
        self._trust: ssl.SSLContext | None = None

    def look(self) -> Iterator[Reading]:
        """Ask it once."""
        one = self._one
        if one.kind == "ping":
            yield self._ping(_ping(one))
        elif one.kind == "tcp":
            yield self._net(_connected(one))
        elif one.kind == "http":
            yield self._http(_answered(one, self._trusted() if one.asked.startswith("https://") else None))
        if one.kind == "certificate" or one.asked.startswith("https://"):
            yield from self._certified()

    def late(self) -> Iterator[Reading]:
        """What to say while it has not answered yet: that it does not."""
        kind = self._one.kind
        if kind == "ping":
            yield self._ping(_LOST)
        elif kind == "tcp":
            yield self._net({"result_code": 1})
        elif kind == "http":
            yield self._http({"result_code": 4})

    def _ping(self, fields: _Fields) -> Reading:
        return Reading("ping", fields, (("check", self._one.title), ("url", self._one.asked)))

    def _net(self, fields: _Fields) -> Reading:
        host, port = _host_and_port(self._one.asked)
        tags = (("check", self._one.title), ("port", str(port)), ("protocol", "tcp"), ("server", host))
        return Reading("net_response", fields, tags)

    def _http(self, fields: _Fields) -> Reading:
        tags = (("check", self._one.title), ("method", "GET"), ("server", self._one.asked))
        return Reading("http_response", fields, tags)

    def _trusted(self) -> ssl.SSLContext:
        """What is trusted: made once, as that takes some time. OSError if the file of the check cannot be read."""
        if self._trust is None:
            trust = ssl.create_default_context()
            if self._one.ca is not None:
                trust.load_verify_locations(self._one.ca)
            self._trust = trust
        return self._trust

    def _certified(self) -> Iterator[Reading]:
        """The certificate, read anew every five minutes, as it hardly changes, and after each failure."""
        host, port = _certified_address(self._one)
        tags = (("check", self._one.title), ("source", f"tcp://{host}:{port}"))
        now = time.monotonic()
        if self._certificate is None or now - self._certificate[0] >= _CERTIFICATE_AGAIN_S:
            self._certificate = None
            try:
                self._certificate = now, _certificate_ends(self._trusted(), host, port, self._one.timeout_s)
            except OSError as error:
                # The http check reports an address that cannot be reached.
                if self._one.kind == "certificate" or isinstance(error, ssl.SSLError):
                    yield Reading("x509_cert", {"verification_code": 1}, tags)
                return
        yield Reading("x509_cert", {"expiry": self._certificate[1] - time.time(), "verification_code": 0}, tags)


_LOST: _Fields = {"packets_transmitted": 1, "packets_received": 0, "percent_packet_loss": 100, "result_code": 0}


def _ping(one: CheckSettings) -> _Fields:
    program = shutil.which("ping")
    if program is None:
        raise RuntimeError(
            "this computer has no program ping; install it (Debian's iputils-ping), or check tcp instead"
        )
    try:
        done = subprocess.run(
            [program, *_ping_options(one), one.asked],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=one.timeout_s + 3,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _LOST
    # Windows ends with 0 where a router said that it cannot be reached.
    found = _ROUND_TRIP.search(done.stdout) if done.returncode == 0 else None
    if found is None:
        return _LOST
    took = float(found[1].replace(",", "."))
    return {**_LOST, "packets_received": 1, "percent_packet_loss": 0, "average_response_ms": took}


def _ping_options(one: CheckSettings) -> list[str]:
    if sys.platform == "win32":
        return ["-n", "1", "-w", str(round(1000 * one.timeout_s))]
    seconds = str(round(one.timeout_s))
    return ["-n", "-c", "1", *(("-t", seconds) if sys.platform == "darwin" else ("-W", seconds))]


def _connected(one: CheckSettings) -> _Fields:
    started = time.perf_counter()
    try:
        with socket.create_connection(_host_and_port(one.asked), timeout=one.timeout_s):
            return {"result_code": 0, "response_time": time.perf_counter() - started}
    except TimeoutError:
        return {"result_code": 1}
    except OSError:
        return {"result_code": 2}


def _answered(one: CheckSettings, trust: ssl.SSLContext | None) -> _Fields:
    started = time.perf_counter()
    try:
        with urllib3.PoolManager(ssl_context=trust) as pool:
            answer = pool.request(
                "GET",
                one.asked,
                timeout=urllib3.Timeout(total=one.timeout_s),
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
    found: dict[str, float] = {
        "http_response_code": answer.status,
        "response_time": time.perf_counter() - started,
        "content_length": len(body),
    }
    if answer.status != one.status if one.status else answer.status >= 400:
        return {**found, "result_code": 6}
    if one.contains and one.contains.encode() not in body:
        return {**found, "result_code": 1}
    return {**found, "result_code": 0}


def _certificate_ends(trust: ssl.SSLContext, host: str, port: int, timeout_s: float) -> float:
    """The time (Unix) at which the certificate ends. OSError if there is none that is trusted for this name."""
    with (
        socket.create_connection((host, port), timeout=timeout_s) as plain,
        trust.wrap_socket(plain, server_hostname=host) as secure,
    ):
        given = secure.getpeercert() or {}
    return float(ssl.cert_time_to_seconds(str(given["notAfter"])))


def _certified_address(one: CheckSettings) -> tuple[str, int]:
    if one.kind == "certificate":
        return _host_and_port(one.asked)
    parts = urlsplit(one.asked)
    return parts.hostname or "", parts.port or 443


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
