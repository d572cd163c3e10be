"""Files as the command line takes and leaves them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.open import STDIN
from ingest.unread import is_called_a_log, is_dressed_json
from model.atomic import atomic_write
from model.errors import Unusable
from model.remark import counted

_NO_LOGS = {".html", ".json", ".toml", ".md", ".yaml", ".yml"}
_MOST_NAMED = 3
_HEAD = 4096


def expand(named: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """The logs that were named, and those in the folders that were named.

    The flag tells that a file was found in a folder, so that it need not be a log. Unusable if a
    named path does not exist, or standard input is named twice.
    """
    if named.count(STDIN) > 1:
        raise Unusable(f"{STDIN}: standard input is named twice; it can be read once")
    seen: set[Path] = set()
    for path in named:
        if path == STDIN:
            yield path, False
            continue
        try:
            if not path.exists():
                raise Unusable(f"{path}: does not exist; name a log or a folder of logs")
            inside = path.is_dir()
            found = sorted(path.iterdir()) if inside else [path]
        except OSError as error:
            raise Unusable(f"{path}: cannot be read: {error.strerror or error}") from None
        for one in found:
            if not (inside and _is_hidden(one)) and one.resolve() not in seen:
                seen.add(one.resolve())
                yield one, inside


def _is_hidden(path: Path) -> bool:
    """Whether something in a folder is passed over in silence: no measurements, nor a link to a log that is gone."""
    if path.name.startswith("."):
        return True
    if not path.is_file():
        return not (path.is_symlink() and not path.exists() and is_called_a_log(path.name))
    if path.suffix.lower() != ".json":
        return path.suffix.lower() in _NO_LOGS
    try:
        with path.open("rb") as file:
            return not is_dressed_json(file.read(_HEAD))
    except OSError:
        return True


def not_looked_into(named: Sequence[Path]) -> str | None:
    """What is to be said of the folders in those that were named, None if there are none: nobody looks into them."""
    folders = {path.resolve(): path for path in named if path != STDIN and path.is_dir()}
    inside = [
        str(one)
        for folder in folders.values()
        for one in sorted(folder.iterdir())
        if one.is_dir() and not one.name.startswith(".") and one.resolve() not in folders
    ]
    if not inside:
        return None
    more = len(inside) - _MOST_NAMED
    names = ", ".join(inside[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return f"{counted(len(inside), 'folder')} inside not looked into ({names}): name those whose logs are meant, too"


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole or not at all. Unusable if it cannot be written."""
    with atomic_write(path) as partial:
        # The name of a log need not be UTF-8.
        partial.write_text(text, encoding="utf-8", errors="replace", newline="\n")
