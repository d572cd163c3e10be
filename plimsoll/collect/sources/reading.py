"""What the collector reads: values of one measurement, with the names that Telegraf gives them."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

PROC = Path("/proc")
SYS = Path("/sys")


class Reading(NamedTuple):
    """Fields of a measurement. `tags` are sorted by name and do not include the host."""

    measurement: str
    fields: Mapping[str, float]
    tags: tuple[tuple[str, str], ...] = ()


Group: TypeAlias = Callable[[], Iterable[Reading]]


def text_of(path: Path) -> str | None:
    """The text of a file of the kernel; None if this kernel does not have it, or it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
