"""`plimsoll.connect`: reads and changes the data of a running `plimsoll up` through its HTTP API."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from io import BytesIO
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import polars as pl
import urllib3
from pydantic import BaseModel, ValidationError
from urllib3.exceptions import HTTPError

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import find_last_cause
from plimsoll.notify.alerts_document import AlertPart, SilencePart
from plimsoll.pages.http_api.alerts import IncidentPart, NotePart
from plimsoll.pages.http_api.health import ApiHost, ApiLimit, ApiSignal, HealthPart
from plimsoll.pages.http_api.operation import MOST_AT_ONCE, Page
from plimsoll.pages.http_api.runs import ApiRun
from plimsoll.pages.http_api.samples import SeriesPart

_CONNECT_S, _ANSWER_S = 5, 300
_ROOT = "/api/v1"
_Part = TypeVar("_Part", bound=BaseModel)
_QueryValue = str | int | Sequence[str] | None


class Connection:
    """A client of a running `plimsoll up`; docs/http-api.md explains the returned objects. Times are text in UTC.

    All methods raise Unreachable if the server does not answer, and Unusable with the reason if it refuses a request.
    """

    def __init__(self, url: str, token: str | None, ca: str | PathLike[str] | None) -> None:
        self._url = url.rstrip("/")
        if not self._url.startswith(("http://", "https://")):
            raise Unusable(f"{url}: is no address of plimsoll up: write it like http://127.0.0.1:8087")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = urllib3.Timeout(connect=_CONNECT_S, read=_ANSWER_S)
        trusted = fspath(ca) if ca is not None else None
        # Following a redirect would send the token elsewhere.
        self._pools = urllib3.PoolManager(timeout=timeout, retries=False, ca_certs=trusted)

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the server."""
        self._pools.clear()

    def health(self) -> HealthPart:
        """Return the health of all hosts."""
        return self._read(HealthPart, "/health")

    def hosts(self, *, text: str = "", state: str | None = None) -> list[ApiHost]:
        """Return the hosts whose name contains `text` and that are in `state` (None: any).

        States are `healthy`, `alert`, `silent` and `not judged`.
        """
        return [*self._list_all(ApiHost, "/hosts", text=text, state=state)]

    def limits(self, *, host: str = "", state: str | None = None, severity: str | None = None) -> list[ApiLimit]:
        """Return the limits that are judged now, with the values they are compared with."""
        return [*self._list_all(ApiLimit, "/limits", host=host, state=state, severity=severity)]

    def signals(self, *, text: str = "") -> list[ApiSignal]:
        """Return the signals of the catalogue whose name or title contains `text`."""
        return [*self._list_all(ApiSignal, "/signals", text=text)]

    def names(
        self, *, host: Sequence[str] = (), text: str = "", from_: str = "now-1h", to: str = "now"
    ) -> list[SeriesPart]:
        """Return the series, as they were sent, that have samples from `from_` to `to`."""
        return [*self._list_all(SeriesPart, "/series", host=host, text=text, **{"from": from_, "to": to})]

    def series(
        self,
        signal: str = "",
        *,
        host: str | Sequence[str] = (),
        instance: str | None = None,
        measurement: str = "",
        field: str = "",
        tags: Mapping[str, str] | None = None,
        from_: str = "now-1h",
        to: str = "now",
        bucket: str = "",
    ) -> pl.DataFrame:
        """Return the samples of a signal (`cpu.busy`), or of a measurement and field as they were sent.

        The frame has a row for each time and series: `time` (UTC, ns), `host`, `name`, `instance`, `tags`
        (`name=value,...`), and `value`. With a `bucket` (`"5m"`), `time` is the begin of a bucket, and `minimum`,
        `mean` and `maximum` replace `value`. `from_` and `to` are times such as `"now-6h"` or `"2026-03-01T10:22Z"`.
        """
        query = {
            "signal": signal,
            "host": [host] if isinstance(host, str) else host,
            "instance": instance,
            "measurement": measurement,
            "field": field,
            "tag": [f"{name}={value}" for name, value in (tags or {}).items()],
            "from": from_,
            "to": to,
            "bucket": bucket,
            "format": "arrow",
        }
        return pl.read_ipc(BytesIO(self._send("GET", "/samples", query)[1]))

    def incidents(self, *, host: str = "", severity: str | None = None) -> list[IncidentPart]:
        """Return the open incidents with their alerts, the most severe incident first."""
        return [*self._list_all(IncidentPart, "/incidents", host=host, severity=severity)]

    def alerts(
        self, *, state: str = "firing", host: str = "*", rule: str = "*", from_: str = "now-24h", to: str = "now"
    ) -> list[AlertPart]:
        """Return the firing alerts; with `state="ended"`, the ended alerts that were firing between `from_` and `to`.

        `host` and `rule` are patterns, in which `*` stands for any text.
        """
        query = {"from": from_, "to": to}
        return [*self._list_all(AlertPart, "/alerts", state=state, host=host, rule=rule, **query)]

    def acknowledge(self, alert: int, *, who: str, note: str = "") -> AlertPart:
        """Acknowledge an alert, and return the changed alert. This method needs a token for changes."""
        return self._request_change(AlertPart, "POST", f"/alerts/{alert}/acknowledgement", {"who": who, "note": note})

    def silences(self, *, state: str = "active") -> list[SilencePart]:
        """Return the active silences; with `state="planned"`, the planned silences."""
        return [*self._list_all(SilencePart, "/silences", state=state)]

    def silence(
        self, rule: str, *, length: str, reason: str, who: str, host: str = "*", instance: str = "*", start: str = "now"
    ) -> SilencePart:
        """Begin a silence that lasts for `length` (`"2h"`), and return it. This method needs a token for changes.

        `rule`, `host` and `instance` are patterns, in which `*` stands for any text.
        """
        sent = {"rule": rule, "host": host, "instance": instance, "length": length, "reason": reason, "who": who}
        return self._request_change(SilencePart, "POST", "/silences", {**sent, "start": start})

    def end_silence(self, silence: int) -> SilencePart:
        """End an active silence or cancel a planned silence, and return it. Needs a token for changes."""
        return self._request_change(SilencePart, "DELETE", f"/silences/{silence}")

    def notes(self, *, from_: str = "now-24h", to: str = "now") -> list[NotePart]:
        """Return the notes on the charts from `from_` to `to`."""
        return [*self._list_all(NotePart, "/notes", **{"from": from_, "to": to})]

    def note(self, text: str, *, at: str = "now", host: str = "", who: str = "") -> NotePart:
        """Add a note to the charts of a host (empty, all hosts), and return it. Needs a token for changes."""
        return self._request_change(NotePart, "POST", "/notes", {"text": text, "at": at, "host": host, "who": who})

    def runs(self, *, text: str = "", labels: Mapping[str, str] | None = None) -> list[ApiRun]:
        """Return the recorded runs, the latest first, each with a summary of its review."""
        label = [f"{name}={value}" for name, value in (labels or {}).items()]
        return [*self._list_all(ApiRun, "/runs", text=text, label=label)]

    def review(self, run: str, *, wait_s: float = 600) -> dict[str, Any]:
        """Return the review of a run (docs/review-json.md).

        If there is no review, wait until the server has made it; raise Unreachable after `wait_s` seconds.
        """
        return self.read_json(f"/reviews/{quote(run, safe='')}", {}, wait_s)

    def compare(self, baseline: str, *runs: str, wait_s: float = 600) -> dict[str, Any]:
        """Return the comparison of runs with a baseline, by names of stored runs (docs/compare-json.md).

        Wait until the server has made the comparison; raise Unreachable after `wait_s` seconds.
        """
        return self.read_json("/comparisons", {"run": [baseline, *runs]}, wait_s)

    def read_json(
        self, path: str, query: Mapping[str, _QueryValue] = MappingProxyType({}), wait_s: float = 600, root: str = _ROOT
    ) -> Any:
        """Request a path until its result is ready, and return the parsed JSON.

        Raise Unreachable after `wait_s` seconds.
        """
        until, pause_s = time.monotonic() + wait_s, 0.5
        while True:
            status, content = self._send("GET", path, query, root=root)
            if status != HTTPStatus.ACCEPTED:
                return json.loads(content)
            if time.monotonic() + pause_s > until:
                raise Unreachable(f"{self._url}{path}: is still being made after {wait_s:g} s: ask again later")
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 5.0)

    def _list_all(self, part: type[_Part], path: str, **query: _QueryValue) -> Iterator[_Part]:
        """Yield all entries of a list, which is requested page by page."""
        offset: int | None = 0
        while offset is not None:
            page = self._read(Page[part], path, **query, limit=MOST_AT_ONCE, offset=offset)
            yield from page.items
            offset = page.next

    def _read(self, model: type[_Part], path: str, **query: _QueryValue) -> _Part:
        return self._request_change(model, "GET", path, query=query)

    def _request_change(
        self,
        model: type[_Part],
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, _QueryValue] = MappingProxyType({}),
    ) -> _Part:
        try:
            content = self._send(method, path, query, body)[1]
            # The server fills its answers by attribute, so keys of the JSON are the aliases.
            return model.model_validate_json(content, by_alias=False, by_name=True)
        except ValidationError:
            raise Unusable(f"{self._url}: does not answer as plimsoll up does: is it the right address?") from None

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, _QueryValue],
        body: Mapping[str, Any] | None = None,
        root: str = _ROOT,
    ) -> tuple[int, bytes]:
        """Send a request, and return the status and body of the response."""
        values = {name: value for name, value in query.items() if value not in (None, "")}
        encoded = urlencode(values, doseq=True)
        address = f"{self._url}{root}{path}{f'?{encoded}' if encoded else ''}"
        try:
            answer = self._pools.request(method, address, headers=self._headers, json=body, redirect=False)
        except HTTPError as error:
            raise Unreachable(f"{self._url}: {find_last_cause(error)}") from None
        if answer.status in (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED):
            return answer.status, answer.data
        away = answer.status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)
        try:
            problem = _Problem.model_validate_json(answer.data)
            why = f"{problem.error}; {problem.hint}" if problem.hint else problem.error
        except ValidationError:
            why = f"the answer has status {answer.status}"
        raise (Unreachable if away else Unusable)(f"{self._url}{root}{path}: {why}")


class _Problem(BaseModel):
    error: str
    hint: str = ""


def connect(url: str, token: str | None = None, *, ca: str | PathLike[str] | None = None) -> Connection:
    """Return a client of a running `plimsoll up` at an address such as `http://127.0.0.1:8087`.

    `token` is a token for reading or for changes (docs/http-api.md says how to make it); a server on the loopback
    address needs none. `ca` is a file of certificates to trust, besides those of the system.
    """
    return Connection(url, token, ca)
