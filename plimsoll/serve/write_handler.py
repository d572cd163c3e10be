"""Writes samples that agents send: reads bodies within limits, parses them, and queues their samples."""

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TypeAlias
from weakref import WeakValueDictionary

from starlette.requests import Request

from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.receive.line_protocol.parse import Parsed, Parser, TooMany
from plimsoll.receive.write_queue import Busy, NotWritten, WriteQueue
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.listen import find_network
from plimsoll.serve.request_body import Bodies, Full, TooLarge, TooSlow
from plimsoll.store.protocol import WriteResult

_PARSERS = 2
_SHORT = 4 << 20  # agents send less at a time, and must not wait for longer bodies
_AGAIN_S = 5
# Returns the line protocol in a body, which may be uncompressed to this many bytes.
Lines: TypeAlias = Callable[[bytearray, int], bytes]


class NotTaken(Exception):
    """The error that a body is refused: the HTTP status, the reason, and the seconds for Retry-After (0: none)."""

    def __init__(self, status: HTTPStatus, why: str, again_s: int = 0) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.again_s = again_s


class WriteHandler:
    """Parses bodies and writes their samples.

    `initial_series` returns the series already in the store, which the limits on series never refuse.
    """

    def __init__(
        self,
        writing: WriteQueue,
        bodies: Bodies,
        limits: RequestLimits,
        initial_series: Callable[[], Iterable[Series]] = tuple,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.clock = clock
        self.limits = limits
        self.writing = writing
        self._bodies = bodies
        self._parser = Parser(limits.bounds, initial_series)
        self._pool = ThreadPoolExecutor(_PARSERS, "parser")
        self._long_ones = ThreadPoolExecutor(1, "long parser")
        # One writer's bodies are parsed in sequence, so that other writers always find a thread.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def close(self) -> None:
        """End the threads that parse bodies."""
        self._pool.shutdown()
        self._long_ones.shutdown()

    async def take(self, request: Request, lines: Lines, unit: int = 1) -> tuple[Parsed, WriteResult]:
        """Write the samples in a request's body. `lines` converts the body to line protocol; times are in `unit` ns.

        `lines` is called in another thread, with the body and the longest allowed result, and raises TooLarge if the
        result would be longer. Raise NotTaken if the body is refused; `lines` may raise it, too.
        """
        try:
            async with self._bodies.read(request, self.limits.body) as body:
                writer = find_network(request.client.host if request.client else "")
                async with self._turns.setdefault(writer, asyncio.Lock()):
                    parsed = await self._parse_body(body, lines, unit, writer)
            result = await asyncio.wrap_future(self.writing.put(parsed.points, writer))
        except (TooLarge, TooMany):
            raise NotTaken(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "unable to read data: points batch is too large; send smaller ones"
            ) from None
        except TooSlow:
            raise NotTaken(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time") from None
        except (Busy, Full):
            why = "more is sent than can be written at the moment; send it again later"
            raise NotTaken(HTTPStatus.SERVICE_UNAVAILABLE, why, _AGAIN_S) from None
        except NotWritten as error:
            raise NotTaken(HTTPStatus.SERVICE_UNAVAILABLE, f"nothing was stored: {error}", 2 * _AGAIN_S) from None
        faults = [*parsed.malformed.first, *parsed.refused.first]
        count = parsed.malformed.count + parsed.refused.count
        self.writing.left_out(parsed.text, count, faults[-1][2] if faults else "")
        return parsed, result

    async def _parse_body(self, body: bytearray, lines: Lines, unit: int, writer: str) -> Parsed:
        """Parse a body in a thread (a long body in another pool). Raise the errors of `lines` and the parser."""
        loop, longest = asyncio.get_running_loop(), self.limits.unpacked
        try:
            return await loop.run_in_executor(self._pool, self._parse, body, lines, unit, writer, min(_SHORT, longest))
        except TooLarge:
            return await loop.run_in_executor(self._long_ones, self._parse, body, lines, unit, writer, longest)

    def _parse(self, body: bytearray, lines: Lines, unit: int, writer: str, longest: int) -> Parsed:
        plain = lines(body, longest)
        now, limits = self.clock(), self.limits
        first, last = now - int(limits.past_s * SECOND), now + int(limits.future_s * SECOND)
        return self._parser.parse(plain, unit=unit, now=now, first=first, last=last, writer=writer)
