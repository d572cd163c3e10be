"""An InfluxDB 2 over HTTP: connection and authentication are influxdb-client's, patience and words for people ours."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from threading import Event
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import numpy as np
import urllib3
from influxdb_client.client.influxdb_client import InfluxDBClient
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException
from urllib3.exceptions import HTTPError, LocationParseError

from model.errors import Unreachable, Unusable
from model.log import Times, Values
from model.times import words

_BUSY = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
_LONGEST_PAUSE_S = 15.0
_DROPPED = re.compile(r"\bdropped=(\d+)")
_TIMEOUT_MS = 120_000
_ROWS_A_CHUNK = 20_000

EVER = (-(2**63) + 2, 2**63 - 2)  # the first and last instant InfluxDB takes

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Address:
    """Where an InfluxDB is, and who we are to it."""

    url: str
    org: str
    bucket: str
    token: str

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


@dataclass(frozen=True, slots=True)
class Table:
    """A series of an answer: its measurement and tags, and rows whose first cell is the time (UTC ns)."""

    measurement: str
    tags: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def times(self) -> Times:
        """The times of the rows."""
        return np.array([row[0] for row in self.rows], dtype=np.int64)

    def values(self, column: int) -> Values:
        """The numbers of a column; NaN where there is none."""
        return np.array([row[column] for row in self.rows], dtype=np.float64)


class Server:
    """One bucket of an InfluxDB.

    Every call waits for a server that is busy or away, for `patience_s` seconds since it last answered,
    and then raises Unreachable. `waiting` is told, in a sentence, when it has to.
    """

    def __init__(
        self, address: Address, *, patience_s: float = 300.0, waiting: Callable[[str], None] = lambda _: None
    ) -> None:
        try:
            parts = urlsplit(address.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise Unusable(f'store "{address.url}": is not an address; write it like http://127.0.0.1:8086')
        self.address = address
        self.url = address.url.rstrip("/")
        self._patience_s = patience_s
        self._waiting = waiting
        self._given_up = Event()
        self._client = InfluxDBClient(
            self.url, address.token, org=address.org, timeout=_TIMEOUT_MS, enable_gzip=not address.is_loopback
        )
        assert self._client.api_client is not None
        self._api = self._client.api_client
        self._write = self._client.write_api(write_options=SYNCHRONOUS)

    def post(self, lines: bytes) -> tuple[int, str]:
        """Write lines of line protocol; how many points the server refused, and why."""
        try:
            self._patiently(lambda: self._write.write(self.address.bucket, self.address.org, lines))
        except ApiException as error:
            said = _said(error)
            if error.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and lines.count(b"\n") > 1:
                return self._post_in_halves(lines)
            if "partial write" in said:
                dropped = _DROPPED.search(said)
                return int(dropped[1]) if dropped else 1, said
            raise self._refused(error) from None
        return 0, ""

    def _post_in_halves(self, lines: bytes) -> tuple[int, str]:
        middle = lines.rfind(b"\n", 0, len(lines) // 2) + 1 or lines.index(b"\n") + 1
        answers = [self.post(half) for half in (lines[:middle], lines[middle:])]
        return sum(refused for refused, _ in answers), next((why for _, why in answers if why), "")

    def query(self, influxql: str) -> Iterator[Table]:
        """The series an InfluxQL query answers with, in pieces of some thousand rows."""
        response = self._call(
            "POST",
            "/query",
            {"db": self.address.bucket, "epoch": "ns", "chunked": "true", "chunk_size": str(_ROWS_A_CHUNK)},
            influxql,
        )
        answered = False
        for line in self._lines(response):
            for result in self._results(line):
                answered = True
                if "error" in result:
                    raise self._unanswered(str(result["error"]), influxql)
                for series in result.get("series", ()):
                    yield Table(
                        series.get("name", ""), series.get("tags", {}), series["columns"], series.get("values", ())
                    )
        if not answered:
            raise self._stranger()

    def delete(self, start: int, end: int, predicate: str) -> None:
        """Delete the points a predicate fits from `start` to `end`, both included (UTC ns)."""
        body = {"start": _rfc3339(start), "stop": _rfc3339(end), "predicate": predicate}
        path = f"/api/v2/delete?{urlencode({'bucket': self.address.bucket, 'org': self.address.org})}"
        self._translated(lambda: self._api.call_api(path, "POST", body=body, response_type=None))

    def oldest(self) -> int | None:
        """The instant before which the bucket keeps nothing; None where it keeps everything."""
        kept = self.retention()
        return None if kept is None else time.time_ns() - kept

    def retention(self) -> int | None:
        """How long the bucket keeps points, in ns; None if for ever, or where the token may not know."""
        found = self._translated(
            lambda: self._client.buckets_api().find_buckets(name=self.address.bucket, org=self.address.org)
        )
        for bucket in found.buckets:
            for rule in bucket.retention_rules or ():
                if rule.every_seconds:
                    return int(rule.every_seconds) * 1_000_000_000
        return None

    def give_up(self) -> None:
        """Wait no longer, in any thread: nobody wants the answer any more."""
        self._given_up.set()

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _call(self, method: str, path: str, asked: Mapping[str, str], influxql: str) -> urllib3.HTTPResponse:
        answer: Any = self._translated(
            lambda: self._api.call_api(
                path,
                method,
                query_params=[*asked.items()],
                header_params={"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
                post_params={"q": influxql},
                _preload_content=False,
                _return_http_data_only=True,
            )
        )
        return answer

    def _results(self, line: bytes) -> list[dict[str, Any]]:
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._stranger() from None
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise self._stranger()
        return results

    def _stranger(self) -> Unusable:
        return Unusable(f"{self.url}: does not answer as InfluxDB does; is that its address?")

    def _unanswered(self, said: str, influxql: str) -> Unusable:
        if said.startswith("database not found"):
            return Unusable(
                f'{self.url}: there is no bucket "{self.address.bucket}" that the token may read; '
                "give one that may in INFLUX_TOKEN"
            )
        return Unusable(f"{self.url}: {said} (query: {influxql[:200]})")

    def _lines(self, response: urllib3.HTTPResponse) -> Iterator[bytes]:
        rest = b""
        try:
            for piece in response.stream(1 << 20):
                *whole, rest = (rest + piece).split(b"\n")
                yield from filter(bytes.strip, whole)
        except (HTTPError, OSError) as error:
            raise Unreachable(
                f"{self.url}: broke off in the middle of an answer ({_reason(error)}); call again"
            ) from None
        if rest.strip():
            yield rest

    def _translated(self, call: Callable[[], Answer]) -> Answer:
        try:
            return self._patiently(call)
        except ApiException as error:
            raise self._refused(error) from None

    def _patiently(self, call: Callable[[], Answer]) -> Answer:
        """Call until the server answers. ApiException for any answer but that it is busy."""
        since, pause = time.monotonic(), 0.5
        while True:
            try:
                return call()
            except ApiException as error:
                if error.status not in _BUSY:
                    raise
                why = f"answers {error.status} ({_said(error) or HTTPStatus(error.status).phrase})"
                asked = (error.headers or {}).get("Retry-After", "")
                wait = max(pause, float(asked)) if asked.isdecimal() else pause
            except (LocationParseError, UnicodeError):
                raise Unusable(f'store "{self.url}": is not an address; write it like http://127.0.0.1:8086') from None
            except (HTTPError, OSError) as error:
                why, wait = f"does not answer ({_reason(error)})", pause
            left = self._patience_s - (time.monotonic() - since)
            if left <= 0:
                raise Unreachable(
                    f"{self.url}: {why}; is InfluxDB running there? plimsoll stack status tells of a native one"
                )
            self._waiting(f"{self.url} {why}: trying again for {words(left * 1e9)}")
            if self._given_up.wait(min(wait, max(left, 0.1))):
                raise Unreachable(f"{self.url}: {why}")
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _refused(self, error: ApiException) -> Unusable:
        said = _said(error)
        match error.status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                advice = "the token is wrong or may not do this; give one in INFLUX_TOKEN"
            case HTTPStatus.NOT_FOUND:
                advice = f'is there a bucket "{self.address.bucket}" in organisation "{self.address.org}"?'
            case _:
                advice = "see the server's log"
        return Unusable(f"{self.url}: InfluxDB refuses: {said or error.status} ({advice})")


def _said(error: ApiException) -> str:
    """What the server says of a refusal."""
    body = error.body if error.body is not None else b""
    if isinstance(body, bytes | bytearray):
        body = body.decode("utf-8", "replace")
    try:
        told = json.loads(body)
    except ValueError:
        return " ".join(str(body).split())[:300]
    return str(told.get("message") or told.get("error") or "")[:300] if isinstance(told, dict) else ""


def _reason(error: Exception) -> str:
    """The last cause of a connection's failure, in a few words."""
    inner = getattr(error, "reason", None) or error
    text = str(inner).rpartition(": ")[2] or type(inner).__name__
    return re.sub(r"^\[Errno -?\d+\] ", "", text)


def _rfc3339(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:09}Z"
