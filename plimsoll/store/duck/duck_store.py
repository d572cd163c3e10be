"""Opens the embedded store: live samples in a DuckDB file with its day files, and runs in folders beside it."""

from pathlib import Path

from plimsoll.store.duck.compaction import Keeping
from plimsoll.store.duck.move_runs import find_folder
from plimsoll.store.duck.samples import DuckSamples
from plimsoll.store.folders.runs import RunFolders
from plimsoll.store.store import Store

FILE = "plimsoll.duckdb"
RAW_DAYS = 30
DAYS = 400
SIZE_LIMIT = 20 << 30
MARGIN = 200 << 20


def open_embedded(
    place: Path,
    *,
    raw_days: int = RAW_DAYS,
    days: int = DAYS,
    size_limit: int = SIZE_LIMIT,
    margin: int = MARGIN,
) -> Store:
    """Open the store in a file, or in `plimsoll.duckdb` of a folder; create the file if it is missing.

    Live samples are kept unchanged for `raw_days`, then as minutes for `days`; the oldest days are dropped while more
    than `size_limit` bytes are in use. Writes fail while less than `margin` bytes are free on the disk. Raise Unusable
    if another process has the file open, if a later version of Plimsoll wrote the file, or if the file cannot be
    opened.
    """
    path = place if place.suffix == Path(FILE).suffix or place.is_file() else place / FILE
    live = DuckSamples(path, margin, Keeping(raw_days, days, size_limit))
    try:
        runs = RunFolders.open(find_folder(path), make=True, mode=0o700)
    except BaseException:
        live.close()
        raise

    def back_up(to: Path) -> None:
        live.back_up(to)
        runs.copy(find_folder(to))

    return Store(live, runs, upkeep=live, back_up=back_up)
