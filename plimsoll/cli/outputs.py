"""Files that a command writes."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from plimsoll.model.atomic import atomic_write
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.parameters import as_options

STDOUT = Path("-")


def refuse_overwriting(logs: Sequence[Log], *outputs: Path | None, also_read: Sequence[Path] = ()) -> None:
    """Unusable if an output is one of the logs, another file that was read, or the same file as another output."""
    inputs = {(log.file or log.path).resolve() for log in logs if log.sha256 is None or log.file}
    others = {path.resolve() for path in also_read}
    taken: set[Path] = set()
    for output in outputs:
        if output is None or output == STDOUT:
            continue
        try:
            place = output.resolve()
        except (OSError, RuntimeError):  # RuntimeError: a loop of links
            raise Unusable(f"{output}: cannot be written: is a link that leads nowhere; name another file") from None
        if place in inputs:
            raise Unusable(f"{output}: is one of the logs; name another file to write to")
        if place in others:
            raise Unusable(f"{output}: is read by this call; name another file to write to")
        if place in taken and (place.is_file() or not place.exists()):  # /dev/null may be named twice
            raise Unusable(f"{output}: is to be written twice; name a file for each")
        taken.add(place)


def is_stdout(path: Path) -> bool:
    """Whether a path, such as `/dev/stdout`, is stdout: then nothing else may be printed there."""
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:  # the file does not exist, or stdout is closed
        return False


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole or not at all, with the options it names. Unusable if it cannot be written."""
    with atomic_write(path) as partial:
        # A file name in the text need not be valid UTF-8.
        partial.write_text(as_options(text), encoding="utf-8", errors="replace", newline="\n")


def write_json(path: Path, text: str) -> None:
    """Write JSON to a file, or to stdout where the path is `-`."""
    if path == STDOUT:
        # JSON is UTF-8 whatever the console's code page.
        sys.stdout.flush()
        sys.stdout.buffer.write((as_options(text) + "\n").encode(errors="replace"))
    else:
        write_text(path, text + "\n")
