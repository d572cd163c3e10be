"""Separates the runs in one results file, to which a load driver appends each run."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from plimsoll.model.log import Log, Times
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, format_count
from plimsoll.model.series import LOAD_DRIVER
from plimsoll.model.times import SECOND, format_duration

# Our choice: a driver that pauses for this long, and for longer than it worked before and afterwards, was started
# again. A running driver keeps sending requests even while the system is down.
_SHORTEST_PAUSE = 3600 * SECOND


def run_starts(start: Times, end: Times) -> list[int]:
    """Return the index at which each run but the first begins; a pause between two runs is longer than either run.

    `start` are the times of requests (UTC ns, ascending), `end` the times at which all requests begun so far were done.
    """
    candidates = (np.flatnonzero(start[1:] - end[:-1] > _SHORTEST_PAUSE) + 1).tolist()
    edges = [0, *candidates, len(start)]
    lengths = [int(end[last - 1] - start[first]) for first, last in pairwise(edges)]
    return [
        at
        for at, before, after in zip(candidates, lengths, lengths[1:], strict=False)
        if start[at] - end[at - 1] > max(before, after)
    ]


def choose_runs(logs: Sequence[Log]) -> tuple[list[Log], list[Remark]]:
    """Return the logs, with logs of load drivers cut to one run, and remarks on the other runs.

    The chosen run is the one recorded with the counters, or without counters the newest. A run shorter than a tenth of
    the longest was a trial, and does not count as the newest.
    """
    counters = [log for log in logs if not _is_of_driver(log) and len(log.times)]
    first = min((int(log.times[0]) for log in counters), default=None)
    last = max((int(log.times[-1]) for log in counters), default=0)
    chosen: list[Log] = []
    remarks: list[Remark] = []
    for log in logs:
        if not (_is_of_driver(log) and len(log.times)):
            chosen.append(log)
            continue
        edges = [0, *run_starts(log.times, log.times), len(log.times)]
        runs = [log.rows(start, end) for start, end in pairwise(edges)]
        most = max(len(run.times) for run in runs)
        run = next(run for run in reversed(runs) if len(run.times) >= most / 10)
        if first is not None:
            run = max(reversed(runs), key=lambda run: min(int(run.times[-1]), last) - max(int(run.times[0]), first))
        if len(runs) > 1:
            remarks.append(_make_remark(log, runs, run, newest=first is None))
        chosen.append(run)
    return chosen, remarks


def _is_of_driver(log: Log) -> bool:
    return any(series.measurement in LOAD_DRIVER for series in log.series)


def _make_remark(log: Log, runs: Sequence[Log], run: Log, *, newest: bool) -> Remark:
    def span(of_run: Log) -> str:
        start = log.zone.clock(int(of_run.times[0]))
        return f"{start} for {format_duration(int(of_run.times[-1] - of_run.times[0]))}"

    why = "the newest" if newest else "recorded with the counters"
    other_runs = [other for other in runs if other is not run]
    shown = "; ".join(span(other) for other in other_runs[-3:])
    text = f"holds {format_count(len(runs), 'run')}: that from {span(run)}, {why}, is judged; "
    name = f"name the time of another with {Parameter.FROM} and {Parameter.TO} ({shown})"
    return Remark(Kind.NOTED, text + name, file=str(log.path))
