"""What is in the files that were named: plain logs, compressed ones, archives of several, standard input."""

import bz2
import gzip
import hashlib
import io
import lzma
import mmap
import re
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TypeAlias

from model.errors import Unusable, printable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STDIN = Path("-")
MOST_BYTES = 4 << 30
_PIECE = 1 << 20
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED = 1
# The last three come out of tarfile and zipfile where a header holds what is no number, or an empty name.
_BROKEN = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zstd.ZstdError,
    zipfile.BadZipFile,
    tarfile.TarError,
    RuntimeError,
    ValueError,
    OverflowError,
    IndexError,
)
# What a Macintosh puts beside the files of an archive.
_BESIDE = re.compile(r"__MACOSX/|(.*/)?(\._|\.DS_Store$)")


_UNPACKERS: dict[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


# The name of a file in an archive, and what opens it.
_Entry: TypeAlias = tuple[str, Callable[[], IO[bytes]]]


@dataclass(frozen=True)
class Content:
    """The bytes of one log.

    `name` is what people call it: the path, with the member where the file is an archive. `data` is
    the file mapped into memory (`as_it_stands`), or what it unpacks to. `sha256` is that of the file
    as named where it cannot be read a second time.
    """

    name: str
    path: Path
    data: bytes | mmap.mmap
    as_it_stands: bool = False
    member: bool = False
    sha256: str | None = None


@contextmanager
def opened(path: Path, most: int = MOST_BYTES) -> Generator[Iterator[Content]]:
    """The logs in a file, one after the other; a file maps as long as the context lasts.

    Unusable if it cannot be read, or unpacks to more than `most` bytes.
    """
    with ExitStack() as stack:
        yield _contents(path, most, stack)


def _contents(path: Path, most: int, stack: ExitStack) -> Iterator[Content]:
    if path == STDIN:
        if sys.stdin is None:  # where the caller closed it
            raise Unusable("standard input: is closed; name a file")
        data = sys.stdin.buffer.read()
        name, sha256 = "standard input", hashlib.sha256(data).hexdigest()
    else:
        name, data, sha256 = str(path), _file(path, stack), None
        if isinstance(data, bytes):
            sha256 = hashlib.sha256(data).hexdigest()
    if data[:4] in _ZIP:
        yield from _members(path, name, data, most, sha256)
        return
    unpacked = _unpacked(name, data, most)
    content = data if unpacked is None else unpacked
    if content[257:262] == b"ustar":
        yield from _members(path, name, content, most, sha256)
        return
    yield Content(name, path, content, unpacked is None and sha256 is None, sha256=sha256)


def _file(path: Path, stack: ExitStack) -> bytes | mmap.mmap:
    """A file mapped into memory, or what comes out of a pipe."""
    try:
        file = stack.enter_context(path.open("rb"))
        if not path.stat().st_size or not path.is_file():
            return file.read()
        return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except IsADirectoryError:
        raise Unusable(f"{path}: is a folder; name the logs in it") from None
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None


def _unpacked(name: str, data: bytes | mmap.mmap, most: int) -> bytes | None:
    """What compressed bytes unpack to, or None where they are not compressed."""
    head = data[:6]
    for sign, unpacker in _UNPACKERS.items():
        if head.startswith(sign):
            with unpacker(io.BytesIO(data[:])) as stream:
                return _limited(name, stream, most)
    return None


def _members(path: Path, name: str, data: bytes | mmap.mmap, most: int, sha256: str | None) -> Iterator[Content]:
    kind = "ZIP" if data[:4] in _ZIP else "TAR"
    try:
        entries = _entries_of_zip(data[:]) if kind == "ZIP" else _entries_of_tar(data[:])
    except _BROKEN as error:
        raise Unusable(f"{name}: is a damaged {kind} archive ({error}); make it again") from None
    if any(inner in ("[Content_Types].xml", "mimetype") for inner, _ in entries):
        raise Unusable(f"{name}: is a spreadsheet or document; export the log as CSV with relog")
    entries = [(inner, opener) for inner, opener in entries if not _BESIDE.match(inner)]
    if not entries:
        raise Unusable(f"{name}: is a {kind} archive with no file in it")
    for within, opener in entries:
        inner = f"{name}/{printable(within)}"
        try:
            with opener() as stream:
                unpacked = _limited(inner, stream, most)
        except _BROKEN as error:
            raise Unusable(f"{inner}: cannot be unpacked ({error}); unpack the archive yourself") from None
        again = _unpacked(inner, unpacked, most)
        content = unpacked if again is None else again
        yield Content(inner, path, content, member=len(entries) > 1, sha256=sha256)


def _entries_of_zip(data: bytes) -> list[_Entry]:
    archive = zipfile.ZipFile(io.BytesIO(data))
    return [
        (entry.filename, partial(_member_of_zip, archive, entry)) for entry in archive.infolist() if not entry.is_dir()
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


def _limited(name: str, stream: IO[bytes] | io.BufferedIOBase, most: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > most:
                raise Unusable(f"{name}: unpacks to more than {most / 2**30:.3g} GB; unpack it yourself to read it")
            pieces.append(piece)
    except _BROKEN as error:
        raise Unusable(f"{name}: is damaged: {error or 'it ends too soon'}; copy or compress it again") from None
    return b"".join(pieces)
