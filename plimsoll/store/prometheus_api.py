"""An HTTP client of Prometheus' API, which VictoriaMetrics, Thanos and Mimir have, too."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from threading import Event
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import urllib3
from urllib3.exceptions import HTTPError, LocationParseError

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import find_last_cause
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples

_VALUES = b'"values":[['
READ_PATIENCE_S = 2.0
Rows = list[tuple[Mapping[str, str], Any]]
_CONNECT_S, _ANSWER_S = 5, 120
_CONNECTIONS = 16
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 2.0
_BUSY = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
# No cached answers, none without the newest samples, none that lack the data of a failing node.
_WHOLE = {"nocache": "1", "deny_partial_response": "1", "partial_response": "false"}


class PrometheusApi:
    """A client of one server. `name` is the address for people, `url` the API's URL, `title` the kind of server.

    `secrets` are the headers with a token or password, `secret_place` says where the user set it. A call is repeated
    for `read_s` seconds while the server is busy or unreachable, then raises Unreachable. A call raises Unusable if the
    server refuses it.
    """

    def __init__(
        self,
        name: str,
        url: str,
        title: str,
        secrets: Mapping[str, str],
        secret_place: str,
        *,
        is_near: bool,
        read_s: float = READ_PATIENCE_S,
    ) -> None:
        self.name = name
        self._url, self._title, self._secret_place = url, title, secret_place
        self._has_secret = bool(secrets)
        self._read_s = read_s
        self._ended = Event()
        self._has_failed = False
        self._headers = {"Accept-Encoding": "identity" if is_near else "gzip", **secrets}
        timeout = urllib3.Timeout(connect=_CONNECT_S, read=_ANSWER_S)
        self._pools = urllib3.PoolManager(timeout=timeout, retries=False, maxsize=_CONNECTIONS)

    def close(self) -> None:
        """Close the connections."""
        self._ended.set()
        self._pools.clear()

    def query(self, promql: str, at: int) -> Rows:
        """Return the labels and value of each series of an instant query at a time (ms)."""
        data = self._fetch_data("/api/v1/query", [("query", promql), ("time", format_seconds(at))])
        return [(datum["metric"], datum["value"][1]) for datum in data["result"]]

    def raw(self, selector: str, start: int, end: int) -> Iterator[tuple[Mapping[str, str], Samples]]:
        """Yield the labels and raw samples of selected series after `start` and up to `end` (ms).

        Before Prometheus 3, a server also returns a sample at `start`, which is left out here. Raise Unusable if the
        answer is not a matrix.
        """
        parameters = [("query", f"{selector}[{end - start}ms]"), ("time", format_seconds(end)), *_WHOLE.items()]
        numbers: list[Values] = []
        data = self._decode_answer(
            self._request("/api/v1/query", parameters), lambda body: _parse_matrix(body, numbers)
        )
        if data.get("resultType") != "matrix":
            raise self._explain_foreign()
        for datum in data["result"]:
            rows = datum.get("values", [])
            seconds, values = (numbers[rows] if isinstance(rows, int) else np.array(rows, np.float64)).reshape(-1, 2).T
            milliseconds = np.rint(seconds * 1000).astype(np.int64)
            inside = milliseconds > start
            yield datum["metric"], Samples(milliseconds[inside] * 1_000_000, values[inside])

    def label_names(self, start: int, end: int, selectors: Sequence[str]) -> list[str]:
        """Return the names of the labels of the selected series with samples on the days (UTC) of a range (ms)."""
        return self._fetch_data("/api/v1/labels", list_parameters(start, end, selectors))

    def series(self, selectors: Sequence[str], start: int, end: int) -> list[Mapping[str, str]]:
        """Return the labels of each selected series with samples on the days (UTC) of a range (ms)."""
        return self._fetch_data("/api/v1/series", list_parameters(start, end, selectors))

    def label_values(self, label: str, start: int, end: int, selectors: Sequence[str] = ()) -> list[str]:
        """Return the values of a label on the days (UTC) of a range (ms).

        With `selectors`, only values of the selected series are returned.
        """
        query = urlencode([*list_parameters(start, end, selectors), *_WHOLE.items()])
        url = f"{self._url}/api/v1/label/{quote(label, safe='')}/values?{query}"  # Prometheus takes no POST here
        return self._decode_answer(
            self._send_with_retries(lambda: self._send("GET", url, None, {}), self._read_s), json.loads
        )

    def _fetch_data(self, path: str, parameters: Sequence[tuple[str, str]]) -> Any:
        """Return the data of an answer as JSON. Raise Unusable if the answer is an error or incomplete."""
        return self._decode_answer(self._request(path, [*parameters, *_WHOLE.items()]), json.loads)

    def _decode_answer(self, answer: urllib3.BaseHTTPResponse, decode: Callable[[bytes], Any]) -> Any:
        try:
            content = decode(answer.read(decode_content=True))
        except ValueError:
            raise self._explain_foreign() from None
        except (HTTPError, OSError) as error:
            raise self._explain_broken(error) from None
        finally:
            answer.release_conn()
        if not isinstance(content, dict) or content.get("status") != "success" or "data" not in content:
            raise self._explain_foreign()
        if content.get("isPartial") or content.get("warnings"):
            why = " ".join(map(str, content.get("warnings") or ["see the page of vmselect"]))[-300:]
            raise Unreachable(
                f"{self.name}: one of its nodes does not answer, and what the others have is not all; {why}"
            )
        return content["data"]

    def _request(self, path: str, parameters: Sequence[tuple[str, str]]) -> urllib3.BaseHTTPResponse:
        body = urlencode(parameters).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._send_with_retries(lambda: self._send("POST", self._url + path, body, headers), self._read_s)

    def _send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        return self._pools.request(
            method, url, body=body, headers={**self._headers, **headers}, preload_content=False, redirect=False
        )

    def _send_with_retries(
        self, send: Callable[[], urllib3.BaseHTTPResponse], patience_s: float
    ) -> urllib3.BaseHTTPResponse:
        """Return the answer to a request, repeated while the server is busy or unreachable."""
        until, pause = time.monotonic() + patience_s, _FIRST_PAUSE_S
        while True:
            try:
                answer = send()
            except (LocationParseError, UnicodeError):
                raise Unusable(f'store "{self.name}": is not an address') from None
            except (HTTPError, OSError) as error:
                self._has_failed = True
                why = f"does not answer ({find_last_cause(error)}); is {self._title} running there?"
            else:
                if answer.status in (HTTPStatus.OK, HTTPStatus.NO_CONTENT):
                    return answer
                text = _read_message(answer)
                if answer.status not in _BUSY:
                    raise self._explain_refusal(answer.status, text)
                self._has_failed = True
                why = f"answers {answer.status} ({text or HTTPStatus(answer.status).phrase})"
            if time.monotonic() + pause > until or self._ended.wait(pause):
                raise Unreachable(f"{self.name}: {why}")
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _explain_refusal(self, status: int, text: str) -> Unusable:
        name = self.name
        match status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN if self._has_secret:
                return Unusable(f"{name}: it refuses the token in {self._secret_place}")
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                return Unusable(f"{name}: it wants a token: give {self._secret_place}")
            case HTTPStatus.NOT_FOUND:
                return Unusable(f"{name}: has no such path; is it the address of a {self._title}? ({text})")
            case _:
                return Unusable(f"{name}: {self._title} refuses: {text or status}")

    def _explain_foreign(self) -> Unusable:
        return Unusable(f"{self.name}: does not answer as {self._title} does; is that its address?")

    def _explain_broken(self, error: Exception) -> Unreachable:
        return Unreachable(f"{self.name}: broke off in the middle of an answer ({find_last_cause(error)})")


def _parse_matrix(body: bytes, numbers: list[Values]) -> Any:
    """Return an answer as JSON, with an index into `numbers` instead of each series' list of values.

    `numbers` gets an array for each series, as millions of numbers as Python objects would take seconds and gigabytes.
    """
    rest: list[bytes] = []
    at = 0
    while (begin := body.find(_VALUES, at)) >= 0 and (end := body.find(b"]]", begin)) >= 0:
        begin += len(_VALUES) - 1
        numbers.append(np.fromstring(body[begin:end].translate(None, b'[]"'), sep=","))
        if len(numbers[-1]) != 2 * (body.count(b"[", begin, end)):
            raise ValueError("a value is no number")
        rest += body[at : begin - 1], b"%d" % (len(numbers) - 1)
        at = end + 2
    return json.loads(b"".join([*rest, body[at:]]))


def _read_message(answer: urllib3.BaseHTTPResponse) -> str:
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


def list_parameters(start: int, end: int, selectors: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return the parameters of a request for a range (ms) of selected series."""
    return [
        *(("match[]", selector) for selector in selectors),
        ("start", format_seconds(start)),
        ("end", format_seconds(end)),
    ]


def format_seconds(milliseconds: int) -> str:
    """Return an instant (ms) as Prometheus takes it, in seconds."""
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}"
