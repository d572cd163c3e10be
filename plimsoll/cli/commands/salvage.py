"""`plimsoll salvage`."""

import time
from pathlib import Path

from plimsoll.api import data_folder
from plimsoll.cli.console import print_line, print_notice
from plimsoll.model.errors import Unusable
from plimsoll.store.duck.salvage import salvage
from plimsoll.store.duck.store import FILE
from plimsoll.up.running import OnlyOne


def run(data: Path | None) -> None:
    """Begin a new store with what can be read of the old one. Unusable while plimsoll up runs."""
    folder = data or data_folder.default_folder()
    path = folder / FILE
    if not path.exists():
        raise Unusable(f"{path}: there is none; plimsoll up makes it")
    lock = OnlyOne(folder)
    try:
        done = salvage(path, time.time_ns())
    finally:
        lock.release()
    print_line(f"{path}: begun anew, with what could be read: {done.samples:,} samples, {done.runs:,} runs")
    if done.older:
        print_notice("what was written last is lost: the write-ahead log cannot be read to its end")
    for one in done.lost:
        print_notice(f"lost: {one}")
    print_line(f"The damaged file is {done.aside}")
