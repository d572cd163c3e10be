"""Reads and unpacks the bodies of requests within limits."""

import asyncio
import time
import zlib
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import cramjam
from starlette.requests import ClientDisconnect, Request

from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.listen import find_network

_GZIP = 31
_STEP = 1 << 20
_READ_ON = 4
_PIECE = 64 << 10
_MOST_MEMBERS = 1000  # writers send one, and log collectors one for each flush
_RATIO = 200  # line protocol shrinks to a twentieth; what does not change at all, to a thousandth


class TooLarge(Exception):
    """The error that a body is longer than allowed, compressed or uncompressed."""


class TooSlow(Exception):
    """The error that a body did not arrive in time, or that the client closed the connection meanwhile."""


class Full(Exception):
    """The error that bodies already use all memory allowed for all requests, or for the requests of one address."""


class DamagedBody(Exception):
    """The error that a body cannot be uncompressed; the message for gzip is the same as InfluxDB's."""


async def stream_body(request: Request, whole_s: float, pause_s: float) -> AsyncGenerator[bytes]:
    """Yield chunks of a body as they arrive. Raise TooSlow if that takes too long, or the client disconnects."""
    until = time.monotonic() + whole_s
    chunks = aiter(request.stream())
    try:
        while chunk := await asyncio.wait_for(anext(chunks, b""), min(pause_s, until - time.monotonic())):
            yield chunk
    except (TimeoutError, ClientDisconnect) as error:
        raise TooSlow from error


class Bodies:
    """The memory in use for bodies of requests, per client address and in all."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._in_use: Counter[str] = Counter()  # bytes, by address, so that slow senders leave room for others

    @asynccontextmanager
    async def read(self, request: Request, longest: int) -> AsyncGenerator[bytearray]:
        """Yield the body of a request, still compressed; it counts as memory in use until the block ends.

        Raise TooLarge, TooSlow or Full.
        """
        body = bytearray()
        sender = find_network(request.client.host if request.client else "")
        try:
            await self._receive(request, longest, body, sender)
            yield body
        finally:
            self._in_use[sender] -= len(body)
            if not self._in_use[sender]:
                del self._in_use[sender]

    async def _receive(self, request: Request, longest: int, body: bytearray, sender: str) -> None:
        """Read a body into `body`.

        The rest of a too long body is read and dropped, as many clients read the response only after sending all.
        """
        length, limits = 0, self._limits
        async for chunk in stream_body(request, limits.body_s, limits.pause_s):
            length += len(chunk)
            if length > _READ_ON * longest:
                break
            if length > longest:
                self._in_use[sender] -= len(body)
                body.clear()
                continue
            self._in_use[sender] += len(chunk)
            body += chunk
            if self._in_use[sender] > limits.address_memory or self._in_use.total() > limits.memory:
                raise Full
        if length > longest:
            raise TooLarge


def gunzip(body: bytes | bytearray, longest: int) -> bytes:
    """Return the uncompressed content of a gzip body. Raise DamagedBody if the body is invalid.

    Raise TooLarge if the content is too long, or has more members or a higher compression ratio than writers produce.
    """
    if not body:
        raise DamagedBody("EOF")
    longest = min(longest, max(_RATIO * len(body), _STEP))
    unpacked: list[bytes] = []
    length = members = 0
    unpacker = None
    with memoryview(body) as packed:
        for start in range(0, len(packed), _PIECE):
            piece = bytes(packed[start : start + _PIECE])
            while piece:
                if unpacker is None:
                    unpacker, members = zlib.decompressobj(_GZIP), members + 1
                try:
                    part = unpacker.decompress(piece, min(_STEP, longest - length + 1))
                except zlib.error as error:
                    raise DamagedBody(_explain_error(error)) from None
                length += len(part)
                if length > longest or members > _MOST_MEMBERS:
                    raise TooLarge
                unpacked.append(part)
                piece = unpacker.unconsumed_tail
                if unpacker.eof:
                    piece, unpacker = unpacker.unused_data, None
    if unpacker is not None:
        raise DamagedBody("unexpected EOF")
    return b"".join(unpacked)


def _explain_error(error: zlib.error) -> str:
    text = str(error)
    if "data check" in text or "length check" in text:
        return "gzip: invalid checksum"
    return "gzip: invalid header" if "header check" in text else "gzip: invalid data"


def unpack_snappy(packed: bytes, longest: int) -> bytes:
    """Return the uncompressed content of a snappy block. Raise DamagedBody if invalid, TooLarge if too long."""
    try:
        if cramjam.snappy.decompress_raw_len(packed) > longest:
            raise TooLarge
        return bytes(cramjam.snappy.decompress_raw(packed))
    except cramjam.DecompressionError as error:
        raise DamagedBody(str(error)) from None
