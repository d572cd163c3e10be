"""Hosts that did nothing for long between two times of steady work: nobody asked, or they did not answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.model.remark import counted
from plimsoll.model.run import Planned
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, duration_text
from plimsoll.review.doubts import Doubt, long_absence
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.sentences import titled
from plimsoll.rules.schema.signal import Signal

# Our choices. The share of samples beside the stop in which next to nothing is done; of work that comes now and then it
# is larger.
_MOST_IDLE = 0.01
_LEAST_WORK, _USUAL = 0.1, 0.9  # of the quantile that stands for what is usually done: below is next to none
_LONGEST_PARTLY = 1800 * SECOND  # little work for longer is a break or a night
_LEAST_SAMPLES = 20
_LOAD_DRIVER = "client."
_CHECK = "see whether the load paused or the system did not answer"


def work_stopped(
    recorded: RecordedSignals, signals: Mapping[str, Signal], planned: Sequence[Planned]
) -> Iterator[Doubt]:
    """Hosts whose steady operations stopped for long and went on; what was planned, or began or ended so, is none."""
    told: dict[str, tuple[int, str]] = {}
    for name, signal in signals.items():
        if signal.load != "operations" or name.startswith(_LOAD_DRIVER):
            continue
        for subject, samples in recorded.of(name).items():
            if (stop := _stop(samples.present)) is None:
                continue
            if any(not one.rules and one.start <= stop.end and one.end >= stop.begin for one in planned):
                continue
            length, did = stop.end - stop.begin, "stopped" if stop.is_whole else "all but stopped"
            text = f"{titled(signal.title, subject)} {did} for {duration_text(length)}"
            told[subject.host] = max(told.get(subject.host, (0, "")), (length, text))
    if told:
        _, longest = max(told.values())
        more = f", and so did {counted(len(told) - 1, 'more host')}" if len(told) > 1 else ""
        yield Doubt(f"{longest} in the middle of steady work{more}", _CHECK)


class _Stop(NamedTuple):
    """From the last sample of work to the next one (UTC ns), and whether nothing at all was done between."""

    begin: int
    end: int
    is_whole: bool


def _stop(there: Samples) -> _Stop | None:
    """The longest stop; None if there is none that counts."""
    usual = float(np.quantile(there.values, _USUAL)) if len(there.values) else 0.0
    busy = np.flatnonzero(there.values > _LEAST_WORK * usual)
    if len(busy) < _LEAST_SAMPLES:
        return None
    steps = np.diff(there.times[busy])
    at = int(steps.argmax())
    begin, end = int(there.times[busy[at]]), int(there.times[busy[at + 1]])
    between = int(busy[at + 1] - busy[at]) - 1
    idle = int(busy[-1] - busy[0]) + 1 - len(busy) - between
    long = end - begin > long_absence(int(there.times[busy[-1]] - there.times[busy[0]]))
    steady = idle <= _MOST_IDLE * len(busy)
    whole = not there.values[busy[at] + 1 : busy[at + 1]].any()
    counts = whole or end - begin <= _LONGEST_PARTLY
    return _Stop(begin, end, whole) if between and long and steady and counts else None
