"""For long work: shows progress on a terminal, so that nobody takes it for a hung program, and keeps freed memory."""

import ctypes
import gc
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.ingest.read import find_logs
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import format_count

_LARGE_INPUT = 40_000_000  # bytes; less is read and judged within about a second
# Of glibc's mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MOST_ARENAS = -1, -3, -8
_MOST_KEPT = 1 << 28
_LARGE = 1 << 25  # the most that glibc takes
_MANY = 1_000_000  # objects; what a review makes stays until the end, or goes without a collector


@contextmanager
def show_progress(verb: str, inputs: Inputs) -> Generator[Inputs]:
    """Show on stderr the work (`verb`, count and size of files), per cent read, and time, while the block runs.

    The block must read the inputs that it gets. Without a terminal, or if the files are small, nothing is shown.
    """
    sizes = _measure_sizes(inputs.sources) if sys.stderr.isatty() else []
    if sum(sizes) < _LARGE_INPUT:
        yield inputs
        return
    from rich import console, progress  # noqa: PLC0415 - few need it

    percent = progress.TextColumn("{task.percentage:.0f} % read")
    columns = progress.TextColumn("{task.description}", markup=False), percent, progress.TimeElapsedColumn()
    shown_on = console.Console(stderr=True)
    with progress.Progress(progress.SpinnerColumn(), *columns, console=shown_on, transient=True) as shown:
        text = f"{verb} {format_count(len(sizes), 'file')}, {sum(sizes) / 1e6:,.0f} MB"
        task = shown.add_task(text, total=sum(sizes))
        yield replace(inputs, progress=partial(shown.advance, task))


def _measure_sizes(sources: Sequence[str]) -> list[int]:
    """Return the size (bytes) of each log that the sources name; empty if the logs cannot be listed."""
    with suppress(OSError, Unusable, ValueError):
        return [
            log.path.stat().st_size for log in find_logs([Path(source) for source in sources]) if log.path.is_file()
        ]
    return []


def use_memory_freely() -> None:
    """Keep freed memory for later use instead of returning it to the system, and rarely collect garbage.

    A tenth of the time of a review was spent on allocating memory again, and on collections that found nothing.
    """
    gc.set_threshold(_MANY, 50, 50)
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt:
        mallopt(_TRIM_THRESHOLD, _MOST_KEPT)
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_MOST_ARENAS, 1)  # what the thread that reads has freed is for all threads
