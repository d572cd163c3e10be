"""The endpoint that Telegraf and other writers of InfluxDB 2 and 1 send line protocol to."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from urllib.parse import parse_qs
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.model.series import Series
from plimsoll.receive.line_protocol.parse import PRECISIONS, V1_PRECISIONS, Parsed, Parser, TooMany
from plimsoll.receive.writing import Busy, NotWritten, Writing
from plimsoll.serve.answers import INFLUXDB, later, refusal
from plimsoll.serve.bodies import Bodies, Full, NotGzip, TooLarge, TooSlow, unpack
from plimsoll.serve.limits import Limits
from plimsoll.serve.throttle import network_of
from plimsoll.store.protocol import WriteResult

_PARSERS = 2
_SHORT = 4 << 20  # agents send less at a time: they do not wait for those who send more
_AGAIN_S = 5
# Possessive: whatever is sent, each character is looked at once.
_CREATE = re.compile(r'\s*+CREATE\s++DATABASE\s++("(?:[^"\\]|\\.)*+"|\w++)[^;]*+;?\s*+', re.IGNORECASE)
_GZIP = ("gzip", "x-gzip")
_LONGEST_QUERY = 10_000
_SECOND = 1_000_000_000


class WriteEndpoint:
    """Parses what is sent, has it written, and answers as InfluxDB does when it is committed.

    Any organisation, bucket, database and retention policy is accepted: there is one store. Unlike InfluxDB 2, and as
    InfluxDB 1, it keeps the good lines of a body with bad ones. `known` gives the series that are always
    taken.
    """

    def __init__(
        self,
        writing: Writing,
        bodies: Bodies,
        limits: Limits,
        known: Callable[[], Iterable[Series]] = tuple,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._writing = writing
        self._bodies = bodies
        self._limits = limits
        self._clock = clock
        self._parser = Parser(limits.bounds, known)
        self._pool = ThreadPoolExecutor(_PARSERS, "parser")
        self._long_ones = ThreadPoolExecutor(1, "long parser")
        # A writer's bodies are parsed one after another, so that there is always a thread for the others.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.routes = [
            Route("/api/v2/write", self.write, methods=["POST"]),
            Route("/write", self.write_v1, methods=["POST"]),
            Route("/query", self.query, methods=["GET", "POST"]),
        ]

    def close(self) -> None:
        """End the threads that parse."""
        self._pool.shutdown()
        self._long_ones.shutdown()

    async def write(self, request: Request) -> Response:
        """InfluxDB 2's write."""
        asked = request.query_params
        precision = asked.get("precision") or "ns"
        if precision not in PRECISIONS:
            return refusal(HTTPStatus.BAD_REQUEST, "invalid precision; valid precision units are ns, us, ms, and s")
        if not asked.get("bucket"):
            return refusal(HTTPStatus.NOT_FOUND, "bucket not found")
        if not (asked.get("org") or asked.get("orgID")):
            return refusal(HTTPStatus.BAD_REQUEST, "Please provide either orgID or org")
        return await self._write(request, PRECISIONS[precision])

    async def write_v1(self, request: Request) -> Response:
        """InfluxDB 1's write."""
        asked = request.query_params
        precision = asked.get("precision") or "ns"
        if precision not in V1_PRECISIONS:
            return refusal(HTTPStatus.BAD_REQUEST, f'invalid precision "{precision}" (use ns, us, ms, s, m or h)')
        if not asked.get("db"):
            return refusal(HTTPStatus.BAD_REQUEST, "missing db")
        return await self._write(request, V1_PRECISIONS[precision])

    async def query(self, request: Request) -> Response:
        """InfluxDB 1's query, which some writers create their database with. Nothing else is answered."""
        try:
            async with self._bodies.read(request, _LONGEST_QUERY) as body:
                sent = parse_qs(body.decode("utf-8", "replace")).get("q", [""])[0]
        except (TooLarge, TooSlow, Full):
            return refusal(HTTPStatus.BAD_REQUEST, "the query is too long, or did not arrive in time")
        query = request.query_params.get("q") or sent
        if not _CREATE.fullmatch(query):
            why = "not implemented: Plimsoll answers no queries of InfluxDB; see plimsoll review"
            return refusal(HTTPStatus.NOT_IMPLEMENTED, why)
        return Response(
            json.dumps({"results": [{"statement_id": 0}]}) + "\n", headers=INFLUXDB, media_type="application/json"
        )

    async def _write(self, request: Request, unit: int) -> Response:
        encoding = request.headers.get("content-encoding", "identity").lower()
        if encoding not in (*_GZIP, "identity", ""):
            return refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Encoding {encoding}: send gzip, or nothing")
        try:
            async with self._bodies.read(request, self._limits.body) as body:
                writer = network_of(request.client.host if request.client else "")
                async with self._turns.setdefault(writer, asyncio.Lock()):
                    parsed = await self._parsed(body, encoding in _GZIP, unit, writer)
            result = await asyncio.wrap_future(self._writing.put(parsed.points, writer))
        except NotGzip as error:
            return refusal(HTTPStatus.BAD_REQUEST, f"unable to read data: {error}")
        except (TooLarge, TooMany):
            return refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "unable to read data: points batch is too large; send smaller ones"
            )
        except TooSlow:
            return refusal(
                HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time", headers={"Connection": "close"}
            )
        except (Busy, Full):
            return later("more is sent than can be written at the moment; send it again later", _AGAIN_S)
        except NotWritten as error:
            return later(f"nothing was stored: {error}", 2 * _AGAIN_S)
        self._count(parsed)
        return _answer(parsed, result)

    def _count(self, parsed: Parsed) -> None:
        faults = [*parsed.malformed.first, *parsed.refused.first]
        lines = parsed.malformed.count + parsed.refused.count
        self._writing.left_out(parsed.text, lines, faults[-1][2] if faults else "")

    async def _parsed(self, body: bytearray, packed: bool, unit: int, writer: str) -> Parsed:
        """A body, parsed in a thread; a long one in that for long ones. Raises what `unpack` and the parser raise."""
        loop, longest = asyncio.get_running_loop(), self._limits.unpacked
        try:
            return await loop.run_in_executor(self._pool, self._parse, body, packed, unit, writer, min(_SHORT, longest))
        except TooLarge:
            return await loop.run_in_executor(self._long_ones, self._parse, body, packed, unit, writer, longest)

    def _parse(self, body: bytearray, packed: bool, unit: int, writer: str, longest: int) -> Parsed:
        if not packed and len(body) > longest:
            raise TooLarge
        plain = unpack(body, longest) if packed else bytes(body)
        now, limits = self._clock(), self._limits
        first, last = now - int(limits.past_s * _SECOND), now + int(limits.future_s * _SECOND)
        return self._parser.parse(plain, unit=unit, now=now, first=first, last=last, writer=writer)


def _answer(parsed: Parsed, result: WriteResult) -> Response:
    malformed, refused, kept = parsed.malformed, parsed.refused, bool(parsed.text or len(parsed.points))
    if malformed.count:
        reasons = [f"unable to parse '{text}': {reason} (line {number})" for number, text, reason in malformed.first]
        message = _partial(reasons, malformed.count + refused.count, kept=kept or bool(refused.count))
        return refusal(HTTPStatus.BAD_REQUEST, message, line=malformed.first[0][0])
    if refused.count:
        reasons = [f"{reason} (line {number})" for number, _, reason in refused.first]
        message = _partial(reasons, refused.count, kept=True)
        return refusal(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"failure writing points to database: {message}",
            line=refused.first[0][0],
        )
    if result.refused:
        return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"failure writing points to database: {result.why}")
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=INFLUXDB)


def _partial(reasons: list[str], dropped: int, *, kept: bool) -> str:
    """The message on lines that were left out, some of which have a reason here."""
    more = [f"and {dropped - len(reasons)} more"] if dropped > len(reasons) else []
    text = "\n".join(reasons + more)
    return f"partial write: {text} dropped={dropped}" if kept else text
