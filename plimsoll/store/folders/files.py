"""Writes files in a shared folder, each completely or not at all, and translates file system errors."""

import errno
import hashlib
import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from plimsoll.model.errors import Unusable
from plimsoll.store.protocol import StoreFull

_FULL = (errno.ENOSPC, errno.EDQUOT)
_TRIES = 5
_LONGEST = 200  # bytes; file systems take 255
# What Windows or a shell cannot have in a name.
_UNSAFE = frozenset('<>:"/\\|?*%')
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{kind}{at}" for kind in ("com", "lpt") for at in range(1, 10))})


@contextmanager
def translate_errors(place: Path) -> Generator[None]:
    """Raise file system errors in the block as Unusable or StoreFull."""
    try:
        yield
    except OSError as error:
        where, why = error.filename or place, error.strerror or error
        if error.errno in _FULL:
            raise StoreFull(f"{where}: cannot be written: {why}; make room, and call again") from None
        raise Unusable(f"{where}: {why}; is the folder there, and may it be changed?") from None


def write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, and flush it to the disk. Raise OSError if its folder is gone."""
    partial = path.with_name(f".{token_hex(4)}.partial")
    try:
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def move(folder: Path, to: Path) -> None:
    """Rename a folder durably. Raise OSError if the new name is taken, or if the folder is gone."""
    folder.rename(to)
    sync(to.parent)


def copy(folder: Path, to: Path) -> None:
    """Copy a folder. Raise OSError if that fails, for example because another process removes the folder meanwhile."""
    try:
        shutil.copytree(folder, to, copy_function=shutil.copyfile)
    except (shutil.Error, FileNotFoundError):
        shutil.rmtree(to, ignore_errors=True)
        if folder.exists():
            raise


def remove(folder: Path) -> None:
    """Remove a folder, even while another computer writes to it."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    shutil.rmtree(folder)


def sync(folder: Path) -> None:
    """Flush a folder's file names to the disk, if the system supports that."""
    if sys.platform != "win32":
        with suppress(OSError):  # some shares do not support that
            opened = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)


def make_folder_name(run: str) -> str:
    """Return a folder name for a run that is valid on every system; other characters are encoded: `%3A`."""
    name = "".join(_encode_character(c) if c in _UNSAFE or not c.isprintable() else c for c in run)
    if name.startswith(".") or name.partition(".")[0].casefold() in _DEVICES:
        name = _encode_character(name[0]) + name[1:]
    if name.endswith((".", " ")):
        name = name[:-1] + _encode_character(name[-1])
    if len(name.encode()) <= _LONGEST:
        return name
    short = name.encode()[: _LONGEST - 17].decode(errors="ignore")
    return f"{short}~{hashlib.sha256(run.encode()).hexdigest()[:16]}"


def _encode_character(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())
