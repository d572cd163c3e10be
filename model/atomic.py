"""Files written as a whole or not at all."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from model.errors import Unusable


@contextmanager
def written(path: Path) -> Generator[Path]:
    """A file to write to that takes the place of `path` at the end, if there was no error on the way.

    Folders are made as needed. Unusable if the file cannot be written.
    """
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
