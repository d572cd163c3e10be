"""`plimsoll backup`."""

from pathlib import Path

from plimsoll.api.open_store import open_embedded
from plimsoll.cli.console import print_line
from plimsoll.native import data_folder


def run(to: Path, data: Path | None) -> None:
    """Copy the embedded store to a new file, while plimsoll up goes on writing. Unusable if that is not possible."""
    with open_embedded(data or data_folder.default_folder()) as store:
        store.backup(to.absolute())
    print_line(f"{to}: a copy of the store, {to.stat().st_size / 1e6:,.1f} MB")
