"""The bytes of a file as a stream, and the streams of compressed ones."""

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
from typing import IO, TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Data: TypeAlias = bytes | mmap.mmap
# What reading compressed streams and archives that are damaged raises.
BROKEN = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, zipfile.BadZipFile, tarfile.TarError),
    *(RuntimeError, ValueError, OverflowError, IndexError),  # tarfile and zipfile, of damaged headers
)


class _Mapped(io.RawIOBase):
    """A mapped file to read from, of which no copy is made."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place in the file."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._data)}[whence]
        if start + offset < 0:
            raise OSError("a place before the beginning of the file")  # as zipfile expects it
        self._at = start + offset
        return self._at

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read as much as fits into the buffer and is there."""
        with memoryview(buffer) as view:
            block = self._data[self._at : self._at + len(view)]
            view[: len(block)] = block
        self._at += len(block)
        return len(block)


def reader(data: Data) -> IO[bytes]:
    """Return the bytes as a file to read from."""
    return io.BytesIO(data) if isinstance(data, bytes) else io.BufferedReader(_Mapped(data))


class _Streams(io.BufferedIOBase):
    """Compressed streams one after the other, with zero bytes between and after them.

    Reading raises one of _BROKEN if anything else follows. Python's own files take that for the end, and rows would be
    lost without a word.
    """

    def __init__(
        self, packed: IO[bytes], begin: Callable[[], bz2.BZ2Decompressor] | Callable[[], lzma.LZMADecompressor]
    ) -> None:
        self._packed = packed
        self._begin = begin
        self._stream = begin()

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most so many bytes; none only at the end."""
        data = b""
        while not data:
            packed = b""
            if self._stream.eof:
                packed = self._following()
                if not packed:
                    break
                self._stream = self._begin()
            elif self._stream.needs_input:
                packed = self._packed.read(io.DEFAULT_BUFFER_SIZE)
                if not packed:
                    raise EOFError
            data = self._stream.decompress(packed, -1 if size is None else size)
        return data

    def _following(self) -> bytes:
        """Return what follows the end of a stream and its zero bytes."""
        packed = self._stream.unused_data or self._packed.read(io.DEFAULT_BUFFER_SIZE)
        while packed and not packed.strip(b"\0"):
            packed = self._packed.read(io.DEFAULT_BUFFER_SIZE)
        return packed.lstrip(b"\0")


UNPACKERS: dict[bytes, Callable[[IO[bytes]], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
    b"BZh": lambda packed: _Streams(packed, bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": lambda packed: _Streams(packed, lzma.LZMADecompressor),
    b"\x5d\x00\x00": lambda packed: _Streams(packed, lzma.LZMADecompressor),
}
