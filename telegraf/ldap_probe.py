#!/usr/bin/env python3
"""Measures LDAP latencies: opens a connection, binds, searches and closes the connection.

It probes once for each line on standard input, and writes a point in line protocol, for Telegraf's execd input. The
latencies are those of "Measurement and Analysis of LDAP Performance": connect is opening the connection and binding,
processing is the search up to its complete result, and response is everything until the connection is closed. Opening
includes name resolution, and TLS if it is used.

    ldap_probe,port=389,server=ldap1 open_ms=0.4,bind_ms=0.9,search_ms=1.1,unbind_ms=0.1,
        connect_ms=1.3,processing_ms=1.1,response_ms=2.5,entries=1i,success=1i,result_code=0i <ns>
    ldap_probe,port=389,server=ldap1 failed="bind",success=0i,result_code=49i <ns>

A failed probe has no times. `result_code` is that of the server, or one of OpenLDAP's client library: -1 for no
connection or a broken one, -5 for no answer in time. A line on standard error gives the reason.

Settings, from the environment:
    LDAP_URL            ldap://host:port or ldaps://host:port; default: ldap://localhost:389
    LDAP_STARTTLS       1: TLS on an ldap:// connection
    LDAP_TLS_CA         file of trusted certificates; default: those of the system
    LDAP_BIND_DN        the DN to bind as; default: anonymous
    LDAP_BIND_PASSWORD  its password
    LDAP_BASE           the base of the search; default: the root DSE, which does not involve the server's database
    LDAP_FILTER         the filter, best an indexed attribute of one entry: (uid=probe); default: (objectClass=*)
    LDAP_TIMEOUT        seconds until a probe gives up, less than the collection interval; default: 5

Needs Python 3.11 and ldap3.
"""

import math
import os
import ssl
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import urlsplit

try:
    import ldap3
    from ldap3.core.exceptions import LDAPException
    from ldap3.operation.search import parse_filter
except ImportError:
    sys.exit("E! LDAP probe: this Python has no ldap3; set LDAP_PROBE_PYTHON to one that has")

SERVER_DOWN = -1
TIMEOUT = -5
_PORTS = {"ldap": 389, "ldaps": 636}
_NS_PER_MS = 1_000_000


class Wrong(Exception):
    """A setting that cannot be used."""


@dataclass(frozen=True)
class Settings:
    """What to probe, and how."""

    host: str
    port: int
    ldaps: bool
    starttls: bool
    ca: str | None
    dn: str | None
    password: str | None = field(repr=False)
    base: str
    filter: str
    timeout: float

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings in an environment. Wrong if one cannot be used; messages never contain the password."""
        result = {name: value for name, value in environment.items() if value}
        url = urlsplit(result.get("LDAP_URL", "ldap://localhost"))
        if url.scheme not in _PORTS or not url.hostname or url.username is not None or url.path.strip("/"):
            raise Wrong("LDAP_URL is not of the form ldap://host:port or ldaps://host:port")
        try:
            port = url.port or _PORTS[url.scheme]
        except ValueError:
            raise Wrong("LDAP_URL has an invalid port") from None
        try:
            timeout = float(result.get("LDAP_TIMEOUT", "5"))
        except ValueError:
            timeout = 0.0
        if not 0 < timeout < math.inf:
            raise Wrong("LDAP_TIMEOUT is not a number of seconds above 0")
        starttls = result.get("LDAP_STARTTLS", "0")
        if starttls not in ("0", "1") or (starttls == "1" and url.scheme == "ldaps"):
            raise Wrong("LDAP_STARTTLS is 0 or 1, and 1 only with an ldap:// LDAP_URL")
        filter_ = result.get("LDAP_FILTER", "(objectClass=*)")
        try:
            parse_filter(filter_, None, auto_escape=True, auto_encode=False, validator=None, check_names=False)
        except LDAPException:
            raise Wrong(f"LDAP_FILTER {filter_} is not a filter") from None
        # A DN without a password would bind anonymously, and servers report success.
        if ("LDAP_BIND_DN" in result) != ("LDAP_BIND_PASSWORD" in result):
            raise Wrong("LDAP_BIND_DN and LDAP_BIND_PASSWORD must be set together")
        return cls(
            url.hostname,
            port,
            url.scheme == "ldaps",
            starttls == "1",
            result.get("LDAP_TLS_CA"),
            result.get("LDAP_BIND_DN"),
            result.get("LDAP_BIND_PASSWORD"),
            result.get("LDAP_BASE", ""),
            filter_,
            timeout,
        )


class Refused(Exception):
    """The server answered a step with an error."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


