"""The means of a run's signals, kept beside its review: a series of runs is judged without reading them again."""

import math
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, FiniteFloat

from plimsoll.comparison.hosts import Key
from plimsoll.comparison.trend import RunMeans
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeptMean(_Strict):
    """The mean of a signal of a host or instance, in the unit of the signal."""

    signal: str
    host: str
    instance: str | None
    service: bool
    mean: FiniteFloat


class KeptMeans(_Strict):
    """What RunMeans has of a run. `start` is UTC ns; `load` the name of what counts operations, and its mean."""

    run: str
    start: int | None
    means: tuple[KeptMean, ...]
    load: tuple[str, FiniteFloat] | None

    @classmethod
    def of(cls, found: RunMeans) -> "KeptMeans":
        """The means of a run."""
        subjects = {key: subject for key, (_, subject) in found.subjects.items()}
        means = [
            KeptMean(signal=key[0], host=one.host, instance=one.instance, service=one.service, mean=found.means[key])
            for key, one in subjects.items()
            if math.isfinite(found.means[key])
        ]
        return cls(run=found.name, start=found.start, means=tuple(means), load=found.load)

    def run_means(self, signals: Mapping[str, Signal]) -> RunMeans:
        """As they were; without signals that are not known any more."""
        means: dict[tuple[str, Key], float] = {}
        subjects: dict[tuple[str, Key], tuple[Signal, Subject]] = {}
        for one in self.means:
            if one.signal in signals:
                subject = Subject(one.host, one.instance, one.service)
                means[one.signal, subject.key] = one.mean
                subjects[one.signal, subject.key] = signals[one.signal], subject
        return RunMeans(self.run, self.start, means, subjects, self.load)
