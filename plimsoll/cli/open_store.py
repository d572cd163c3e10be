"""Opens the store of a command, which prints on stderr what it waits for."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from plimsoll.api import open_store as opening
from plimsoll.cli.console import print_notice
from plimsoll.store.store import Store


def open_store(
    named: str | None, *, make: bool = False, measurements: Callable[[], Collection[str]] | None = None
) -> AbstractContextManager[Store]:
    """The store; see `plimsoll.api.open_store`."""
    return opening.open_store(named, make=make, notify=print_notice, measurements=measurements)