class Probe:
    """One probe. It runs in a thread, because name resolution or a slow answer can block a call for any time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connection = _connection(settings)
        self._step = "open"
        self._times: dict[str, int] = {}
        self._entries = 0
        self._failure: tuple[int, str] | None = None
        self._started = time.perf_counter_ns()

    def run(self) -> str:
        """Probe, and return the point after at most the timeout. A failure is also printed on standard error."""
        at = time.time_ns()
        worker = threading.Thread(target=self._work, daemon=True)
        worker.start()
        worker.join(self._settings.timeout)
        late = worker.is_alive()
        step = self._step
        failure = (TIMEOUT, f"no answer within {self._settings.timeout:g} s") if late else self._failure
        if late:
            self._hang_up()
        point = self._failed(failure[0], step) if failure else self._succeeded()
        if failure:
            where = f"{self._settings.host}:{self._settings.port}"
            print(f"E! LDAP probe of {where} failed at {step}: {_one_line(failure[1])}", file=sys.stderr, flush=True)
        tags = f"port={self._settings.port},server={_escaped(self._settings.host)}"
        return f"ldap_probe,{tags} {point} {at}"

    def _work(self) -> None:
        try:
            self._started = time.perf_counter_ns()
            self._timing("open", self._open)
            self._timing("bind", self._bind)
            self._timing("search", self._search)
            self._timing("unbind", self._connection.unbind)
        except Refused as refused:
            self._failure = (refused.code, str(refused))
        except (LDAPException, OSError) as error:
            late = time.perf_counter_ns() - self._started >= self._settings.timeout * 1e9
            self._failure = (TIMEOUT if late else SERVER_DOWN, str(error))
        except Exception as error:  # otherwise the error in the thread would be lost
            self._failure = (SERVER_DOWN, f"{type(error).__name__}: {error}")
        finally:
            if self._failure:
                self._hang_up()

    def _timing(self, step: str, call: Callable[[], Any]) -> None:
        self._step = step
        before = time.perf_counter_ns()
        call()
        self._times[step] = time.perf_counter_ns() - before

    def _open(self) -> None:
        self._connection.open(read_server_info=False)
        if self._settings.starttls and not self._connection.start_tls(read_server_info=False):
            raise self._refused()

    def _bind(self) -> None:
        if not self._connection.bind(read_server_info=False):
            raise self._refused()

    def _search(self) -> None:
        base = self._settings.base
        scope = ldap3.SUBTREE if base else ldap3.BASE
        self._connection.search(base, self._settings.filter, scope, attributes=[ldap3.ALL_ATTRIBUTES])
        # search() returns whether there are entries, but an empty result is a success too.
        if self._connection.result["result"] != 0:
            raise self._refused()
        self._entries = sum(entry["type"] == "searchResEntry" for entry in self._connection.response)

    def _refused(self) -> Refused:
        result = self._connection.result
        message = f": {result['message']}" if result["message"] else ""
        return Refused(result["result"], f"{result['description']} ({result['result']}){message}")

    def _hang_up(self) -> None:
        with suppress(OSError, AttributeError):
            self._connection.socket.shutdown(SHUT_RDWR)

    def _succeeded(self) -> str:
        times = self._times
        values = {f"{step}_ms": time_ns for step, time_ns in times.items()}
        values["connect_ms"] = times["open"] + times["bind"]
        values["processing_ms"] = times["search"]
        values["response_ms"] = sum(times.values())
        shown = ",".join(f"{name}={value / _NS_PER_MS:.6f}" for name, value in values.items())
        return f"{shown},entries={self._entries}i,success=1i,result_code=0i"

    def _failed(self, code: int, step: str) -> str:
        return f'failed="{step}",success=0i,result_code={code}i'


def _connection(settings: Settings) -> Any:
    tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=settings.ca)
    # A new server object each time, because it caches the resolved address.
    server = ldap3.Server(
        settings.host,
        settings.port,
        use_ssl=settings.ldaps,
        tls=tls if settings.ldaps or settings.starttls else None,
        get_info=ldap3.NONE,
        connect_timeout=settings.timeout,
    )
    return ldap3.Connection(
        server,
        settings.dn,
        settings.password,
        client_strategy=ldap3.SYNC,
        # Following a referral would measure another server.
        auto_referrals=False,
        check_names=False,
        receive_timeout=math.ceil(settings.timeout),
    )


def _escaped(tag: str) -> str:
    return tag.replace(",", r"\,").replace("=", r"\=").replace(" ", r"\ ")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def main() -> int:
    """Probe once for each line on standard input, until it ends."""
    try:
        settings = Settings.of(os.environ)
    except Wrong as error:
        print(f"E! LDAP probe: {_one_line(str(error))}", file=sys.stderr)
        return 2
    for _ in sys.stdin:
        print(Probe(settings).run(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
