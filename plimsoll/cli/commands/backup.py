"""`plimsoll backup`."""

import os
from pathlib import Path

from plimsoll.alerting.book.database import NAME, AlertsFile, NotKept
from plimsoll.api.open_store import open_embedded
from plimsoll.cli.console import print_line
from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.native import data_folder
from plimsoll.notify.settings import FILE_NAME


def run(to: Path, data: Path | None) -> None:
    """Copy the embedded store to a new file, and alerts.db and up.toml beside it, while plimsoll up goes on writing.

    Unusable if that is not possible.
    """
    folder = data or data_folder.default_folder()
    alerts, settings = (to.with_name(f"{to.stem}.{name}") for name in (NAME, FILE_NAME))
    taken = next((one for one in (alerts, settings) if one.exists()), None)
    if taken is not None:
        raise Unusable(f"{taken}: exists already; give the backup a new name")
    with open_embedded(folder) as store:
        store.backup(to.absolute())
    print_line(f"{to}: a copy of the store, {to.stat().st_size / 1e6:,.1f} MB")
    if (folder / NAME).exists():
        file = AlertsFile.existing(folder)
        try:
            file.backup(alerts)
        except NotKept as error:
            raise Unusable(str(error)) from None
        finally:
            file.close()
        print_line(f"{alerts}: a copy of the alerts")
    if (folder / FILE_NAME).exists():
        content = user_files.read(folder / FILE_NAME)
        with os.fdopen(os.open(settings, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            copy.write(content)
        print_line(f"{settings}: a copy of the settings, with their passwords")
