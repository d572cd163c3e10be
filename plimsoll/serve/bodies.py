"""Reads and unpacks the bodies of requests within limits."""

import asyncio
import time
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from plimsoll.serve.limits import Limits

_GZIP = 31
_STEP = 1 << 20
_READ_ON = 4


class TooLarge(Exception):
    """A body is longer than allowed, as it was sent or unpacked."""


class TooSlow(Exception):
    """A body did not arrive in time, or its sender went away."""


class Full(Exception):
    """The bodies of other requests take all the room there is."""


class NotGzip(Exception):
    """A body is no valid gzip; the text is the reason, worded as InfluxDB's."""


async def parts(request: Request, whole_s: float, pause_s: float) -> AsyncGenerator[bytes]:
    """The parts of a body as they arrive. TooSlow if that takes longer than allowed, or the sender goes away."""
    until = time.monotonic() + whole_s
    chunks = aiter(request.stream())
    try:
        while chunk := await asyncio.wait_for(anext(chunks, b""), min(pause_s, until - time.monotonic())):
            yield chunk
    except (TimeoutError, ClientDisconnect) as error:
        raise TooSlow from error


class Bodies:
    """The bodies of all requests that are being read or handled."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = 0

    @asynccontextmanager
    async def read(self, request: Request, longest: int) -> AsyncGenerator[bytearray]:
        """The body of a request, as it was sent. It counts as held until the block ends.

        Raises TooLarge, TooSlow or Full.
        """
        body = bytearray()
        try:
            await self._receive(request, longest, body)
            yield body
        finally:
            self._held -= len(body)

    async def _receive(self, request: Request, longest: int, body: bytearray) -> None:
        """Read a body. One that is too long is read on for a while: many clients look for an answer only at its end."""
        length = 0
        async for chunk in parts(request, self._limits.body_s, self._limits.pause_s):
            length += len(chunk)
            if length > _READ_ON * longest:
                break
            if length > longest:
                self._held -= len(body)
                body.clear()
                continue
            if self._held + len(chunk) > self._limits.held:
                raise Full
            self._held += len(chunk)
            body += chunk
        if length > longest:
            raise TooLarge


def unpack(body: bytes | bytearray, longest: int) -> bytes:
    """The content of gzip, of one part or more. NotGzip if it is not valid, TooLarge if it is too long."""
    parts: list[bytes] = []
    left = longest
    if not body:
        raise NotGzip("EOF")
    while body:
        unpacker = zlib.decompressobj(_GZIP)
        while not unpacker.eof:
            try:
                part = unpacker.decompress(body, min(_STEP, left + 1))
            except zlib.error as error:
                raise NotGzip(_reason(error)) from None
            body = unpacker.unconsumed_tail
            left -= len(part)
            if left < 0:
                raise TooLarge
            if not part and not body and not unpacker.eof:
                raise NotGzip("unexpected EOF")
            parts.append(part)
        body = unpacker.unused_data
    return b"".join(parts)


def _reason(error: zlib.error) -> str:
    text = str(error)
    if "data check" in text or "length check" in text:
        return "gzip: invalid checksum"
    return "gzip: invalid header" if "header check" in text else "gzip: invalid data"
