"""Says on a terminal that much is being read, and for how long, so that nobody takes it for a hung program."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from plimsoll.ingest.files.find_logs import find_logs
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted

_LARGE = 40_000_000  # bytes; less is read and judged within about a second


@contextmanager
def working_on(verb: str, sources: Sequence[str]) -> Generator[None]:
    """A line on stderr with what is worked on and the time since, while the body runs; it is wiped afterwards.

    There is none where stderr is no terminal, or the files named by `sources` are small.
    """
    sizes = _sizes(sources) if sys.stderr.isatty() else []
    if sum(sizes) < _LARGE:
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - few need it
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(f"{verb} {counted(len(sizes), 'file')}, {sum(sizes) / 1e6:,.0f} MB", total=None)
        yield


def _sizes(sources: Sequence[str]) -> list[int]:
    """Bytes of each file that is named or in a folder that is; what cannot be read is refused where it is read."""
    with suppress(OSError, Unusable, ValueError):
        return [log.path.stat().st_size for log in find_logs([Path(one) for one in sources]) if log.path.is_file()]
    return []
