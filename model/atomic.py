"""Files written as a whole or not at all."""

import errno
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from model.errors import Unusable

_MOST_LINKS = 40  # as Linux follows
_DEVICES = (Path("/dev"), Path("/dev/fd"))
_PROCESSES = Path("/proc")
_AS_RUST_SAYS = re.compile(r"(?:.*: )?(.+) \(os error \d+\)")


@contextmanager
def atomic_write(path: Path) -> Generator[Path]:
    """A file to write to that takes the place of `path` at the end, if there was no error on the way.

    Folders are made as needed. A file that is replaced leaves its mode to the new one, unless that is given another
    meanwhile. A link stays one: what it leads to is replaced. What is no file of its own, such as /dev/null or a
    pipe, stays what it is and is written into. Unusable if the file cannot be written.
    """
    try:
        place = _replaceable(path)
        if place is None:
            yield from _written_into(path)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{token_hex(4)}.partial")
        try:
            mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
            partial.touch()
            if mode is not None:
                partial.chmod(mode | stat.S_IWUSR)
            yield partial
            if mode is not None and stat.S_IMODE(partial.stat().st_mode) == mode | stat.S_IWUSR:
                partial.chmod(mode)
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise Unusable(f"{path}: cannot be written: {_why(path, error)}") from None


def _written_into(path: Path) -> Generator[Path]:
    with TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        yield made
        with made.open("rb") as source, path.open("wb") as target:
            copyfileobj(source, target)


def _replaceable(path: Path) -> Path | None:
    """Where a path leads, if that is a file or nothing; None if it is to be written into as it is.

    A link to a file that a process holds open, as /dev/stdout may be, is no name of that file's own.
    """
    if path.exists() and not path.is_file():
        return None
    for _ in range(_MOST_LINKS):
        folder = Path(os.path.realpath(path.parent))
        if folder in _DEVICES or _PROCESSES in (folder, *folder.parents):
            return None
        if not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _why(path: Path, error: OSError) -> str:
    """What is wrong: of the folders above the file, which one is none."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        for above in path.parents:
            if os.path.lexists(above) and not above.is_dir():
                return f"{above} is no folder"
    said = error.strerror or str(error)
    within = _AS_RUST_SAYS.fullmatch(said)
    return within[1] if within else said
