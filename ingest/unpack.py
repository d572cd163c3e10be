"""Compressed logs and archives: what comes out of them."""

import bz2
import gzip
import io
import lzma
import mmap
import re
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TypeAlias

from ingest.office import of_office
from model.errors import Unusable, printable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_BLOCK = 1 << 20
_DEEPEST = 4  # how many times over a log may be packed
_ALTOGETHER = 16  # what all logs in a file may unpack to, as a multiple of what one may
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_END_OF_TAR = bytes(1024)
_ENCRYPTED = 1
_BROKEN = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, zipfile.BadZipFile, tarfile.TarError),
    *(RuntimeError, ValueError, OverflowError, IndexError),  # tarfile and zipfile, of damaged headers
)
# Files that a Macintosh adds to an archive.
_OF_A_MAC = re.compile(r"__MACOSX/|(.*/)?(\._|\.DS_Store$)")

Data: TypeAlias = bytes | mmap.mmap

# The name of a file in an archive, and what opens it.
_Entry: TypeAlias = tuple[str, Callable[[], IO[bytes]]]


@dataclass(frozen=True)
class Content:
    """The bytes of one log.

    `name` is shown to people: the path, with the member of an archive. `member` is whether the archive has others, too,
    and `refused` why this one could not be unpacked. `sha256` is that of the named file if it cannot be read again.
    """

    name: str
    path: Path
    data: Data
    member: bool = False
    sha256: str | None = None
    refused: Unusable | None = None


class TooMuch(Exception):
    """A stream is longer than it may be."""


@dataclass
class _Room:
    """How many bytes one log may unpack to, and how many are left for all in the file."""

    most: int
    left: int


def unpacked(content: Content, most: int) -> Iterator[Content]:
    """The logs in bytes that may be packed. Unusable if one cannot be unpacked, or is larger than `most` bytes."""
    return _inside(content, _Room(most, most * _ALTOGETHER), 0)


def read_all(stream: IO[bytes] | io.BufferedIOBase, most: int) -> bytes:
    """All bytes of a stream. TooMuch if there are more than `most`."""
    blocks: list[bytes] = []
    size = 0
    while block := stream.read(_BLOCK):
        size += len(block)
        if size > most:
            raise TooMuch
        blocks.append(block)
    return b"".join(blocks)


def gigabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 2**30:.3g} GB"


class _Streams(io.BufferedIOBase):
    """Compressed streams one after the other, with zero bytes between and after them.

    Reading raises one of _BROKEN if anything else follows. Python's own files take that for the end, and rows would be
    lost without a word.
    """

    def __init__(
        self, packed: io.BytesIO, begin: Callable[[], bz2.BZ2Decompressor] | Callable[[], lzma.LZMADecompressor]
    ) -> None:
        self._packed = packed
        self._begin = begin
        self._stream = begin()

    def read(self, size: int | None = -1, /) -> bytes:
        """At most so many bytes; none only at the end."""
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
        """What follows the end of a stream and its zero bytes."""
        packed = self._stream.unused_data or self._packed.read(io.DEFAULT_BUFFER_SIZE)
        while packed and not packed.strip(b"\0"):
            packed = self._packed.read(io.DEFAULT_BUFFER_SIZE)
        return packed.lstrip(b"\0")


