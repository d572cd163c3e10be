"""The data folder of `plimsoll up`: finds it, and checks that only its owner can change its content."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.private_folder import check_private

_NAME = "plimsoll"
# A folder with any of these is a data folder.
_FILES = frozenset({"up.toml", "alerts.db", "plimsoll.duckdb", "token", "access.json"})
# Others may have read these already: opening them fails later, so that somebody learns of it.
_SECRET = frozenset({"up.toml", "token", "access.json"})


def find_default_folder() -> Path:
    r"""Return the default data folder, which is in the folder for the user's application data.

    It is `$XDG_DATA_HOME/plimsoll` or `~/.local/share/plimsoll`; on macOS `~/Library/Application Support/plimsoll`;
    on Windows `%LOCALAPPDATA%\plimsoll`.
    """
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / _NAME
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / _NAME
    path = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification: a path that is not absolute is ignored.
    return (Path(path) if path.startswith("/") else Path.home() / ".local" / "share") / _NAME


def is_address(store: str | None) -> bool:
    """Return whether `store` is the URL of a server, not a folder or None."""
    return store is not None and "://" in store


def find_data_folder(store: str | None) -> Path:
    """Return the data folder to use with a store; the default folder if `store` is None or the URL of a server."""
    return Path(store) if store and not is_address(store) else find_default_folder()


def prepare(folder: Path) -> Path:
    """Create the data folder if it is missing, let only its owner read its files, and return it.

    Raise Unusable if the folder contains files that are not Plimsoll's, or if other users may change its content.
    """
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set[str]()
    if not (names <= {"lost+found", "up.lock"} or bool(names & _FILES)):
        raise Unusable(f"{folder}: holds other files; name an empty folder, or a new one, with {Parameter.STORE}")
    check_private(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unusable(
            f"{folder}: cannot be made: {error.strerror or error}; name another with {Parameter.STORE}"
        ) from None
    if sys.platform != "win32":
        for path in (folder, *folder.rglob("*")):
            if path.name not in _SECRET:
                with suppress(OSError):
                    status = path.lstat()
                    is_ours = status.st_uid == os.geteuid() and (
                        stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
                    )
                    if is_ours and status.st_mode & 0o077:
                        path.chmod(stat.S_IMODE(status.st_mode) & 0o700)
    return folder
