"""An HTTP client of VictoriaMetrics, with messages for refusals and missing answers."""

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus

from urllib3.exceptions import HTTPError

from plimsoll.model.http_connections import check_connections, is_loopback, read_lines
from plimsoll.store.prometheus_api import READ_PATIENCE_S, PrometheusApi, Rows, list_parameters
from plimsoll.store.victoriametrics.address import TOKEN, VictoriaMetricsAddress

WRITE_PATIENCE_S = 10.0
_ABOUT_S = 5
_SINGLE = b'vm_app_version{version="victoria-metrics-'
_STARTED = re.compile(rb"^process_start_time_seconds (\S+)", re.MULTILINE)


class VictoriaMetricsServer(PrometheusApi):
    """A client of one VictoriaMetrics server or cluster."""

    def __init__(
        self, address: VictoriaMetricsAddress, *, read_s: float = READ_PATIENCE_S, write_s: float = WRITE_PATIENCE_S
    ) -> None:
        is_near = all(is_loopback(url) for url in (address.write, address.read))
        secrets = {"Authorization": f"Bearer {address.token}"} if address.token else {}
        super().__init__(address.name, address.read, "VictoriaMetrics", secrets, TOKEN, is_near=is_near, read_s=read_s)
        self.address = address
        self._write_s, self._packed = write_s, not is_near
        self._is_new = False
        check_connections(self._pools, self._check_connection)

    def write(self, lines: bytes) -> None:
        """Write line protocol whose times are in ms."""
        headers, body = {"Content-Type": "text/plain"}, lines
        if self._packed:
            headers["Content-Encoding"], body = "gzip", gzip.compress(lines, 1)
        url = f"{self.address.write}/write?precision=ms"
        answer = self._send_with_retries(lambda: self._send("POST", url, body, headers), self._write_s)
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
        """Return whether a connection was opened, and whether a request failed, since this was last called."""
        result = self._is_new, self._has_failed
        self._is_new = self._has_failed = False
        return result

    def export(self, selectors: Sequence[str], start: int, end: int) -> Iterator[bytes]:
        """Yield the export lines of the raw samples of selected series in a range (ms, both ends included).

        A cluster returns all samples or an error.
        """
        answer = self._request("/api/v1/export", list_parameters(start, end, selectors))
        if not answer.headers.get("Content-Type", "").startswith("application/stream+json"):
            answer.close()
            raise self._explain_foreign()
        is_whole = False
        try:
            yield from read_lines(answer)
            is_whole = True
        except (HTTPError, OSError) as error:
            raise self._explain_broken(error) from None
        finally:
            if not is_whole:
                answer.close()  # the rest would be read as the next answer
            answer.release_conn()

    def clock(self) -> int:
        """Return the time by the server's clock (ms)."""
        return round(float(self._fetch_data("/api/v1/query", [("query", "time()")])["result"][0]["value"][1]) * 1000)

    def ages(self, selector: str, within_s: float) -> Sequence[tuple[Mapping[str, str], float]]:
        """Return labels and age (s, by the server's clock) of each series' last sample in the last `within_s`."""
        text = f"tlast_over_time({selector}[{round(within_s * 1000)}ms])"
        data = self._fetch_data("/api/v1/query", [("query", text)])
        return [(datum["metric"], float(datum["value"][0]) - float(datum["value"][1])) for datum in data["result"]]

    def query_range(self, promql: str, start: int, end: int, step: int) -> Rows:
        """Return labels, times (s) and values of each series of a range query; `start`, `end` and `step` are in ms."""
        parameters = [("query", promql), ("step", f"{step}ms"), *list_parameters(start, end)]
        data = self._fetch_data("/api/v1/query_range", parameters)
        return [(datum["metric"], datum["values"]) for datum in data["result"]]

    def _check_connection(self) -> None:
        self._is_new = True