_UNPACKERS: dict[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
    b"BZh": lambda packed: _Streams(packed, bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": lambda packed: _Streams(packed, lzma.LZMADecompressor),
    b"\x5d\x00\x00": lambda packed: _Streams(packed, lzma.LZMADecompressor),
}


def _inside(content: Content, room: _Room, depth: int) -> Iterator[Content]:
    head = content.data[:6]
    unpacker = next((unpacker for sign, unpacker in _UNPACKERS.items() if head.startswith(sign)), None)
    kind = None if unpacker else _archive(content.data)
    if unpacker is None and kind is None:
        yield content
    elif depth == _DEEPEST:
        raise Unusable(f"{content.name}: is packed more than {_DEEPEST} times over; unpack it yourself")
    elif unpacker:
        with unpacker(io.BytesIO(content.data[:])) as stream:
            data = _limited(content.name, stream, room)
        yield from _inside(replace(content, data=data), room, depth + 1)
    else:
        yield from _members(content, kind or "", room, depth + 1)


def _archive(data: Data) -> str | None:
    """The kind of archive that bytes are, if they are one."""
    if data[:4] in _ZIP:
        return "ZIP"
    if data[257:262] == b"ustar":
        return "TAR"
    try:  # old ones have no sign but the sum of their header
        tarfile.TarInfo.frombuf(data[:512], "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None
    return "TAR"


def _members(archive: Content, kind: str, room: _Room, depth: int) -> Iterator[Content]:
    name = archive.name
    try:
        entries = _entries_of_zip(archive.data[:]) if kind == "ZIP" else _entries_of_tar(archive.data[:])
    except _BROKEN as error:
        raise Unusable(f"{name}: is a damaged {kind} archive ({error}); make it again") from None
    if any(inner in ("[Content_Types].xml", "mimetype") for inner, _ in entries):
        texts = [(inner, opener) for inner, opener in entries if inner == "mimetype" or inner.endswith(".xml")]
        raise of_office(name, ((inner, _member(name, opener, room)) for inner, opener in texts))
    entries = [(inner, opener) for inner, opener in entries if not _OF_A_MAC.match(inner)]
    if not entries:
        raise Unusable(f"{name}: is a {kind} archive with no file in it")
    several = archive.member or len(entries) > 1
    for within, opener in entries:
        called = str(Path(f"{name}/{printable(within)}"))  # as readers' messages spell it, without a ./
        inner = replace(archive, name=called, data=b"", member=several)
        try:
            yield from _inside(replace(inner, data=_member(inner.name, opener, room)), room, depth)
        except Unusable as error:
            if not several:
                raise
            yield replace(inner, refused=error)
    if kind == "TAR" and archive.data[-len(_END_OF_TAR) :] != _END_OF_TAR:
        said = f"{name}: the archive breaks off before its end, so that files may be missing; copy or make it again"
        yield replace(archive, data=b"", member=True, refused=Unusable(said))


def _member(name: str, opener: Callable[[], IO[bytes]], room: _Room) -> bytes:
    try:
        with opener() as stream:
            return _limited(name, stream, room)
    except _BROKEN as error:
        raise Unusable(f"{name}: cannot be unpacked ({error}); unpack the archive yourself") from None


def _entries_of_zip(data: bytes) -> list[_Entry]:
    archive = zipfile.ZipFile(io.BytesIO(data))
    return [
        (entry.filename, partial(_member_of_zip, archive, entry))
        for entry in archive.infolist()
        if not entry.filename.endswith(("/", "\\"))  # folders; Windows' own end in a backslash
    ]


def _member_of_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    if entry.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile("the archive is encrypted")
    return archive.open(entry)


def _entries_of_tar(data: bytes) -> list[_Entry]:
    archive = tarfile.TarFile(fileobj=io.BytesIO(data))
    entries = archive.getmembers()
    if data[archive.offset :].strip(b"\0"):  # tarfile takes the first header that it cannot read for the end
        raise tarfile.ReadError("more follows the last file that can be told")
    return [(entry.name, partial(_member_of_tar, archive, entry)) for entry in entries if entry.isfile()]


def _member_of_tar(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    return archive.extractfile(entry) or io.BytesIO()


def _limited(name: str, stream: IO[bytes] | io.BufferedIOBase, room: _Room) -> bytes:
    most = min(room.most, room.left)
    try:
        data = read_all(stream, most)
    except TooMuch:
        raise Unusable(f"{name}: unpacks to more than {gigabytes(most)}; unpack it yourself to read it") from None
    except _BROKEN as error:
        raise Unusable(f"{name}: is damaged: {error or 'it ends too soon'}; copy or compress it again") from None
    room.left -= len(data)
    return data
