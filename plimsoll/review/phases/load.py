"""The load a run was under: operations done, connections held, bytes moved, summed over its hosts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import get_args

import numpy as np

from plimsoll.analysis.levels.plateaus import Plateau, plateaus
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.rules.schema import field_types
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_FALLBACK = "cpu.busy"
_MOVED = ("network.sent", "network.received")
_COVERED = 0.8  # our choice: subjects recorded for less of the time are left out of the sum


@dataclass(frozen=True, eq=False)
class Load:
    """One load signal of a run.

    `kind` is None for processor time, which stands in where no load was recorded. `samples` are the sum over the
    `subjects`, or their mean if the unit is %.
    """

    kind: field_types.Load | None
    name: str
    signal: Signal
    subjects: tuple[Subject, ...]
    samples: Samples

    @cached_property
    def plateaus(self) -> tuple[Plateau, ...]:
        """Its levels, if it was stepped.

        Bytes and processor time rise for many reasons, so theirs must be stairs: up, down, or both.
        """
        levels = plateaus(self.samples)
        is_clear = self.kind in ("connections", "operations") or _turns([plateau.level for plateau in levels]) <= 1
        return levels if is_clear else ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts it is summed over."""
        return tuple(dict.fromkeys(subject.host for subject in self.subjects))


def loads(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> tuple[Load, ...]:
    """Return the load signals of a run, those that tell most of it first: operations, connections, bytes.

    Of one kind the one with the highest mean is first. A run without any has its processor time instead; empty
    without that as well.
    """
    candidates = list(_of(recorded, {name: signal for name, signal in signals.items() if signal.load}))
    kinds = [None, *get_args(field_types.Load)]
    candidates.sort(key=lambda load: (kinds.index(load.kind), -float(load.samples.present.values.mean())))
    return tuple(candidates or _of(recorded, {_FALLBACK: signals[_FALLBACK]} if _FALLBACK in signals else {}))


def moved(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> tuple[Load, ...]:
    """Bytes sent and bytes received, which tell of the load where nothing else does."""
    candidates = _of(recorded, {name: signals[name] for name in _MOVED if name in signals})
    return tuple(replace(load, kind="bytes") for load in candidates)


def _of(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> Iterator[Load]:
    for name, signal in signals.items():
        if by_subject := recorded.of(name):
            subjects, samples = together(by_subject, mean=signal.unit == "%")
            if len(samples.present.times) and samples.present.values.any():
                yield Load(signal.load, name, signal, subjects, samples)


def together(entries: Mapping[Subject, Samples], *, mean: bool = False) -> tuple[tuple[Subject, ...], Samples]:
    """Return the sum (or mean) of several series over steps of the longest sampling interval.

    A step in which one of them has no sample has none. Those with samples in less than 80 % of the steps are left out,
    unless all are: then the one with the most samples stands alone.
    """
    if len(entries) == 1:
        [(subject, samples)] = entries.items()
        return (subject,), samples
    present = {subject: samples.present for subject, samples in entries.items()}
    step = max((samples.interval or 0 for samples in entries.values()), default=0)
    if not step:
        subject = max(present, key=lambda subject: len(present[subject].times))
        return (subject,), entries[subject]
    start = min(int(samples.times[0]) for samples in present.values())
    rows = max((int(samples.times[-1]) - start) // step for samples in present.values()) + 1
    means = {subject: means_on_grid(samples, start, step, rows) for subject, samples in present.items()}
    covered = {subject: float(np.isfinite(values).mean()) for subject, values in means.items()}
    chosen = [subject for subject, share in covered.items() if share >= _COVERED]
    chosen = chosen or [max(covered, key=lambda subject: covered[subject])]
    stacked = np.array([means[subject] for subject in chosen])
    times = start + np.arange(rows, dtype=np.int64) * step
    return tuple(chosen), Samples(times, stacked.mean(axis=0) if mean else stacked.sum(axis=0))


def means_on_grid(samples: Samples, start: int, step: int, rows: int) -> Values:
    """Return the mean of the samples in each of `rows` steps (ns) from `start` (UTC ns) on; NaN without any."""
    at = (samples.times - start) // step
    counts = np.bincount(at, minlength=rows)
    sums = np.bincount(at, weights=samples.values, minlength=rows)
    return np.divide(sums, counts, out=np.full(rows, np.nan), where=counts > 0)


def _turns(levels: Sequence[float]) -> int:
    """Return how often levels turn from rising to falling or back, by changes of more than a tenth of their range."""
    tenth = 0.1 * float(np.ptp(levels)) if levels else 0.0
    rises = [other > level for level, other in pairwise(levels) if abs(other - level) > tenth]
    return sum(rise != other for rise, other in pairwise(rises))
