"""What every command does alike: print, tell remarks, write JSON."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from model.errors import Unusable, printable
from model.log import Log
from model.remark import Remark
from plimsoll.files import write_text

STDOUT = Path("-")
_MOST_REMARKS = 20


def spare(logs: Sequence[Log], *outputs: Path | None) -> None:
    """Unusable if an output would take the place of a log that was read."""
    inputs = {(log.file or log.path).resolve() for log in logs if log.sha256 is None or log.file}
    for output in outputs:
        try:
            is_input = output is not None and output.resolve() in inputs
        except (OSError, RuntimeError):  # which Python has for links that go round in a circle
            raise Unusable(f"{output}: cannot be written: is a link that leads nowhere; name another file") from None
        if is_input:
            raise Unusable(f"{output}: is one of the logs; name another file to write to")


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


def say(text: str) -> None:
    """A line of a result, in rich's markup, on stdout."""
    for line in text.split("\n"):
        stdout().print(printable(line), soft_wrap=True, highlight=False)


def stdout() -> Console:
    """The console results go to. Names of strangers are shown as they are: `:cd:` is no picture of a disc."""
    return _Stdout(emoji=False)


def tell(remarks: Sequence[Remark]) -> None:
    """Remarks go to stderr, the first twenty of them; the report and the JSON hold all."""
    console = Console(stderr=True, emoji=False)
    for remark in remarks[:_MOST_REMARKS]:
        console.print(f"remark: {printable(str(remark))}", soft_wrap=True, highlight=False, markup=False, style="dim")
    if (more := len(remarks) - _MOST_REMARKS) > 0:
        console.print(f"remark: {more} more; --json has them all", soft_wrap=True, highlight=False, style="dim")


def write_json(path: Path, text: str) -> None:
    """Write JSON to a file, or to stdout where the path is `-`."""
    if path == STDOUT:
        # JSON is UTF-8 whatever the console's code page.
        sys.stdout.flush()
        sys.stdout.buffer.write((text + "\n").encode(errors="replace"))
    else:
        write_text(path, text + "\n")
