"""An HTTP client of an InfluxDB 2 bucket: adds retries and error messages to the package influxdb-client."""

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from threading import Event, Lock
from typing import Any, TypeVar
from urllib.parse import urlencode

import numpy as np
from influxdb_client.client.influxdb_client import InfluxDBClient
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException
from urllib3.exceptions import HTTPError, LocationParseError

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import (
    find_last_cause,
    find_last_words,
    find_wrapped_error,
    is_loopback,
    read_lines,
)
from plimsoll.model.log import Times, Values
from plimsoll.model.times import SECOND, format_duration
from plimsoll.store.influx.address import InfluxAddress, explain_bad_address

NO_TLS = 0  # influxdb-client's status if TLS failed
_TLS_REQUIRED = re.compile(r"\b(HTTPS|SSL)\b")
_PLAIN_HTTP = re.compile(r"WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|HTTP_REQUEST")
# A stalled InfluxDB also answers with server errors (5xx); only these two are permanent.
_NOT_POSSIBLE = (HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_IS_IT_RUNNING = "is InfluxDB running there?"
Answer = TypeVar("Answer")


class Retry:
    """A retry policy: calls are repeated until the server answers, for at most `seconds`. Threads may share it.

    `notify` is called with a sentence when the first call begins to wait, and when no call waits any longer.
    """

    def __init__(self, address: InfluxAddress, seconds: float, notify: Callable[[str], None]) -> None:
        self._address = address
        self._seconds = seconds
        self._notify = notify
        self._given_up = Event()
        self._lock = Lock()
        self._waiting = 0

    def call(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of `call`, repeated while the server is busy or unreachable.

        Raises:
            ApiException: The server answered with an error for which a retry cannot help.
            Unreachable: The server was busy or unreachable for too long.
        """
        until, pause, waits = time.monotonic() + self._seconds, _FIRST_PAUSE_S, False
        url, answered = self._address.url, False
        try:
            while True:
                try:
                    answer = call()
                except (LocationParseError, UnicodeError):
                    raise explain_bad_address(url) from None
                except (ApiException, HTTPError, OSError) as error:
                    why, wished_s = self._explain_absence(error)
                    was_reset = url.startswith("http:") and isinstance(find_wrapped_error(error), ConnectionResetError)
                else:
                    answered = True
                    return answer
                left = until - time.monotonic()
                if left <= 0:
                    todo = "if it speaks TLS there, write https://; else see its log" if was_reset else _IS_IT_RUNNING
                    raise Unreachable(f"{url}: {why}; {todo}")
                if not waits:
                    waits = True
                    self._count(1, f"{url} {why}: trying again for {format_duration(math.ceil(left) * SECOND)}")
                if self._given_up.wait(min(max(pause, wished_s), max(left, 0.1))):
                    raise Unreachable(f"{url}: {why}")
                pause = min(2 * pause, _LONGEST_PAUSE_S)
        finally:
            if waits:
                self._count(-1, f"{url} answers again: going on" if answered else "")

    def give_up(self) -> None:
        """End the retries in all threads; waiting calls raise Unreachable."""
        self._given_up.set()

    def _explain_absence(self, error: Exception) -> tuple[str, float]:
        """Return why a call failed, and the pause (s) that the server asks for before a retry (0 if it does not).

        Raise `error`, or Unusable for a TLS error, if a retry cannot help.
        """
        if not isinstance(error, ApiException) or error.status == NO_TLS:
            if isinstance(error, ApiException) and (unusable := explain_tls_error(error, self._address)):
                raise unusable from None
            return f"does not answer ({find_last_cause(error)})", 0
        busy = error.status == HTTPStatus.TOO_MANY_REQUESTS or (error.status or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR
        if not busy or error.status in _NOT_POSSIBLE:
            raise error
        wished = (error.headers or {}).get("Retry-After", "")
        why = f"answers {error.status} ({read_server_message(error) or HTTPStatus(error.status).phrase})"
        return why, float(wished) if wished.isdecimal() else 0

    def _count(self, change: int, text: str) -> None:
        """Add `change` to the number of waiting calls; notify when the first begins to wait, and when the last ends."""
        with self._lock:
            self._waiting += change
            if self._waiting == max(change, 0) and text:
                self._notify(text)


_DROPPED = re.compile(r"\bdropped=(\d+)")
_TIMEOUT_MS = 120_000
_ROWS_A_CHUNK = 20_000
EVER = (-(2**63) + 2, 2**63 - 2)  # the first and last instant that InfluxDB accepts


@dataclass(frozen=True, slots=True)
class FluxTable:
    """One series of a query result: measurement, tags, and rows, each beginning with the time (UTC ns)."""

    measurement: str
    tags: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def times(self) -> Times:
        """Return the times of the rows."""
        return np.array([row[0] for row in self.rows], dtype=np.int64)

    def values(self, column: int) -> Values:
        """Return the numbers of a column; NaN for a missing number."""
        return np.array([row[column] for row in self.rows], dtype=np.float64)


class InfluxServer:
    """A client of one bucket of an InfluxDB.

    A call is retried for `retry_s` seconds while the server is busy or unreachable, then raises Unreachable. `waiting`
    is called with a sentence when calls begin to wait, and when the server answers again.
    """

    def __init__(
        self, address: InfluxAddress, *, retry_s: float = 300.0, waiting: Callable[[str], None] = lambda _: None
    ) -> None:
        self.address = address
        self.url = address.url.rstrip("/")
        self._retry = Retry(address, retry_s, waiting)
        self._client = InfluxDBClient(
            self.url, address.token, org=address.org, timeout=_TIMEOUT_MS, enable_gzip=not is_loopback(address.url)
        )
        assert self._client.api_client is not None
        self._api = self._client.api_client
        self._write = self._client.write_api(write_options=SYNCHRONOUS)

    def post(self, lines: bytes) -> tuple[int, str]:
        """Write line protocol; return the number of refused points, and the server's reason."""
        try:
            self._retry.call(lambda: self._write.write(self.address.bucket, self.address.org, lines))
        except ApiException as error:
            text = read_server_message(error)
            if error.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and lines.count(b"\n") > 1:
                middle = lines.rfind(b"\n", 0, len(lines) // 2) + 1 or lines.index(b"\n") + 1
                (first, why), (second, why_second) = self.post(lines[:middle]), self.post(lines[middle:])
                return first + second, why or why_second
            if "partial write" in text:
                dropped = _DROPPED.search(text)
                return int(dropped[1]) if dropped else 1, text
            raise explain_refusal(error, self.address) from None
        return 0, ""

    def query(self, influxql: str) -> Iterator[FluxTable]:
        """Yield the series in an InfluxQL query's result; a series with many rows comes as several tables."""
        policy = {"rp": self.address.policy} if self.address.policy else {}
        parameters = {
            "db": self.address.bucket,
            **policy,
            "epoch": "ns",
            "chunked": "true",
            "chunk_size": str(_ROWS_A_CHUNK),
        }
        response: Any = self._translate_errors(
            lambda: self._api.call_api(
                "/query",
                "POST",
                query_params=[*parameters.items()],
                header_params={"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
                post_params={"q": influxql},
                _preload_content=False,
                _return_http_data_only=True,
            )
        )
        answered = False
        try:
            for line in read_lines(response):
                for result in self._parse_results(line):
                    answered = True
                    if "error" in result:
                        raise self._query_error(str(result["error"]), influxql)
                    for series in result.get("series", ()):
                        yield FluxTable(
                            series.get("name", ""), series.get("tags", {}), series["columns"], series.get("values", ())
                        )
        except (HTTPError, OSError) as error:
            raise Unreachable(
                f"{self.url}: broke off in the middle of an answer ({find_last_cause(error)}); call again"
            ) from None
        if not answered:
            raise self._explain_foreign()

    def delete(self, start: int, end: int, predicate: str) -> None:
        """Delete the points that match a predicate from `start` to `end`, inclusive (UTC ns)."""
        body = {"start": _format_rfc3339(start), "stop": _format_rfc3339(end), "predicate": predicate}
        path = f"/api/v2/delete?{urlencode({'bucket': self.address.bucket, 'org': self.address.org})}"
        self._translate_errors(lambda: self._api.call_api(path, "POST", body=body, response_type=None))

    def oldest(self) -> int | None:
        """Return the time (UTC ns) before which the bucket keeps no points; None if it keeps all, or if unknown."""
        kept = self.retention()
        return None if kept is None else time.time_ns() - kept

    def retention(self) -> int | None:
        """Return how long (ns) the bucket keeps points; None if forever, or if the token may not read it."""
        translated = self._translate_errors(
            lambda: self._client.buckets_api().find_buckets(name=self.address.bucket, org=self.address.org)
        )
        rules = (rule for bucket in translated.buckets for rule in bucket.retention_rules or ())
        return next((int(rule.every_seconds) * SECOND for rule in rules if rule.every_seconds), None)

    def give_up(self) -> None:
        """Stop retrying in all threads."""
        self._retry.give_up()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _parse_results(self, line: bytes) -> list[dict[str, Any]]:
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._explain_foreign() from None
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise self._explain_foreign()
        return results

    def _explain_foreign(self) -> Unusable:
        return Unusable(f"{self.url}: does not answer as InfluxDB does; is that its address?")

    def _query_error(self, text: str, influxql: str) -> Unusable:
        if text.startswith("database not found"):
            return Unusable(
                f'{self.url}: there is no bucket "{self.address.bucket}" that the token in '
                f"{self.address.token_place} may read"
            )
        return Unusable(f"{self.url}: {text} (query: {influxql[:200]})")

    def _translate_errors(self, call: Callable[[], Answer]) -> Answer:
        try:
            return self._retry.call(call)
        except ApiException as error:
            raise explain_refusal(error, self.address) from None


def _format_rfc3339(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:09}Z"


def explain_refusal(error: ApiException, address: InfluxAddress) -> Unusable:
    """Return the error for a request that the server refused, with advice."""
    text, url = read_server_message(error), address.url
    match error.status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            advice = f"the token in {address.token_place} is wrong or may not do this"
        case HTTPStatus.NOT_FOUND:
            advice = f'is there a bucket "{address.bucket}" in organisation "{address.org}"?'
        case HTTPStatus.BAD_REQUEST if _TLS_REQUIRED.search(text) and url.startswith("http:"):
            return Unusable(f"{url}: speaks TLS alone there; write https:{url.removeprefix('http:')}")
        case _:
            advice = "see the server's log"
    return Unusable(f"{url}: InfluxDB refuses: {text or error.status} ({advice})")


def explain_tls_error(error: ApiException, address: InfluxAddress) -> Unusable | None:
    """Return the error if no retry can help, as TLS cannot work with this address; None if a retry may help."""
    why, url = str(error.reason), address.url
    if _PLAIN_HTTP.search(why):
        return Unusable(f"{url}: does not speak TLS there; write http:{url.removeprefix('https:')}")
    if "CERTIFICATE" in why:
        return Unusable(
            f"{url}: its certificate is not trusted here ({find_last_words(why)}); give the file of the one that "
            "signed it in SSL_CERT_FILE"
        )
    return None


def read_server_message(error: ApiException) -> str:
    """Return the message in the server's error response."""
    body = error.body if error.body is not None else b""
    if isinstance(body, bytes | bytearray):
        body = body.decode("utf-8", "replace")
    try:
        answer = json.loads(body)
    except ValueError:
        return " ".join(str(body).split())[:300]
    return str(answer.get("message") or answer.get("error") or "")[:300] if isinstance(answer, dict) else ""
