"""`plimsoll backup`."""

import os
from contextlib import closing
from pathlib import Path

import typer

from plimsoll.alerting.alerts_file import NAME, AlertsFile, NotKept
from plimsoll.api import data_folder
from plimsoll.api.open_store import open_embedded
from plimsoll.cli import args
from plimsoll.cli.console import print_line
from plimsoll.hosts import overlay
from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.notify import target_overlay
from plimsoll.notify.settings import FILE_NAME
from plimsoll.serve import users
from plimsoll.store.duck import day_files, move_runs

_FILES_BESIDE = {
    FILE_NAME: "the settings, with their passwords",
    users.FILE: "the users, with hashes of their passwords",
    overlay.FILE_NAME: "the limits that were changed on pages",
    target_overlay.FILE_NAME: "the targets that were added on pages, with their passwords",
}
app = args.make_command_app()


@app.command("backup", epilog=args.format_examples("plimsoll backup plimsoll-monday.duckdb"))
def backup(
    to: Path = typer.Argument(..., help="The new file to write.", metavar="FILE"), store: args.FolderOption = None
) -> None:
    """Copy the embedded store, also while plimsoll up runs."""
    folder = store or data_folder.find_default_folder()
    alerts, *paths = (to.with_name(f"{to.stem}.{name}") for name in (NAME, *_FILES_BESIDE))
    taken = next((path for path in (alerts, *paths) if path.exists()), None)
    if taken is not None:
        raise Unusable(f"{taken}: exists already; give the backup a new name")
    with open_embedded(folder) as opened:
        opened.back_up(to.absolute())
    print_line(f"{to}: a copy of the store, {to.stat().st_size / 1e6:,.1f} MB")
    for folder_of, text in ((day_files.find_folder, "the days that are over"), (move_runs.find_folder, "the runs")):
        if (copied := folder_of(to)).exists():
            size = sum(path.stat().st_size for path in copied.rglob("*.parquet"))
            print_line(f"{copied}: a copy of {text}, {size / 1e6:,.1f} MB")
    if (folder / NAME).exists():
        with closing(AlertsFile.existing(folder)) as file:
            try:
                file.backup(alerts)
            except NotKept as error:
                raise Unusable(str(error)) from None
        print_line(f"{alerts}: a copy of the alerts")
    for (name, text), copied in zip(_FILES_BESIDE.items(), paths, strict=True):
        if (folder / name).exists():
            content = user_files.read(folder / name)
            with os.fdopen(os.open(copied, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
                copy.write(content)
            print_line(f"{copied}: a copy of {text}")
