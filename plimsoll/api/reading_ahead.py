"""Reads logs in the background, beside imports and the judging of others: polars parses them outside of Python."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import TypeAlias

from plimsoll.api.inputs import LIVE, RUN, Inputs, read
from plimsoll.ingest.found import Found

Reading: TypeAlias = Callable[[], Found]


def read_ahead(every: Sequence[Inputs]) -> list[Reading | None]:
    """Begin to read inputs, in their order. Each function waits for one of them, and returns or raises as `read` does.

    None for what is in a store: a server may have to be waited for, and who waits can interrupt it.
    """
    files = [one for one in every if not any(source.startswith((RUN, LIVE)) for source in one.sources)]
    begun = [(one, Future[Found]()) for one in files]
    # The program can end at any time, also while a pipe is read that does not end.
    Thread(target=_read, args=(begun,), daemon=True).start()
    futures = iter(begun)
    return [next(futures)[1].result if one in files else None for one in every]


def _read(begun: Sequence[tuple[Inputs, Future[Found]]]) -> None:
    for inputs, future in begun:
        try:
            future.set_result(read(inputs))
        except BaseException as error:  # that of polars is no Exception; raised where it is asked for
            future.set_exception(error)
