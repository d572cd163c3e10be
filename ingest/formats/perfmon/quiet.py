"""Keeps what a library prints on its way to an exception from the user's terminal."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

from polars.exceptions import PanicException

_STDERR = 2


@contextmanager
def panics_unheard() -> Generator[None]:
    """Holds back what is written to stderr meanwhile, and drops it where polars panics.

    polars panics, and prints so before it raises, at a cell that is a single quote. Whatever else
    is written to stderr meanwhile comes out afterwards.
    """
    try:
        real = os.dup(_STDERR)
    except OSError:  # there is no stderr to keep quiet
        yield
        return
    heard = True
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), _STDERR)
        try:
            yield
        except PanicException:
            heard = False
            raise
        finally:
            os.dup2(real, _STDERR)
            os.close(real)
            if heard and held.tell():
                held.seek(0)
                os.write(_STDERR, held.read())
