"""What every command does alike: print, tell remarks, write JSON."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from model.errors import Unusable, printable
from model.log import Log
from model.remark import Remark
from plimsoll.files import write_text

STDOUT = Path("-")
_MOST_REMARKS = 20
_REMARK = "remark: "


def spare(logs: Sequence[Log], *outputs: Path | None, others: Sequence[Path] = ()) -> None:
    """Unusable if an output would take the place of a log or another file that was read, or of another output."""
    inputs = {(log.file or log.path).resolve() for log in logs if log.sha256 is None or log.file}
    read = {path.resolve() for path in others}
    taken: set[Path] = set()
    for output in outputs:
        if output is None or output == STDOUT:
            continue
        try:
            place = output.resolve()
        except (OSError, RuntimeError):  # which Python has for links that go round in a circle
            raise Unusable(f"{output}: cannot be written: is a link that leads nowhere; name another file") from None
        if place in inputs:
            raise Unusable(f"{output}: is one of the logs; name another file to write to")
        if place in read:
            raise Unusable(f"{output}: is read by this call; name another file to write to")
        if place in taken and (place.is_file() or not place.exists()):  # /dev/null takes more than one
            raise Unusable(f"{output}: is to be written twice; name a file for each")
        taken.add(place)


def is_stdout(path: Path) -> bool:
    """Whether writing to a path is writing to stdout, as to `/dev/stdout`: nothing else may go there."""
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:  # either is not there
        return False


def plain(text: str) -> str:
    """Text of strangers in rich's markup, all of it in the line it stands in: a line end would part its tags."""
    return escape(printable(text))


class _Stdout(Console):
    def on_broken_pipe(self) -> None:
        """Who reads our output went away: that is no failure of ours, as rich would have it."""
        raise BrokenPipeError


def say(text: str, *, hang: int = 0) -> None:
    """A line of a result, in rich's markup, on stdout; on a terminal what does not fit stands below, from `hang` on."""
    for line in text.split("\n"):
        _print(stdout(), Text.from_markup(printable(line), emoji=False), hang)


def stdout() -> Console:
    """The console results go to. Names of strangers are shown as they are: `:cd:` is no picture of a disc."""
    return _Stdout(emoji=False)


def tell(remarks: Sequence[Remark]) -> None:
    """Remarks go to stderr, the first twenty of them; the report and the JSON hold all."""
    console = Console(stderr=True, emoji=False)
    texts = [printable(str(remark)) for remark in remarks[:_MOST_REMARKS]]
    if (more := len(remarks) - _MOST_REMARKS) > 0:
        texts.append(f"{more} more; --json has them all")
    for text in texts:
        _print(console, Text(f"{_REMARK}{text}", style="dim"), len(_REMARK))


def _print(console: Console, text: Text, hang: int) -> None:
    """Print a line: for other programs as one, on a terminal in as many as it takes, the further ones from `hang` on.

    A word wider than the terminal is left to it, so that a path can still be copied.
    """
    lines = [text]
    if console.file.isatty():
        lines = [*text.divide(_breaks(text.plain, console.width, hang))]
        for line in lines:
            line.rstrip()
    for at, line in enumerate(lines):
        console.print(Text(" " * hang if at else "") + line, soft_wrap=True, highlight=False)


def _breaks(text: str, width: int, hang: int) -> Iterator[int]:
    """Where a text goes on in a further line: between words, but after a comma near the end, which may part names."""
    start = 0
    for word in re.finditer(r"\S+", text):
        while word.start() > max(start, hang) and cell_len(text[start : word.end()]) > width - (hang if start else 0):
            named = text.rfind(", ", start, word.start()) + 2
            start = named if named > start + width // 2 else word.start()
            yield start


def write_json(path: Path, text: str) -> None:
    """Write JSON to a file, or to stdout where the path is `-`."""
    if path == STDOUT:
        # JSON is UTF-8 whatever the console's code page.
        sys.stdout.flush()
        sys.stdout.buffer.write((text + "\n").encode(errors="replace"))
    else:
        write_text(path, text + "\n")
