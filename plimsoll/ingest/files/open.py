"""Opens files, archives, pipes and standard input, and unpacks the logs in them."""

import hashlib
import io
import mmap
import posixpath
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from plimsoll.ingest.files.recognise import explain_office_document, is_called_a_log
from plimsoll.ingest.files.streams import BROKEN, UNPACKERS, Data
from plimsoll.model.errors import Unusable, escape
from plimsoll.model.lazy_dataclass import dataclass

_BLOCK = 1 << 20
_DEEPEST = 4  # how many times over a log may be packed
_ALTOGETHER = 2  # what all that is in a file may unpack to, as a multiple of what one log may
_RATIO = 100  # and as a multiple of what was read of the file; logs are packed to a third or a twentieth
_ALWAYS = 256 << 20  # what may be unpacked whatever the ratio
_MOST_FILES = 10_000  # in an archive
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_END_OF_TAR = bytes(1024)
_ENCRYPTED = 1
# Files that a Macintosh adds to an archive.
_OF_A_MAC = re.compile(r"__MACOSX/|(.*/)?(\._|\.DS_Store$)")


class _ArchiveEntry(NamedTuple):
    """A file in an archive: its name, the function that opens it, and its packed size."""

    name: str
    opener: Callable[[], IO[bytes]]
    packed: int


@dataclass(frozen=True)
class LogContent:
    """The bytes of one log: a file, a pipe, or one file of an archive.

    `name` is the path for messages, followed by the name in the archive, if any. `member` is True if the archive has
    several files. `refused` is the error if this file could not be unpacked. `sha256` is set if the input cannot be
    read again (a pipe).
    """

    name: str
    path: Path
    data: Data
    member: bool = False
    sha256: str | None = None
    refused: Unusable | None = None


class TooMuch(Exception):
    """The error that a stream is longer than the limit, or an archive has more files than the limit."""


@dataclass
class _UnpackBudget:
    """The limits for unpacking one file, which stop archives that unpack to far more than their size.

    `most` is the limit (bytes) for one log, `size` the size of the packed file, `read` the bytes read from that file.
    `unpacked` counts the bytes that were unpacked, at all levels of nesting.
    """

    most: int
    size: int
    unpacked: int = 0
    read: int = 0

    def check(self, name: str, reading: int = 0) -> None:
        """Raise Unusable, naming `name`, if too much was unpacked; `reading` are bytes not yet counted in `read`."""
        if self.unpacked > self.most * _ALTOGETHER:
            text = f"the file unpacks to more than {format_gigabytes(self.most * _ALTOGETHER)} altogether"
        elif self.unpacked > max(_ALWAYS, _RATIO * min(self.read + reading, self.size)):
            text = f"unpacks to more than {_RATIO} times its size, which no log does"
        else:
            return
        raise Unusable(f"{name}: {text}; unpack it yourself to read it")


STDIN = Path("-")
MOST_BYTES = 4 << 30


@contextmanager
def open_logs(
    path: Path, most: int = MOST_BYTES, name: str | None = None, progress: Callable[[int], None] | None = None
) -> Generator[Iterator[LogContent]]:
    """Open a file, archive, pipe or standard input as a context: an iterator of the logs in it.

    Files stay mapped into memory until the context ends. `name` replaces the path in messages. `progress` is as in
    ReadOptions. Raise Unusable if the file cannot be read or unpacked, if a log in it is larger than `most` bytes, or
    if all logs together are too large.
    """
    with ExitStack() as stack:
        if path != STDIN:
            shown, data = str(path), _map_file(path, most, stack, progress)
        elif sys.stdin is None:  # the caller closed it
            raise Unusable("standard input: is closed; name a file")
        else:
            shown, data = "standard input", _read_stream("standard input", sys.stdin.buffer, most)
        sha256 = hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else None
        content = LogContent(shown if name is None else name, path, data, sha256=sha256)
        yield _list_logs_inside(content, _UnpackBudget(most, len(data)), 0)


class _CountedFile(mmap.mmap):
    """A mapped file that reports the bytes taken out of it, in all as many as it has."""

    progress: Callable[[int], None]
    _rest = -1

    def __getitem__(self, place: Any) -> Any:
        part = super().__getitem__(place)
        if isinstance(part, bytes):
            self.report(len(part))
        return part

    def report(self, count: int) -> None:
        """Report that so many more bytes were read, at most those that were left."""
        self._rest = len(self) if self._rest < 0 else self._rest
        self.progress(min(count, self._rest))
        self._rest -= min(count, self._rest)


