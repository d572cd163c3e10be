"""`plimsoll.read`: the samples of logs as polars frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import polars as pl

from plimsoll.api import inputs
from plimsoll.ingest.convert.convert import LogSelection, build_frame
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Remark
from plimsoll.model.time_arguments import TimeRange


@dataclass(frozen=True)
class ReadLogs:
    """The result of reading logs: the logs, and remarks on what was skipped, repaired or guessed."""

    logs: tuple[Log, ...]
    remarks: tuple[Remark, ...]

    @cached_property
    def frames(self) -> tuple[pl.DataFrame, ...]:
        r"""A frame for each log, with `time` (UTC, ns) and a Float64 column for each counter.

        The name of a column is the counter's path, such as `\\WEB1\Processor(_Total)\% Processor Time`; null marks a
        missing sample.
        """
        return tuple(map(build_frame, self.logs))

    @property
    def frame(self) -> pl.DataFrame:
        """The frame of the only log, as in `frames`. Raise Unusable if there are several logs."""
        if len(self.logs) > 1:
            names = ", ".join(str(log.path) for log in self.logs)
            raise Unusable(f"{names}: are {len(self.logs)} logs, each with times of its own: use frames")
        return self.frames[0]


def read(
    *logs: str | PathLike[str],
    counters: Sequence[str] = (),
    from_: str | None = None,
    to: str | None = None,
    last: str | None = None,
    zone: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    names: Sequence[str | PathLike[str]] = (),
    store: str | None = None,
) -> ReadLogs:
    r"""Read logs: files, folders or archives of them, `run:NAME` or `live:HOST`.

    The arguments are the options of `plimsoll show` and `convert`: `counters` keeps the counters whose path matches a
    pattern, in which `*` stands for any text (`Processor(*)\*`); `from_`, `to` and `last` select a time range
    (`"10:22"`, `"15m"`).

    Raises:
        Unusable: No log can be read, or a log has nothing that matches. The error's text says where, and what to do;
            its notes are the remarks on the files.
        Unreachable: The store does not answer.
    """
    when = TimeRange(from_, to, last)
    named = inputs.name_inputs(logs, when, zone, format, encoding, names, store)
    files = inputs.read(named)
    kept: list[Log] = []
    for log in files.logs:
        start = end = None
        shown = named.requested_zone or log.zone
        if not named.is_part and len(log.times):  # of live hosts only that part was read
            start, end = when.resolve(shown, int(log.times[0]), int(log.times[-1]), "the log ends at")
        kept.append(LogSelection(counters, start, end, 1, shown).of(log))
    remarks = [*(remark for log in files.logs for remark in log.remarks), *files.remarks]
    return ReadLogs(tuple(kept), tuple(remarks))
