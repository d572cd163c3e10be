"""The bytes of the logs that were named: of files, archives, pipes and standard input."""

import hashlib
import mmap
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.files.unpack import Content, TooMuch, gigabytes, read_all, unpacked
from plimsoll.model.errors import Unusable

STDIN = Path("-")
MOST_BYTES = 4 << 30


@contextmanager
def opened(path: Path, most: int = MOST_BYTES, name: str | None = None) -> Generator[Iterator[Content]]:
    """The logs in a file, one after the other; files are mapped into memory while the context lasts.

    `name` is what people call the file, if that is not its path. Unusable if it cannot be read, or unpacks to more than
    `most` bytes.
    """
    with ExitStack() as stack:
        content = _content(path, most, stack)
        yield unpacked(replace(content, name=name) if name is not None else content, most)


def _content(path: Path, most: int, stack: ExitStack) -> Content:
    if path == STDIN:
        if sys.stdin is None:  # the caller closed it
            raise Unusable("standard input: is closed; name a file")
        name, data = "standard input", _flowing("standard input", sys.stdin.buffer, most)
    else:
        name, data = str(path), _file(path, most, stack)
    sha256 = hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else None
    return Content(name, path, data, sha256=sha256)


def _file(path: Path, most: int, stack: ExitStack) -> Data:
    """A file mapped into memory, or what comes out of a pipe."""
    try:
        file = stack.enter_context(path.open("rb"))
        if not path.stat().st_size or not path.is_file():
            return _flowing(str(path), file, most)
        return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except IsADirectoryError:
        raise Unusable(f"{path}: is a folder; name the logs in it") from None
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _flowing(name: str, stream: IO[bytes], most: int) -> bytes:
    try:
        return read_all(stream, most)
    except TooMuch:
        raise Unusable(f"{name}: gives more than {gigabytes(most)}; write it to a file and name that") from None
    except OSError as error:
        raise Unusable(f"{name}: cannot be read: {error.strerror or error}") from None
