"""An HTTP client of VictoriaMetrics, with messages for refusals and missing answers."""

import gzip
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from threading import Event
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError, LocationParseError

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import check_connections, is_loopback, last_cause, lines_of
from plimsoll.store.victoriametrics.address import TOKEN, VictoriaMetricsAddress

READ_PATIENCE_S = 2.0
WRITE_PATIENCE_S = 10.0
_CONNECT_S, _ANSWER_S, _ABOUT_S = 5, 120, 5
_CONNECTIONS = 16
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 2.0
_BUSY = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
_SINGLE = b'vm_app_version{version="victoria-metrics-'
_STARTED = re.compile(rb"^process_start_time_seconds (\S+)", re.MULTILINE)
# No cached answers, none without the newest samples, none that lack the data of a failing node.
_WHOLE = {"nocache": "1", "deny_partial_response": "1"}
Rows = list[tuple[Mapping[str, str], Any]]


class VictoriaMetricsServer:
    """A client of one VictoriaMetrics server or cluster.

    A call is repeated for a few seconds while the server is busy or unreachable, then raises Unreachable. It raises
    Unusable if the server refuses.
    """

    def __init__(
        self, address: VictoriaMetricsAddress, *, read_s: float = READ_PATIENCE_S, write_s: float = WRITE_PATIENCE_S
    ) -> None:
        self.address = address
        self._read_s, self._write_s = read_s, write_s
        self._ended = Event()
        self._is_new = self._has_failed = False
        is_near = all(is_loopback(url) for url in (address.write, address.read))
        self._headers = {"Accept-Encoding": "identity" if is_near else "gzip"}
        self._packed = not is_near
        if address.token:
            self._headers["Authorization"] = f"Bearer {address.token}"
        timeout = urllib3.Timeout(connect=_CONNECT_S, read=_ANSWER_S)
        self._pools = urllib3.PoolManager(timeout=timeout, retries=False, maxsize=_CONNECTIONS)
        check_connections(self._pools, self._connected)

    def close(self) -> None:
        """Close the connections."""
        self._ended.set()
        self._pools.clear()

    def write(self, lines: bytes) -> None:
        """Write line protocol whose times are in ms."""
        headers, body = {"Content-Type": "text/plain"}, lines
        if self._packed:
            headers["Content-Encoding"], body = "gzip", gzip.compress(lines, 1)
        url = f"{self.address.write}/write?precision=ms"
        answer = self._answered(lambda: self._send("POST", url, body, headers), self._write_s)
        answer.release_conn()

    def started(self) -> float | None:
        """Return when the server's storage process started (Unix time, s); None if unknown."""
        url = self.address.write.removesuffix("/influx")
        if "/insert/" in self.address.write:
            return None  # vminsert stores nothing
        try:
            answer = self._pools.request("GET", f"{url}/metrics", headers=self._headers, timeout=_ABOUT_S)
        except (HTTPError, OSError):
            return None
        match = _STARTED.search(answer.data)
        return float(match[1]) if match and _SINGLE in answer.data and answer.status == HTTPStatus.OK else None

    def was_away(self) -> tuple[bool, bool]:
        """Return whether a connection was opened since the last call, and whether a request failed."""
        result = self._is_new, self._has_failed
        self._is_new = self._has_failed = False
        return result

    def export(self, selectors: Sequence[str], start: int, end: int) -> Iterator[bytes]:
        """Yield the export lines of the raw samples of selected series in a range (ms, both ends included).

        A cluster returns all samples or an error.
        """
        answer = self._request("/api/v1/export", _parameters(start, end, selectors))
        if not answer.headers.get("Content-Type", "").startswith("application/stream+json"):
            answer.close()
            raise self._foreign()
        is_whole = False
        try:
            yield from lines_of(answer)
            is_whole = True
        except (HTTPError, OSError) as error:
            raise self._broken(error) from None
        finally:
            if not is_whole:
                answer.close()  # the rest would be read as the next answer
            answer.release_conn()

    def query(self, promql: str, at: int) -> Rows:
        """Return the labels and value of each series of an instant query at a time (ms)."""
        data = self._data("/api/v1/query", [("query", promql), ("time", _seconds(at))])
        return [(datum["metric"], datum["value"][1]) for datum in data["result"]]

    def clock(self) -> int:
        """Return the time by the server's clock (ms)."""
        return round(float(self._data("/api/v1/query", [("query", "time()")])["result"][0]["value"][1]) * 1000)

    def ages(self, selector: str, within_s: float) -> Sequence[tuple[Mapping[str, str], float]]:
        """Return the labels of series with a sample in the last `within_s`, and its age (s) by the server's clock."""
        text = f"tlast_over_time({selector}[{round(within_s * 1000)}ms])"
        data = self._data("/api/v1/query", [("query", text)])
        return [(datum["metric"], float(datum["value"][0]) - float(datum["value"][1])) for datum in data["result"]]

    def query_range(self, promql: str, start: int, end: int, step: int) -> Rows:
        """Return labels, times (s) and values of each series of a range query; `start`, `end` and `step` are in ms."""
        parameters = [("query", promql), ("step", f"{step}ms"), *_parameters(start, end)]
        data = self._data("/api/v1/query_range", parameters)
        return [(datum["metric"], datum["values"]) for datum in data["result"]]

    def series(self, selectors: Sequence[str], start: int, end: int) -> list[Mapping[str, str]]:
        """Return the labels of the series with samples on the days (UTC) of a range."""
        return self._data("/api/v1/series", _parameters(start, end, selectors))

    def label_values(self, label: str, start: int, end: int) -> list[str]:
        """Return a label's values on the days (UTC) of a range."""
        return self._data(f"/api/v1/label/{label}/values", _parameters(start, end))

    def _data(self, path: str, parameters: Sequence[tuple[str, str]]) -> Any:
        """Return the data of an answer as JSON. Raise Unusable if it is an error or incomplete."""
        answer = self._request(path, [*parameters, *_WHOLE.items()])
        try:
            content = json.loads(answer.read(decode_content=True))
        except ValueError:
            raise self._foreign() from None
        except (HTTPError, OSError) as error:
            raise self._broken(error) from None
        finally:
            answer.release_conn()
        if not isinstance(content, dict) or content.get("status") != "success" or "data" not in content:
            raise self._foreign()
        if content.get("isPartial"):
            raise Unreachable(
                f"{self.address.name}: one of its nodes does not answer, and what the others have is not all; "
                "see the page of vmselect"
            )
        return content["data"]

    def _request(self, path: str, parameters: Sequence[tuple[str, str]]) -> urllib3.BaseHTTPResponse:
        body = urlencode(parameters).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._answered(lambda: self._send("POST", self.address.read + path, body, headers), self._read_s)

    def _send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        return self._pools.request(
            method, url, body=body, headers={**self._headers, **headers}, preload_content=False, redirect=False
        )

    def _answered(self, send: Callable[[], urllib3.BaseHTTPResponse], patience_s: float) -> urllib3.BaseHTTPResponse:
        """Return the answer to a request, repeated while the server is busy or unreachable."""
        until, pause = time.monotonic() + patience_s, _FIRST_PAUSE_S
        while True:
            try:
                answer = send()
            except (LocationParseError, UnicodeError):
                raise Unusable(f'store "{self.address.name}": is not an address') from None
            except (HTTPError, OSError) as error:
                self._has_failed = True
                why = f"does not answer ({last_cause(error)}); is VictoriaMetrics running there?"
            else:
                if answer.status in (HTTPStatus.OK, HTTPStatus.NO_CONTENT):
                    return answer
                text = _message(answer)
                if answer.status not in _BUSY:
                    raise self._refusal(answer.status, text)
                self._has_failed = True
                why = f"answers {answer.status} ({text or HTTPStatus(answer.status).phrase})"
            if time.monotonic() + pause > until or self._ended.wait(pause):
                raise Unreachable(f"{self.address.name}: {why}")
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _refusal(self, status: int, text: str) -> Unusable:
        name = self.address.name
        match status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN if self.address.token:
                return Unusable(f"{name}: it refuses the token in {TOKEN}")
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                return Unusable(f"{name}: it wants a token: give {TOKEN}")
            case HTTPStatus.NOT_FOUND:
                return Unusable(f"{name}: has no such path; is it the address of a VictoriaMetrics? ({text})")
            case _:
                return Unusable(f"{name}: VictoriaMetrics refuses: {text or status}")

    def _foreign(self) -> Unusable:
        return Unusable(f"{self.address.name}: does not answer as VictoriaMetrics does; is that its address?")

    def _broken(self, error: Exception) -> Unreachable:
        return Unreachable(f"{self.address.name}: broke off in the middle of an answer ({last_cause(error)})")

    def _connected(self) -> None:
        self._is_new = True


def _message(answer: urllib3.BaseHTTPResponse) -> str:
    """Return the server's error message as one line."""
    try:
        data = answer.read(1 << 16, decode_content=True)
    except (HTTPError, OSError):
        return ""
    finally:
        answer.close()
    try:
        content = json.loads(data)
    except ValueError:
        content = None
    text = str(content.get("error", "")) if isinstance(content, dict) else data.decode("utf-8", "replace")
    return " ".join(text.split())[-300:]


def _parameters(start: int, end: int, selectors: Sequence[str] = ()) -> list[tuple[str, str]]:
    return [*(("match[]", selector) for selector in selectors), ("start", _seconds(start)), ("end", _seconds(end))]


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}"
