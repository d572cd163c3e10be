"""What every command does alike: read the logs that were named, print, tell remarks, write JSON."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ingest.read import read_logs
from ingest.reading import Reading
from ingest.together import remarks_on
from model.errors import Unusable, printable
from model.log import Log
from model.names import Names, shipped
from model.remark import Kind, Remark
from model.times import Zone
from plimsoll.files import expand, write_text

STDOUT = Path("-")
_MOST_REMARKS = 20


@dataclass(frozen=True)
class Named:
    """Which logs to read, and how, as typed."""

    paths: tuple[Path, ...]
    zone: str | None = None
    format: str | None = None
    encoding: str | None = None
    names: tuple[Path, ...] = ()

    @property
    def shown_in(self) -> Zone | None:
        """The zone asked for."""
        return Zone.parse(self.zone) if self.zone else None


def read(named: Named) -> tuple[list[Log], list[Remark]]:
    """The logs that were named, and what is to be said of them together. Unusable if there is none."""
    names = Names(named.names) if named.names else shipped()
    how = Reading(named.shown_in, named.format, named.encoding, names)
    logs: list[Log] = []
    remarks: list[Remark] = []
    for path, in_a_folder in expand(named.paths):
        try:
            found, said = read_logs(path, how)
        except Unusable as error:
            if not in_a_folder:
                raise
            remarks.append(Remark(Kind.SKIPPED, str(error)))
        else:
            logs += found
            remarks += said
    if not logs:
        tell(remarks)
        raise Unusable(f"{', '.join(str(path) for path in named.paths)}: no log in it could be read")
    return logs, [*remarks, *remarks_on(logs)]


def spare(logs: Sequence[Log], *outputs: Path | None) -> None:
    """Unusable if an output would take the place of a log that was read."""
    inputs = {(log.file or log.path).resolve() for log in logs}
    for output in outputs:
        if output is not None and output.resolve() in inputs:
            raise Unusable(f"{output}: is one of the logs; name another file to write to")


def say(text: str) -> None:
    """A line of a result, in rich's markup, on stdout."""
    for line in text.split("\n"):
        stdout().print(printable(line), soft_wrap=True, highlight=False)


def stdout() -> Console:
    """The console results go to. Names of strangers are shown as they are: `:cd:` is no picture of a disc."""
    return Console(emoji=False)


def tell(remarks: Sequence[Remark]) -> None:
    """Remarks go to stderr, the first twenty of them; the report and the JSON hold all."""
    console = Console(stderr=True, emoji=False)
    for remark in remarks[:_MOST_REMARKS]:
        console.print(f"remark: {remark}", soft_wrap=True, highlight=False, markup=False, style="dim")
    if (more := len(remarks) - _MOST_REMARKS) > 0:
        console.print(f"remark: {more} more; --json has them all", soft_wrap=True, highlight=False, style="dim")


def write_json(path: Path, text: str) -> None:
    """Write JSON to a file, or to stdout where the path is `-`."""
    if path == STDOUT:
        # JSON is UTF-8 whatever the console's code page.
        sys.stdout.flush()
        sys.stdout.buffer.write((text + "\n").encode())
    else:
        write_text(path, text + "\n")
