"""Hosts that did nothing for long between two times of steady work: nobody asked, or they did not answer."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from plimsoll.model.remark import counted
from plimsoll.model.run import Planned
from plimsoll.model.samples import Samples
from plimsoll.model.times import duration_text
from plimsoll.review.doubts import LEAST_SHARE_ABSENT, SHORTEST_ABSENCE, Doubt
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.sentences import titled
from plimsoll.rules.schema.signal import Signal

# Our choice: the samples beside the stop that may be 0. Of work that comes now and then more are.
_MOST_IDLE = 0.01
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
            begin, end = stop
            if any(not one.rules and one.start <= end and one.end >= begin for one in planned):
                continue
            text = f"{titled(signal.title, subject)} stopped for {duration_text(end - begin)}"
            told[subject.host] = max(told.get(subject.host, (0, "")), (end - begin, text))
    if told:
        _, longest = max(told.values())
        more = f", and so did {counted(len(told) - 1, 'more host')}" if len(told) > 1 else ""
        yield Doubt(f"{longest} in the middle of steady work{more}", _CHECK)


def _stop(there: Samples) -> tuple[int, int] | None:
    """From the last sample of work to the next one (UTC ns), of the longest stop; None if there is none that counts."""
    busy = np.flatnonzero(there.values > 0)
    if len(busy) < _LEAST_SAMPLES:
        return None
    steps = np.diff(there.times[busy])
    at = int(steps.argmax())
    begin, end = int(there.times[busy[at]]), int(there.times[busy[at + 1]])
    between = int(busy[at + 1] - busy[at]) - 1
    idle = int(busy[-1] - busy[0]) + 1 - len(busy) - between
    long = end - begin > max(SHORTEST_ABSENCE, LEAST_SHARE_ABSENT * int(there.times[busy[-1]] - there.times[busy[0]]))
    steady = idle <= _MOST_IDLE * len(busy)
    return (begin, end) if between and long and steady else None