def _map_file(path: Path, most: int, stack: ExitStack, progress: Callable[[int], None] | None) -> Data:
    """Return a file mapped into memory, or the bytes of a pipe. Raise Unusable if it cannot be read."""
    try:
        file = stack.enter_context(path.open("rb"))
        if not path.stat().st_size or not path.is_file():
            return _read_stream(str(path), file, most)
        if progress is None:
            return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        data = stack.enter_context(_CountedFile(file.fileno(), 0, access=mmap.ACCESS_READ))
        data.progress = progress
        stack.callback(lambda: data.report(len(data)))
        return data
    except IsADirectoryError:
        raise Unusable(f"{path}: is a folder; name the logs in it") from None
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _read_stream(name: str, stream: IO[bytes], most: int) -> bytes:
    try:
        return read_all(stream, most)
    except TooMuch:
        raise Unusable(f"{name}: gives more than {format_gigabytes(most)}; write it to a file and name that") from None
    except OSError as error:
        raise Unusable(f"{name}: cannot be read: {error.strerror or error}") from None


def read_all(stream: IO[bytes] | io.BufferedIOBase, most: int) -> bytes:
    """Return all bytes of a stream. Raise TooMuch if there are more than `most`."""
    data = io.BytesIO()
    while block := stream.read(_BLOCK):
        if data.tell() + len(block) > most:
            raise TooMuch
        data.write(block)
    return data.getvalue()


def format_gigabytes(size: int) -> str:
    """Return a number of bytes as text, such as `1.5 GB`."""
    return f"{size / 2**30:.3g} GB"


def _list_logs_inside(content: LogContent, room: _UnpackBudget, depth: int) -> Iterator[LogContent]:
    """Yield the logs in a file: the file itself if it is not packed, else the logs unpacked from it.

    Archives in archives are unpacked too. Raise Unusable if they are nested too deeply.
    """
    head = content.data[:6]
    unpacker = next((unpacker for sign, unpacker in UNPACKERS.items() if head.startswith(sign)), None)
    kind = None if unpacker else _detect_archive(content.data)
    if unpacker is None and kind is None:
        yield content
        return
    if depth == _DEEPEST:
        raise Unusable(f"{content.name}: is packed more than {_DEEPEST} times over; unpack it yourself")
    # A mapped file is opened again, as mapped bytes cannot be read like a file.
    packed = io.BytesIO(content.data) if isinstance(content.data, bytes) else content.path.open("rb")
    if unpacker:
        with packed, unpacker(packed) as stream:
            data = _read_limited(content.name, stream, room, _read_of_file(packed.tell, depth))
        yield from _list_logs_inside(replace(content, data=data), room, depth + 1)
    else:
        with packed:
            yield from _list_members(content, packed, kind or "", room, depth + 1)


