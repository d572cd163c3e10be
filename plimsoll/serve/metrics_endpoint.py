"""The endpoints for metrics: remote write (Prometheus, Grafana Alloy) and OTLP (OpenTelemetry)."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.model.lazy_imports import import_later
from plimsoll.receive.exporters.translate import AcceptedMetrics, NotMetrics, TooManySamples, Translator
from plimsoll.receive.line_protocol.parse import Parsed
from plimsoll.serve.request_body import DamagedBody, TooLarge, gunzip, unpack_snappy
from plimsoll.serve.responses import ask_to_retry, make_refusal
from plimsoll.serve.write_handler import NotTaken, WriteHandler
from plimsoll.store.protocol import WriteResult

_PROTOBUF, _JSON = "application/x-protobuf", "application/json"
_MOST_UNPACKED = 16 << 20  # which takes up to 35 times its size of memory; writers send less than 8 MB at a time
_MOST_JSON = 8 << 20  # which takes thirty times its size of memory
_NO_HOST = (
    "no host: nothing says which host samples are of; add the label host (or instance), or the resource attribute "
    "host.name (the processor resourcedetection)"
)
_DELTAS = "sums are sent as deltas, which are left out; send them cumulative (the processor deltatocumulative)"
_NO_ROOM = "too many series; raise limits.series in up.toml if they are yours"
# Returns the metrics in a body, which may be uncompressed to this many bytes.
Read: TypeAlias = Callable[[bytearray, int], AcceptedMetrics]

if TYPE_CHECKING:
    from plimsoll.receive.exporters import otlp, remote_write
else:  # not imported until somebody sends such metrics, as protobuf takes 5 MB
    names = "plimsoll.receive.exporters.otlp", "plimsoll.receive.exporters.remote_write"
    otlp, remote_write = map(import_later, names)


class MetricsEndpoint:
    """Accepts metrics of exporters under Telegraf's names, and leaves out metrics that nothing uses."""

    def __init__(self, intake: WriteHandler, translator: Translator) -> None:
        self._intake = intake
        self._translator = translator
        self.routes = [
            Route("/api/v1/write", self.remote_write, methods=["POST"]),
            Route("/v1/metrics", self.otlp, methods=["POST"]),
        ]

    async def remote_write(self, request: Request) -> Response:
        """Handle a request of Prometheus' remote write."""
        kind, _, protocol = request.headers.get("content-type", _PROTOBUF).partition(";")
        protocol = protocol.partition("=")[2].strip().strip('"') or remote_write.V1
        encoding = request.headers.get("content-encoding", "snappy").lower()
        if kind.strip() != _PROTOBUF or encoding != "snappy" or protocol not in (remote_write.V1, remote_write.V2):
            why = f"send {_PROTOBUF} of {remote_write.V1} or {remote_write.V2}, packed with snappy"
            return make_refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why)

        def read(body: bytearray, longest: int) -> AcceptedMetrics:
            message = unpack_snappy(bytes(body), longest)
            now = self._intake.clock()
            return remote_write.read(message, self._translator, version=protocol, now=now)

        try:
            taken, why = await self._take(request, read)
        except NotTaken as error:
            return ask_to_retry(error.why, error.again_s) if error.again_s else make_refusal(error.status, error.why)
        written = {
            "X-Prometheus-Remote-Write-Samples-Written": str(taken.samples - taken.refused - taken.nameless),
            "X-Prometheus-Remote-Write-Histograms-Written": "0",
            "X-Prometheus-Remote-Write-Exemplars-Written": "0",
        }
        if why:
            return make_refusal(HTTPStatus.BAD_REQUEST, f"partial write: {why}", headers=written)
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=written)

    async def otlp(self, request: Request) -> Response:
        """Handle a request of OTLP."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        encoding = request.headers.get("content-encoding", "identity").lower()
        if kind not in (_PROTOBUF, _JSON) or encoding not in ("gzip", "identity", ""):
            why = f"send {_PROTOBUF} or {_JSON}, packed with gzip or not at all"
            return make_refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why)
        is_json = kind == _JSON

        def read(body: bytearray, longest: int) -> AcceptedMetrics:
            longest = min(longest, _MOST_JSON) if is_json else longest
            if encoding != "gzip" and len(body) > longest:
                raise TooLarge
            message = gunzip(body, longest) if encoding == "gzip" else bytes(body)
            return otlp.read(message, self._translator, is_json=is_json, now=self._intake.clock())

        try:
            taken, why = await self._take(request, read)
        except NotTaken as error:
            headers = {"Retry-After": str(error.again_s)} if error.again_s else {}
            body = json.dumps({"message": error.why}).encode() if is_json else otlp.encode_error(error.why)
            return Response(body, error.status, headers, kind)
        rejected = taken.refused + taken.nameless + taken.deltas
        return Response(otlp.encode_response(rejected, why, is_json=is_json), media_type=kind)

    async def _take(self, request: Request, read: Read) -> tuple[AcceptedMetrics, str]:
        """Return the accepted metrics, and why some metrics were not stored (empty if all were).

        Raise NotTaken if the body is refused as a whole.
        """
        accepted: list[AcceptedMetrics] = []

        def lines(body: bytearray, longest: int) -> bytes:
            try:
                taken = read(body, min(longest, _MOST_UNPACKED))
            except (NotMetrics, DamagedBody) as error:
                raise NotTaken(HTTPStatus.BAD_REQUEST, f"unable to read data: {error}") from None
            except TooManySamples:
                raise NotTaken(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too many samples; send smaller batches") from None
            accepted.append(taken)
            return taken.lines

        parsed, result = await self._intake.take(request, lines)
        self._intake.writing.unread(accepted[0].unread, accepted[0].names)
        return accepted[0], _explain_refusal(accepted[0], parsed, result)


def _explain_refusal(taken: AcceptedMetrics, parsed: Parsed, result: WriteResult) -> str:
    faults = [*parsed.malformed.first, *parsed.refused.first]
    if faults:
        return faults[0][2]
    if taken.refused:
        return _NO_ROOM
    if taken.nameless:
        return _NO_HOST
    if taken.deltas:
        return _DELTAS
    return result.why if result.refused else ""
