"""The endpoints to which Telegraf and other writers for InfluxDB 2 and 1 send line protocol."""

import re
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.receive.line_protocol.parse import PRECISIONS, V1_PRECISIONS, Parsed
from plimsoll.serve.request_body import Bodies, DamagedBody, Full, TooLarge, TooSlow, gunzip
from plimsoll.serve.responses import INFLUXDB, ask_to_retry, make_refusal
from plimsoll.serve.write_handler import NotTaken, WriteHandler
from plimsoll.store.protocol import WriteResult

# Possessive quantifiers: each character is examined only once, whatever is sent.
_CREATE = re.compile(r'\s*+CREATE\s++DATABASE\s++("(?:[^"\\]|\\.)*+"|\w++)[^;]*+;?\s*+', re.IGNORECASE)
_GZIP = ("gzip", "x-gzip")
_LONGEST_QUERY = 10_000


class WriteEndpoint:
    """Parses and writes line protocol; answers as InfluxDB does, after the samples are committed.

    Any organisation, bucket, database and retention policy is accepted, as there is only one store. If a body has
    invalid lines, its valid lines are written, as by InfluxDB 1 (InfluxDB 2 writes none).
    """

    def __init__(self, intake: WriteHandler, bodies: Bodies) -> None:
        self._intake = intake
        self._bodies = bodies
        self.routes = [
            Route("/api/v2/write", self.write, methods=["POST"]),
            Route("/write", self.write_v1, methods=["POST"]),
            Route("/query", self.query, methods=["GET", "POST"]),
        ]

    async def write(self, request: Request) -> Response:
        """Handle a write of InfluxDB 2."""
        parameters = request.query_params
        precision = parameters.get("precision") or "ns"
        if precision not in PRECISIONS:
            return make_refusal(
                HTTPStatus.BAD_REQUEST, "invalid precision; valid precision units are ns, us, ms, and s"
            )
        if not parameters.get("bucket"):
            return make_refusal(HTTPStatus.NOT_FOUND, "bucket not found")
        if not (parameters.get("org") or parameters.get("orgID")):
            return make_refusal(HTTPStatus.BAD_REQUEST, "Please provide either orgID or org")
        return await self._write(request, PRECISIONS[precision])

    async def write_v1(self, request: Request) -> Response:
        """Handle a write of InfluxDB 1."""
        precision = request.query_params.get("precision") or "ns"
        if precision not in V1_PRECISIONS:
            return make_refusal(HTTPStatus.BAD_REQUEST, f'invalid precision "{precision}" (use ns, us, ms, s, m or h)')
        if not request.query_params.get("db"):
            return make_refusal(HTTPStatus.BAD_REQUEST, "missing db")
        return await self._write(request, V1_PRECISIONS[precision])

    async def query(self, request: Request) -> Response:
        """Answer InfluxDB 1's query CREATE DATABASE, which some writers send first; refuse all other queries."""
        try:
            async with self._bodies.read(request, _LONGEST_QUERY) as body:
                sent = parse_qs(body.decode("utf-8", "replace")).get("q", [""])[0]
        except (TooLarge, TooSlow, Full):
            return make_refusal(HTTPStatus.BAD_REQUEST, "the query is too long, or did not arrive in time")
        query = request.query_params.get("q") or sent
        if not _CREATE.fullmatch(query):
            why = "not implemented: Plimsoll answers no queries of InfluxDB; see plimsoll review"
            return make_refusal(HTTPStatus.NOT_IMPLEMENTED, why)
        return JSONResponse({"results": [{"statement_id": 0}]}, headers=INFLUXDB)

    async def _write(self, request: Request, unit: int) -> Response:
        """Return the response to a write whose times are in units of `unit` ns."""
        encoding = request.headers.get("content-encoding", "identity").lower()
        if encoding not in (*_GZIP, "identity", ""):
            return make_refusal(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Encoding {encoding}: send gzip, or nothing"
            )

        def lines(body: bytearray, longest: int) -> bytes:
            if encoding in _GZIP:
                try:
                    return gunzip(body, longest)
                except DamagedBody as error:
                    raise NotTaken(HTTPStatus.BAD_REQUEST, f"unable to read data: {error}") from None
            if len(body) > longest:
                raise TooLarge
            return bytes(body)

        try:
            return _answer(*await self._intake.take(request, lines, unit))
        except NotTaken as error:
            if error.again_s:
                return ask_to_retry(error.why, error.again_s)
            closed = {"Connection": "close"} if error.status == HTTPStatus.REQUEST_TIMEOUT else {}
            return make_refusal(error.status, error.why, headers=closed)


def _answer(parsed: Parsed, result: WriteResult) -> Response:
    """Return the response to a write: 204 if all was stored, or an error with refused lines and reasons."""
    malformed, refused = parsed.malformed, parsed.refused
    reasons = [f"unable to parse '{text}': {reason} (line {number})" for number, text, reason in malformed.first]
    reasons += [f"{reason} (line {number})" for number, _, reason in refused.first]
    if reasons:
        kept = bool(parsed.text or len(parsed.points) or refused.count)
        message = _describe_partial_write(reasons, malformed.count + refused.count, kept=kept)
        line = (malformed.first or refused.first)[0][0]
        if malformed.count:
            return make_refusal(HTTPStatus.BAD_REQUEST, message, line=line)
        message = f"failure writing points to database: {message}"
        return make_refusal(HTTPStatus.UNPROCESSABLE_ENTITY, message, line=line)
    if result.refused:
        return make_refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"failure writing points to database: {result.why}")
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=INFLUXDB)


def _describe_partial_write(reasons: list[str], dropped: int, *, kept: bool) -> str:
    """Return the error message for a write of which `dropped` lines were refused.

    `reasons` are the reasons for the first of these lines; `kept` says whether any line was valid.
    """
    rest = [f"and {dropped - len(reasons)} more"] if dropped > len(reasons) else []
    text = "\n".join(reasons + rest)
    return f"partial write: {text} dropped={dropped}" if kept else text
