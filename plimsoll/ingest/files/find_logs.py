"""Finds the logs in the files and folders that were named."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from plimsoll.ingest.files.open import STDIN
from plimsoll.ingest.files.recognise import HEAD, is_called_a_log, is_measured_json
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted

_NOT_LOGS = {".html", ".json", ".toml", ".md", ".yaml", ".yml"}
_MOST_NAMED = 3


class LogFile(NamedTuple):
    """A file to read; one that was found in a folder need not be a log.

    `name` is what people call it, if that is not its path.
    """

    path: Path
    in_folder: bool = False
    name: str | None = None

    @property
    def shown(self) -> Path:
        """The path that people see."""
        return Path(self.name) if self.name is not None else self.path


def find_logs(named: Sequence[Path]) -> Iterator[LogFile]:
    """Yield the files that were named and those in the folders that were named, each once.

    Unusable if a path does not exist, or if
    standard input is named twice.
    """
    if named.count(STDIN) > 1:
        raise Unusable(f"{STDIN}: standard input is named twice; it can be read once")
    targets: set[Path] = set()
    for path in named:
        if path == STDIN:
            yield LogFile(path)
            continue
        try:
            if not path.exists():
                raise Unusable(f"{path}: does not exist; name a log or a folder of logs")
            in_folder = path.is_dir()
            entries = sorted(path.iterdir()) if in_folder else [path]
        except OSError as error:
            raise Unusable(f"{path}: cannot be read: {error.strerror or error}") from None
        for entry in entries:
            if not (in_folder and _is_ignored(entry)) and (target := _target(entry)) not in targets:
                targets.add(target)
                yield LogFile(entry, in_folder)


def _target(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # Python 3.11 and 3.12 have it for a link to itself
        return path.absolute()


def _is_ignored(path: Path) -> bool:
    """Return whether a file in a folder is skipped without a remark: hidden, or of a kind that is not a log.

    A broken link with the name of a log is not ignored, nor is JSON that sadf wrote.
    """
    if path.name.startswith("."):
        return True
    if not path.is_file():
        return not (path.is_symlink() and not path.exists() and is_called_a_log(path.name))
    if path.suffix.lower() != ".json":
        return path.suffix.lower() in _NOT_LOGS
    try:
        with path.open("rb") as file:
            return not is_measured_json(file.read(HEAD))
    except OSError:
        return True


def skipped_folders(named: Sequence[Path]) -> str | None:
    """A sentence on the folders inside the folders that were named, which are not searched; None if there are none."""
    folders = {path.resolve(): path for path in named if path != STDIN and path.is_dir()}
    inside = [
        str(path)
        for folder in folders.values()
        for path in sorted(folder.iterdir())
        if path.is_dir() and not path.name.startswith(".") and path.resolve() not in folders
    ]
    if not inside:
        return None
    value = len(inside) - _MOST_NAMED
    names = ", ".join(inside[:_MOST_NAMED]) + (f" and {value:,} more" if value > 0 else "")
    return f"{counted(len(inside), 'folder')} inside not looked into ({names}): name those whose logs are meant, too"
