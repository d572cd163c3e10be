"""The live samples of a running `plimsoll up`, over HTTP."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import check_connections, last_cause
from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store import messages
from plimsoll.store.folders.runs import RunFolders
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, RunStore, WriteResult
from plimsoll.store.store import Store

PATH = "/api/store"
_CONNECT_S, _ANSWER_S = 5, 600
_SERIES_AT_ONCE = 500


class RemoteSamples:
    """The live samples of the server at an address, reached with the owner's token.

    See `plimsoll.store.protocol.SampleStore`. `check` is called on each new connection before the token is sent; if
    it raises OSError, nothing is sent.
    """

    def __init__(self, address: str, token: str, check: Callable[[], None] | None = None) -> None:
        self._address = address.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": messages.MEDIA_TYPE}
        timeout = urllib3.Timeout(connect=_CONNECT_S, read=_ANSWER_S)
        self._pools = urllib3.PoolManager(timeout=timeout, retries=False)
        if check:
            check_connections(self._pools, check)

    @property
    def name(self) -> str:
        """The address of the server."""
        return self._address

    def close(self) -> None:
        """Close the connections."""
        self._pools.clear()

    def back_up(self, to: Path) -> None:
        """Have the server copy what is committed now to a new file of its computer."""
        self._call("back_up", str(to))

    def runs_place(self) -> list[str]:
        """Return where the server has its runs; see `plimsoll.store.store.Store`."""
        return self._call("runs_place")

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples; they are committed when it returns."""
        return self._call("write_points", points)

    def hosts(self, start: int, end: int) -> list[str]:
        """Return the hosts with samples in a range, sorted."""
        return self._call("hosts", start, end)

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the numeric series with a sample in a range, sorted."""
        return self._call("series", start, end, list(hosts))

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range."""
        return self._of_each("read", series, start, end)

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Return samples that draw each series in a range."""
        return self._of_each("drawn", series, start, end, buckets)

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets."""
        return self._of_each("buckets", series, start, end, width)

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """Return the number of samples of each series in a range."""
        return self._of_each("counts", series, start, end)

    def _of_each(self, method: str, series: Sequence[Series], *arguments: int) -> list[Any]:
        """Call a method with some series at a time, so that no answer gets too long."""
        parts = (series[at : at + _SERIES_AT_ONCE] for at in range(0, len(series), _SERIES_AT_ONCE))
        return [result for part in parts for result in self._call(method, list(part), *arguments)]

    def _call(self, method: str, *arguments: Any) -> Any:
        body = messages.dumps(list(arguments))
        try:
            answer = self._pools.request("POST", f"{self._address}{PATH}/{method}", body=body, headers=self._headers)
        except (HTTPError, OSError) as error:
            raise Unreachable(
                f"{self._address}: does not answer ({last_cause(error)}); is plimsoll up running?"
            ) from None
        return self._result(answer)

    def _result(self, answer: urllib3.BaseHTTPResponse) -> Any:
        try:
            message = messages.loads(answer.data)
        except ValueError:
            message = None
        match answer.status, message:
            case HTTPStatus.OK, _ if message is not None:
                return message["result"]
            case HTTPStatus.UNPROCESSABLE_ENTITY, {"unusable": text}:
                raise Unusable(*str(text).split("\n"))
            case HTTPStatus.SERVICE_UNAVAILABLE, {"unreachable": text}:
                raise Unreachable(str(text))
            case HTTPStatus.SERVICE_UNAVAILABLE, _:
                raise Unreachable(f"{self._address}: has too much to do at the moment; call again")
            case HTTPStatus.UNAUTHORIZED, _:
                raise Unusable(
                    f"{self._address}: does not accept the token of this data folder; is that server another one?"
                )
            case _:
                raise Unusable(
                    f"{self._address}: does not answer as this Plimsoll does ({answer.status}); is it another version?"
                )


def remote_store(address: str, token: str, check: Callable[[], None] | None = None) -> Store:
    """Return the store of the server at an address: its live samples through it, and its runs where they are."""
    live = RemoteSamples(address, token, check)
    try:
        match live.runs_place():
            case ["folder", folder]:
                runs: RunStore = RunFolders.open(Path(folder))
            case ["influx", *parts]:
                # Its client is slow to import, and most have no InfluxDB.
                from plimsoll.store.influx.address import Address  # noqa: PLC0415
                from plimsoll.store.influx.runs import InfluxRuns  # noqa: PLC0415
                from plimsoll.store.influx.server import Server  # noqa: PLC0415

                runs = InfluxRuns(Server(Address(*parts)))
            case _:
                raise Unusable(f"{address}: does not answer as this Plimsoll does; is it another version?")
        return Store(live, runs, back_up=live.back_up)
    except BaseException:
        live.close()
        raise
