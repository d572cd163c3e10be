"""Reads the small files that users write: packs, names of counters and plimsoll.toml."""

import os
import stat
from pathlib import Path

from plimsoll.model.errors import Unusable

MOST_BYTES = 1 << 20


def read(path: Path, hint: str = "") -> bytes:
    """Return the content of a file. Raise Unusable unless it is a readable, regular file of at most 1 MB.

    `hint` is added to the message about a file that cannot be read.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits until another program writes to it.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            data = file.read(MOST_BYTES + 1) if stat.S_ISREG(mode) else None
    except IsADirectoryError:
        data = None
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}{hint}") from None
    if data is None:
        raise Unusable(f"{path}: is not a regular file but a folder, device or pipe; name a file{hint}")
    if len(data) > MOST_BYTES:
        line = data.count(b"\n") + 1
        raise Unusable(f"{path}:{line}: is larger than 1 MB, which is the most that is read; split it, or shorten it")
    return data
