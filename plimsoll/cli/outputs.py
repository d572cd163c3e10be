"""The outputs of a command: files and stdout."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from plimsoll.cli.console import print_error, print_line, print_lines
from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log
from plimsoll.model.parameters import replace_marks_by_options
from plimsoll.model.styled import Line

STDOUT = Path("-")


def refuse_overwriting(logs: Sequence[Log], *outputs: Path | None, also_read: Sequence[Path] = ()) -> None:
    """Raise Unusable if an output would overwrite a log, a file in `also_read`, or another of the outputs."""
    inputs = {(log.file or log.path).resolve() for log in logs if log.sha256 is None or log.file}
    read = {path.resolve() for path in also_read}
    taken: set[Path] = set()
    for output in outputs:
        if output is None or output == STDOUT:
            continue
        try:
            place = output.resolve()
        except (OSError, RuntimeError):  # RuntimeError: a loop of links
            raise Unusable(f"{output}: cannot be written: is a link that leads nowhere; name another file") from None
        if not place.parent.is_dir():
            raise Unusable(
                f"{output}: cannot be written: there is no folder {output.parent}; create it, or name another"
            )
        if place in inputs:
            raise Unusable(f"{output}: is one of the logs; name another file to write to")
        if place in read:
            raise Unusable(f"{output}: is read by this call; name another file to write to")
        if place in taken and (place.is_file() or not place.exists()):  # /dev/null may be named twice
            raise Unusable(f"{output}: is to be written twice; name a file for each")
        taken.add(place)


def is_stdout(path: Path) -> bool:
    """Return whether a path is the same file as stdout, such as `/dev/stdout`, so that nothing else may be printed."""
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:  # the file does not exist, or stdout is closed
        return False


_MOST_REFUSALS = 20  # lines on stderr


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all. Raise Unusable if it cannot be written."""
    with write_atomically(path) as partial:
        # A file name in the text need not be valid UTF-8.
        partial.write_text(replace_marks_by_options(text), encoding="utf-8", errors="replace", newline="\n")


def report_refusals(refusals: Sequence[object], folder: Path) -> None:
    """Print to stderr what an export could not express.

    If there are more than twenty refusals, write them to FOLDER/not-exported.txt, and print that file's name.
    """
    path = folder / "not-exported.txt"
    path.unlink(missing_ok=True)
    if len(refusals) <= _MOST_REFUSALS:
        for refusal in refusals:
            print_error(f"not exported: {refusal}")
        return
    write_text(path, "".join(f"{refusal}\n" for refusal in refusals))
    print_error(f"not exported: {len(refusals):,} rules or sources of them; {path} names each with the reason")


def write_json(path: Path, text: str) -> None:
    """Write JSON to a file, or to stdout if the path is `-`."""
    if path == STDOUT:
        # JSON is UTF-8 whatever the console's code page.
        sys.stdout.flush()
        sys.stdout.buffer.write((replace_marks_by_options(text) + "\n").encode(errors="replace"))
    else:
        write_text(path, text + "\n")


@dataclass(frozen=True)
class Outputs:
    """The files that a command writes besides its text. Only JSON and Markdown may go to stdout (`-`) instead."""

    report: Path | None = None
    json: Path | None = None
    junit: Path | None = None
    markdown: Path | None = None

    def __post_init__(self) -> None:
        for option, path in (("--out", self.report), ("--junit", self.junit)):
            if path == STDOUT:
                raise Unusable(f"{option} - is not supported: name a file, it is written as a whole or not at all")

    def refuse_overwriting(self, logs: Sequence[Log], *also_read: Path | None) -> None:
        """Raise Unusable if a file would overwrite a log, a file in `also_read`, or another of these files."""
        read = [path for path in also_read if path is not None]
        refuse_overwriting(logs, self.report, self.json, self.junit, self.markdown, also_read=read)

    def write(
        self,
        *,
        json: Callable[[], str],
        lines: Callable[[], Iterable[Line]],
        report: Callable[[], str] | None = None,
        junit: Callable[[], str] | None = None,
        markdown: Callable[[], str] | None = None,
    ) -> None:
        """Write each requested file; and print `lines`, unless JSON or Markdown goes to stdout."""
        for path, render in ((self.report, report), (self.junit, junit), (self.markdown, markdown)):
            if path and path != STDOUT and render:
                write_text(path, render())
        if self.json and self.json != STDOUT:
            write_json(self.json, json())
        try:
            if self.json == STDOUT:
                write_json(STDOUT, json())
            if self.markdown == STDOUT and markdown:
                print_lines((line,) for line in markdown().splitlines())
            if STDOUT not in (self.json, self.markdown):
                print_lines(lines())
                if self.report is not None:
                    print_line()
                    print_line(f"Report: {self.report}")
            sys.stdout.flush()
        except BrokenPipeError:  # the reader ended early; remarks and exit status still matter
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
