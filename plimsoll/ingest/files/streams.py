"""Readers of compressed files."""

import bz2
import gzip
import io
import lzma
import mmap
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, TypeAlias

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Data: TypeAlias = bytes | mmap.mmap
# The errors raised for damaged compressed streams and archives.
BROKEN = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, zipfile.BadZipFile, tarfile.TarError),
    *(RuntimeError, ValueError, OverflowError, IndexError),  # tarfile and zipfile, of damaged headers
)


class _Streams(io.BufferedIOBase):
    """Reads several compressed streams in one file, with zero bytes between and after them.

    Other bytes between streams raise an error in BROKEN; Python's own readers would stop there and lose rows silently.
    """

    def __init__(
        self, packed: IO[bytes], begin: Callable[[], bz2.BZ2Decompressor] | Callable[[], lzma.LZMADecompressor]
    ) -> None:
        self._packed = packed
        self._begin = begin
        self._stream = begin()

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most `size` unpacked bytes; an empty result means the end."""
        data = b""
        while not data:
            packed = b""
            if self._stream.eof:  # what follows the stream, except zero bytes
                packed = self._stream.unused_data or self._packed.read(io.DEFAULT_BUFFER_SIZE)
                while packed and not packed.strip(b"\0"):
                    packed = self._packed.read(io.DEFAULT_BUFFER_SIZE)
                packed = packed.lstrip(b"\0")
                if not packed:
                    break
                self._stream = self._begin()
            elif self._stream.needs_input:
                packed = self._packed.read(io.DEFAULT_BUFFER_SIZE)
                if not packed:
                    raise EOFError
            data = self._stream.decompress(packed, -1 if size is None else size)
        return data


UNPACKERS: dict[bytes, Callable[[IO[bytes]], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
    b"BZh": lambda packed: _Streams(packed, bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": lambda packed: _Streams(packed, lzma.LZMADecompressor),
    b"\x5d\x00\x00": lambda packed: _Streams(packed, lzma.LZMADecompressor),
}
