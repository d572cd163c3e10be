"""Reads the live samples of a running `plimsoll up` over HTTP.

Calls and results are JSON. Samples are raw little-endian arrays: the number of samples of each series, then all times,
then all values. Reading a message cannot execute its sender's code.
"""

import json
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np
import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import check_connections, find_last_cause
from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store.folders.runs import RunFolders
from plimsoll.store.protocol import FoundSeries, RunStore, SampleReader, WriteResult
from plimsoll.store.store import Store

PATH = "/api/store"
JSON, ARRAYS = "application/json", "application/octet-stream"
_CONNECT_S, _ANSWER_S = 5, 600
_SERIES_AT_ONCE = 500


class RemoteSamples(SampleReader):
    """The live samples of the server at an address, read with the owner's token.

    See `plimsoll.store.protocol.SampleStore`. `check` is called on each new connection before the token is sent; if it
    raises OSError, nothing is sent.
    """

    def __init__(self, address: str, token: str, check: Callable[[], None] | None = None) -> None:
        self.name = address.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": JSON}
        timeout = urllib3.Timeout(connect=_CONNECT_S, read=_ANSWER_S)
        self._pools = urllib3.PoolManager(timeout=timeout, retries=False)
        if check:
            check_connections(self._pools, check)

    def close(self) -> None:
        """Close the connections."""
        self._pools.clear()

    def back_up(self, to: Path) -> None:
        """Make the server copy its samples and runs to a new file on the server's computer."""
        self._call("back_up", str(to))

    def runs_place(self) -> list[str]:
        """Return where the server's runs are, for `make_remote_store`: `["folder", PATH]` or `["influx", URL, ...]`."""
        return json.loads(self._call("runs_place"))

    def write_points(self, points: Points) -> WriteResult:
        """Raise Unusable, as only agents write samples."""
        raise Unusable(f"{self.name}: takes samples at /api/v2/write")

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the numeric series with a sample in a range, sorted."""
        result = json.loads(self._call("series", int(start), int(end), list(hosts)))
        return FoundSeries(_decode_series(result["series"]), result["text"], tuple(result["unread"]))

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range."""
        parts = (series[at : at + _SERIES_AT_ONCE] for at in range(0, len(series), _SERIES_AT_ONCE))
        return [samples for part in parts for samples in self._read(part, start, end)]

    def _read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        content = self._call("read", _encode_series(series), int(start), int(end))
        try:
            counts = np.frombuffer(content, "<i8", len(series))
            total, times_at = int(counts.sum()), counts.nbytes
            times = np.frombuffer(content, "<i8", total, times_at)
            values = np.frombuffer(content, "<f8", total, times_at + times.nbytes)
        except ValueError:
            raise self._explain_foreign("a message that is cut off") from None
        ends = np.cumsum(counts)[:-1]
        return [Samples(*pair) for pair in zip(np.split(times, ends), np.split(values, ends), strict=True)]

    def _call(self, method: str, *arguments: Any) -> bytes:
        """Return the server's answer to a call. Raise Unusable for a refusal, Unreachable without an answer."""
        url, body = f"{self.name}{PATH}/{method}", json.dumps(arguments).encode()
        try:
            answer = self._pools.request("POST", url, body=body, headers=self._headers)
        except (HTTPError, OSError) as error:
            raise Unreachable(
                f"{self.name}: does not answer ({find_last_cause(error)}); is plimsoll up running?"
            ) from None
        match answer.status:
            case HTTPStatus.OK if answer.headers.get("Content-Type") in (JSON, ARRAYS):
                return answer.data
            case HTTPStatus.UNPROCESSABLE_ENTITY:
                raise Unusable(*answer.data.decode("utf-8", "replace").split("\n"))
            case HTTPStatus.SERVICE_UNAVAILABLE if answer.headers.get("Retry-After"):
                raise Unreachable(f"{self.name}: has too much to do at the moment; call again")
            case HTTPStatus.SERVICE_UNAVAILABLE:
                raise Unreachable(answer.data.decode("utf-8", "replace"))
            case HTTPStatus.UNAUTHORIZED:
                raise Unusable(
                    f"{self.name}: does not accept the token of this data folder; is that server another one?"
                )
            case status:
                raise self._explain_foreign(str(status))

    def _explain_foreign(self, why: str) -> Unusable:
        return Unusable(f"{self.name}: does not answer as this Plimsoll does ({why}); is it another version?")


def answer(store: Store, method: str, arguments: Any) -> tuple[bytes, str]:
    """Return the result of a call and its media type. Raise LookupError, TypeError or ValueError for a bad call."""
    live: SampleReader = store.live
    match method, arguments:
        case "series", [int(start), int(end), list(hosts)]:
            series = live.series(start, end, [str(host) for host in hosts])
            result: Any = {"series": _encode_series(series.series), "text": series.text, "unread": series.unread}
        case "read", [list(rows), int(start), int(end)]:
            read = live.read(_decode_series(rows), start, end)
            counts = np.array([len(samples.times) for samples in read], "<i8")
            columns = [samples.times.astype("<i8") for samples in read] + [s.values.astype("<f8") for s in read]
            return b"".join([counts.tobytes(), *(column.tobytes() for column in columns)]), ARRAYS
        case "back_up", [str(path)]:
            result = store.back_up(Path(path))
        case "runs_place", []:
            result = list(store.runs_place)
        case _:
            raise LookupError(method)
    return json.dumps(result).encode(), JSON


def _encode_series(series: Sequence[Series]) -> list[Any]:
    return [[series.host, series.measurement, series.tags, series.field] for series in series]


def _decode_series(rows: Sequence[Any]) -> list[Series]:
    return [
        Series(str(host), str(measurement), tuple((str(name), str(value)) for name, value in tags), str(field))
        for host, measurement, tags, field in rows
    ]


def make_remote_store(address: str, token: str, check: Callable[[], None] | None = None) -> Store:
    """Return the store of a server: live samples come from the server, runs directly from the store of the runs."""
    live = RemoteSamples(address, token, check)
    try:
        match live.runs_place():
            case ["folder", folder]:
                runs: RunStore = RunFolders.open(Path(folder))
            case ["influx", *parts]:
                # Imported here because the client is slow to import and rarely needed.
                from plimsoll.store.influx.address import InfluxAddress  # noqa: PLC0415
                from plimsoll.store.influx.runs import InfluxRuns  # noqa: PLC0415
                from plimsoll.store.influx.server import InfluxServer  # noqa: PLC0415

                runs = InfluxRuns(InfluxServer(InfluxAddress(*parts)))
            case _:
                raise Unusable(f"{address}: does not answer as this Plimsoll does; is it another version?")
        return Store(live, runs, back_up=live.back_up)
    except BaseException:
        live.close()
        raise
