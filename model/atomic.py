"""Files written as a whole or not at all."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from model.errors import Unusable


@contextmanager
def written(path: Path) -> Generator[Path]:
    """A file to write to that takes the place of `path` at the end, if there was no error on the way.

    Folders are made as needed. What is no file of its own, such as /dev/null, a pipe or a link, stays what
    it is and is written into. Unusable if the file cannot be written.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        yield from _written_into(path)
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise Unusable(f"{path}: cannot be written: {error.strerror or error}") from None


def _written_into(path: Path) -> Generator[Path]:
    with TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        yield made
        try:
            with made.open("rb") as source, path.open("wb") as target:
                copyfileobj(source, target)
        except OSError as error:
            raise Unusable(f"{path}: cannot be written: {error.strerror or error}") from None
