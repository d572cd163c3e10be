"""Reads the logs of a run from files."""

from collections.abc import Callable, Iterable, Sequence

from plimsoll.ingest.files.find_logs import LogFile
from plimsoll.ingest.found import Found
from plimsoll.ingest.read import read_logs, refusal
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.recordings import remarks_on
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Remark


class NothingRead(Unusable):
    """There is no log in the files. `remarks` say why, file by file."""

    def __init__(self, remarks: Sequence[Remark]) -> None:
        super().__init__("no log in it could be read")
        self.remarks = tuple(remarks)


def read_files(
    files: Iterable[LogFile], how: Reading, *, whole: bool = False, progress: Callable[[int], None] = lambda _: None
) -> Found:
    """Read the logs in files. `progress` is called with the number of files done.

    Unusable if a file that was named cannot be read, NothingRead if none can be.
    """
    logs: list[Log] = []
    empty: list[Log] = []
    remarks: list[Remark] = []
    refused: list[tuple[Unusable, LogFile]] = []
    for number, file in enumerate(files, 1):
        try:
            read_here, remarks_here = read_logs(file.path, how, file.name)
        except Unusable as error:
            if not file.in_folder:
                raise
            refused.append((error, file))
        else:
            logs += read_here
            remarks += remarks_here
            if not file.in_folder and len(read_here) == 1:
                empty += [log for log in read_here if not len(log.times)]
        progress(number)
    remarks += [refusal(error, file.shown, logs) for error, file in refused]
    if not logs:
        raise NothingRead(remarks)
    return Found(logs, [*remarks, *remarks_on(logs)], whole=whole, empty=tuple(empty))
