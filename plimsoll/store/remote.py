"""The store of a running `plimsoll up`, over HTTP."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import check_connections, last_cause
from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording, StoredRun
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store import messages
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, RunSummary, WriteResult
from plimsoll.store.run_states import Claim, State

PATH = "/api/store"
_CONNECT_S, _ANSWER_S = 5, 600
_SERIES_AT_ONCE = 500
_Item = TypeVar("_Item")


class RemoteStore:
    """The store of the server at an address, reached with the owner's token. See `plimsoll.store.protocol.Store`.

    `check` is called on each new connection before the token is sent; if it raises OSError, nothing is sent.
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

    def backup(self, to: Path) -> None:
        """Have the server copy what is committed now to a new file of its computer."""
        self._call("backup", str(to))

    @property
    def settle_s(self) -> float:
        """How long after a write the store may still lose it."""
        return self._call("settle_s")

    def write(self, batches: Iterable[Log], run: RunSummary | None = None) -> Generator[WriteResult]:
        """Write each batch with a request."""
        for batch in batches:
            yield self._call("write", batch, run)

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples; they are committed when it returns."""
        return self._call("write_points", points)

    def remove(
        self,
        recording: Recording,
        keep: Sequence[Recording] = (),
        *,
        whole: bool = True,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        """Remove the samples of a recording, except those that others contain too."""
        before_each()
        self._call("remove", recording, list(keep), whole=whole)

    def recover(self) -> None:
        """Finish what an interrupted removal left to do."""
        self._call("recover")

    def oldest(self) -> int | None:
        """The instant before which nothing is kept."""
        return self._call("oldest")

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts with samples in a range, sorted."""
        return self._call("hosts", start, end)

    def series(self, start: int, end: int, hosts: Sequence[str] = (), *, live: bool = False) -> FoundSeries:
        """The numeric series with a sample in a range, sorted."""
        return self._call("series", start, end, list(hosts), live=live)

    def read(
        self, series: Sequence[Series], start: int, end: int, *, live: bool = False, recorded: bool = False
    ) -> list[Samples]:
        """The samples of each series in a range."""
        which = {"live": live, "recorded": recorded}
        return [one for some in _parts(series) for one in self._call("read", some, start, end, **which)]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Samples that draw the line of each series in a range."""
        return [one for some in _parts(series) for one in self._call("drawn", some, start, end, buckets)]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean of each series in buckets."""
        return [one for some in _parts(series) for one in self._call("buckets", some, start, end, width)]

    def counts(self, series: Sequence[Series], start: int, end: int, *, recorded: bool = False) -> list[int]:
        """How many samples each series has in a range."""
        return [one for some in _parts(series) for one in self._call("counts", some, start, end, recorded=recorded)]

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run in place of one of the same name."""
        return self._call("save", run)

    def mark(self, run: RunSummary, state: State, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run. ValueError if it cannot follow the run's."""
        run.state.to(state)
        return self._call("mark", run, state, loaded=loaded, refused=refused)

    def runs(self) -> list[RunSummary]:
        """All runs, latest first."""
        return self._call("runs")

    def run(self, name: str) -> StoredRun | None:
        """The run of a name."""
        return self._call("run", name)

    def forget(self, run: RunSummary) -> None:
        """Remove a run from the list, but not its samples."""
        self._call("forget", run)

    def claim(self, claim: Claim) -> None:
        """Write a claim."""
        self._call("claim", claim)

    def beat(self, claim: Claim) -> None:
        """Save that the holder of a claim is alive."""
        self._call("beat", claim)

    def claims(self, life_s: float) -> list[Claim]:
        """All claims."""
        return self._call("claims", life_s)

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        self._call("withdraw", holder)

    def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        body = messages.dumps([list(arguments), named])
        try:
            answer = self._pools.request("POST", f"{self._address}{PATH}/{method}", body=body, headers=self._headers)
        except (HTTPError, OSError) as error:
            raise Unreachable(
                f"{self._address}: does not answer ({last_cause(error)}); is plimsoll up running?"
            ) from None
        return self._result(answer)

    def _result(self, answer: urllib3.BaseHTTPResponse) -> Any:
        try:
            found = messages.loads(answer.data)
        except ValueError:
            found = None
        match answer.status, found:
            case HTTPStatus.OK, _ if found is not None:
                return found["result"]
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


def _parts(series: Sequence[_Item]) -> Iterator[list[_Item]]:
    """A list in parts, so that no answer gets too long."""
    for start in range(0, len(series), _SERIES_AT_ONCE):
        yield list(series[start : start + _SERIES_AT_ONCE])