def _detect_archive(data: Data) -> str | None:
    """Return the kind of archive that the bytes are, `ZIP` or `TAR`; None for other bytes."""
    if data[:4] in _ZIP:
        return "ZIP"
    if data[257:262] == b"ustar":
        return "TAR"
    try:  # old ones have no magic bytes, only a checksum of the header
        tarfile.TarInfo.frombuf(data[:512], "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None
    return "TAR"


def _list_members(
    archive: LogContent, file: IO[bytes], kind: str, room: _UnpackBudget, depth: int
) -> Iterator[LogContent]:
    """Yield the logs in an archive. A file that cannot be unpacked is yielded with its error.

    Raise Unusable if the archive is damaged, or if its only file cannot be unpacked.
    """
    name = archive.name
    try:
        entries = list(_list_zip_entries(file) if kind == "ZIP" else _list_tar_entries(file, archive.data))
    except TooMuch:
        raise Unusable(f"{name}: holds more than {_MOST_FILES:,} files; unpack it and name the logs") from None
    except BROKEN as error:
        raise Unusable(f"{name}: is a damaged {kind} archive ({error}); make it again") from None
    if any(entry.name in ("[Content_Types].xml", "mimetype") for entry in entries):
        texts = [entry for entry in entries if entry.name == "mimetype" or entry.name.endswith(".xml")]
        raise explain_office_document(name, ((entry.name, _read_member(name, entry, room, depth)) for entry in texts))
    entries = [entry for entry in entries if not _OF_A_MAC.match(entry.name)]
    if not entries:
        raise Unusable(f"{name}: is a {kind} archive with no file in it")
    several = archive.member or len(entries) > 1
    for entry in entries:
        called = str(Path(f"{name}/{escape(entry.name)}"))  # the spelling in readers' messages, without a ./
        inner = replace(archive, name=called, data=b"", member=several)
        try:
            yield from _list_logs_inside(replace(inner, data=_read_member(inner.name, entry, room, depth)), room, depth)
        except Unusable as error:
            if not several:
                raise
            yield replace(inner, refused=error)
    if kind == "TAR" and archive.data[-len(_END_OF_TAR) :] != _END_OF_TAR:
        text = f"{name}: the archive breaks off before its end, so that files may be missing; copy or make it again"
        yield replace(archive, data=b"", member=True, refused=Unusable(text))


def _read_member(name: str, entry: _ArchiveEntry, room: _UnpackBudget, depth: int) -> bytes:
    try:
        with entry.opener() as stream:
            return _read_limited(name, stream, room, _read_of_file(lambda: entry.packed, depth - 1))
    except BROKEN as error:
        raise Unusable(f"{name}: cannot be unpacked ({error}); unpack the archive yourself") from None


def _list_zip_entries(file: IO[bytes]) -> Iterator[_ArchiveEntry]:
    archive = zipfile.ZipFile(file)
    if len(archive.infolist()) > _MOST_FILES:
        raise TooMuch
    for entry in archive.infolist():
        if not entry.filename.endswith(("/", "\\")):  # folders; on Windows they may end in a backslash
            yield _ArchiveEntry(entry.filename, partial(_open_of_zip, archive, entry), entry.compress_size)


def _open_of_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    if entry.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile("the archive is encrypted")
    return archive.open(entry)


def _list_tar_entries(file: IO[bytes], data: Data) -> Iterator[_ArchiveEntry]:
    """Yield the files of a tar archive, and links with a log's name to files that are not in the archive.

    Raise TooMuch if there are too many entries.
    """
    archive = tarfile.TarFile(fileobj=file)
    links: list[tarfile.TarInfo] = []
    names: set[str] = set()
    for at, entry in enumerate(archive):
        if at == _MOST_FILES:
            raise TooMuch
        names.add(entry.name)
        if entry.isfile():
            yield _ArchiveEntry(entry.name, partial(_open_of_tar, archive, entry), entry.size)
        elif not entry.isdir() and is_called_a_log(entry.name):
            links.append(entry)
    # A link to another file of the archive is read as that file.
    lost = [link for link in links if _resolve_link(link) not in names]
    yield from (_ArchiveEntry(link.name, partial(_open_of_tar, archive, link), 0) for link in lost)
    if data[archive.offset :].strip(b"\0"):  # tarfile treats the first unreadable header as the end
        raise tarfile.ReadError("more follows the last file that can be told")


def _resolve_link(link: tarfile.TarInfo) -> str:
    """Return the path in the archive that a link points to; a symbolic link's target is relative to its folder."""
    folder = posixpath.dirname(link.name) if link.issym() else ""
    return posixpath.normpath(posixpath.join(folder, link.linkname))


def _open_of_tar(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    if not entry.isfile():
        raise tarfile.ReadError(f"it is a link to {entry.linkname}" if entry.linkname else "it is no file")
    return archive.extractfile(entry) or io.BytesIO()


def _read_of_file(read: Callable[[], int], depth: int) -> Callable[[], int]:
    """Return `read`, the counter of bytes read from the file; within a nested archive, a function that returns 0."""
    return read if depth == 0 else lambda: 0


def _read_limited(
    name: str, stream: IO[bytes] | io.BufferedIOBase, room: _UnpackBudget, read: Callable[[], int]
) -> bytes:
    """Return the unpacked bytes of a stream. Raise Unusable if they exceed the limits, or if the stream is damaged."""
    data = io.BytesIO()
    room.check(name, read())
    try:
        while block := stream.read(_BLOCK):
            if data.tell() + len(block) > room.most:
                raise Unusable(
                    f"{name}: unpacks to more than {format_gigabytes(room.most)}; unpack it yourself to read it"
                )
            data.write(block)
            room.unpacked += len(block)
            room.check(name, read())
    except BROKEN as error:
        why = "it ends too soon" if isinstance(error, EOFError) or not str(error) else error
        raise Unusable(f"{name}: is damaged: {why}; copy or compress it again") from None
    room.read += read()
    return data.getvalue()
