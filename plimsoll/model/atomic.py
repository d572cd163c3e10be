"""Writes files completely or not at all."""

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

from plimsoll.model.errors import Unusable

_MOST_LINKS = 40  # Linux's limit
_DEVICES = (Path("/dev"), Path("/dev/fd"))
_PROCESSES = Path("/proc")
_RUST_MESSAGE = re.compile(r"(?:.*: )?(.+) \(os error \d+\)")


@contextmanager
def write_atomically(path: Path) -> Generator[Path]:
    """Yield the path of a temporary file that replaces `path` when the `with` block ends without an error.

    Missing folders are created. The new file keeps the mode of the old file, unless the caller changes it. The target
    of a symbolic link is replaced, not the link. Devices and pipes, such as /dev/null, are written to directly. Raise
    Unusable if the file cannot be written.
    """
    try:
        place = _find_replaceable(path)
        if place is None:
            with TemporaryDirectory() as folder:
                draft = Path(folder) / "draft"
                yield draft
                with draft.open("rb") as source, path.open("wb") as target:
                    copyfileobj(source, target)
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
        raise Unusable(f"{path}: cannot be written: {_explain_error(path, error)}") from None


def _find_replaceable(path: Path) -> Path | None:
    """Return the file to which a path leads through symbolic links; None unless it is regular or missing.

    Links in /dev and /proc lead to files that a process has open; replacing these would not affect the process.
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


def _explain_error(path: Path, error: OSError) -> str:
    """Return why a path cannot be written, for example because a parent is not a folder."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        for above in path.parents:
            if os.path.lexists(above) and not above.is_dir():
                return f"{above} is no folder"
    text = error.strerror or str(error)
    from_rust = _RUST_MESSAGE.fullmatch(text)
    return from_rust[1] if from_rust else text
