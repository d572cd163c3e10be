"""The stored reviews and comparisons of runs, in the folder `reviews` of the data folder.

Reviews and comparisons have a report and a JSON document; reviews also have a summary and the means of signals.
"""

import hashlib
import math
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from plimsoll.comparison.hosts import Key
from plimsoll.comparison.trend import RunMeans
from plimsoll.model.atomic import write_atomically
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject
from plimsoll.store.protocol import RunSummary

_FOLDER = "reviews"
_DAY = 86_400 * SECOND
REPORT, _SHORT, _MEANS, DOCUMENT = _KINDS = "html", "json", "means", "document"
_KEPT_DAYS = 30  # for comparisons, and reviews of runs that are not in the store
_MOST_OTHERS = 200  # comparisons, and reviews of runs that are not in the store
_Model = TypeVar("_Model", bound=BaseModel)


class _KeptModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, serialize_by_alias=True)


class ReviewOrigin(_KeptModel):
    """The version of Plimsoll and the hash of the rules that made a review, and the time of the review (UTC ns)."""

    version: str
    rules: str
    at: int


class Crossed(_KeptModel):
    """A signal that is crossed on a host or instance, with a sentence on the worst finding about it."""

    signal: str
    title: str
    host: str
    instance: str | None
    severity: str
    sentence: str


class KeptMean(_KeptModel):
    """The mean of a signal of a host or instance, in the unit of the signal."""

    signal: str
    host: str
    instance: str | None
    service: bool
    mean: FiniteFloat


class KeptMeans(_KeptModel):
    """The means of a run's signals, as stored. `start` is the begin of the run (UTC ns).

    `load` is the name and mean of the signal that counts operations; None if the run has no such signal.
    """

    run: str
    start: int | None
    means: tuple[KeptMean, ...]
    load: tuple[str, FiniteFloat] | None

    @classmethod
    def of(cls, run_means: RunMeans) -> "KeptMeans":
        """Return the means of a run for storage, without NaN and infinite values."""
        means = tuple(
            KeptMean(signal=key[0], host=on.host, instance=on.instance, service=on.service, mean=run_means.means[key])
            for key, (_, on) in run_means.subjects.items()
            if math.isfinite(run_means.means[key])
        )
        return cls(run=run_means.name, start=run_means.start, means=means, load=run_means.load)

    def run_means(self, signals: Mapping[str, Signal]) -> RunMeans:
        """Return these means as RunMeans, without signals that are no longer in the catalogue."""
        means: dict[tuple[str, Key], float] = {}
        subjects: dict[tuple[str, Key], tuple[Signal, Subject]] = {}
        for mean in self.means:
            if mean.signal in signals:
                subject = Subject(mean.host, mean.instance, mean.service)
                means[mean.signal, subject.key] = mean.mean
                subjects[mean.signal, subject.key] = signals[mean.signal], subject
        return RunMeans(self.run, self.start, means, subjects, self.load)


class KeptReview(_KeptModel):
    """The summary of a review.

    `severity` is the highest severity of a crossed limit, or empty; `cause` names the resource that ran short.
    """

    run: str
    made_with: ReviewOrigin = Field(validation_alias="made", serialization_alias="made")
    verdict: str
    severity: str
    word: str
    answer: str
    crossed: tuple[Crossed, ...]
    cause: str = ""


def review_id(run: RunSummary) -> str:
    """Return the id of the review of a stored run, which changes when the run is stored again."""
    return _hash(run.name, str(run.generation))


def make_comparison_id(runs: Sequence[RunSummary], made_with: str) -> str:
    """Return the id of a comparison of runs, the baseline first; `made_with` names version and rules."""
    return _hash(made_with, *map(review_id, runs))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class KeptReviews:
    """The stored reviews and comparisons in a data folder, by id."""

    def __init__(self, data: Path) -> None:
        self._folder = data / _FOLDER

    def save(self, id_: str, report: str, document: str, means: KeptMeans, kept: KeptReview) -> None:
        """Store a review. The summary `kept` is written last, so that `find` does not return incomplete reviews."""
        self.save_report(id_, report, document)
        self._write(id_, _MEANS, means.model_dump_json())
        self._write(id_, _SHORT, kept.model_dump_json())

    def save_report(self, id_: str, report: str, document: str) -> None:
        """Store the report and the document of a review or comparison."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._write(id_, DOCUMENT, document)
        self._write(id_, REPORT, report)

    def rename(self, id_: str, to: str) -> None:
        """Change the id of a review to `to`, and replace a review that has this id already."""
        for kind in _KINDS:
            self._make_path(id_, kind).replace(self._make_path(to, kind))

    def find(self, id_: str) -> KeptReview | None:
        """Return the summary of a review; None if it is missing, or written by an incompatible version."""
        return self._read(id_, _SHORT, KeptReview)

    def has_means(self, id_: str) -> bool:
        """Return whether the means of a run's signals are stored."""
        return self._make_path(id_, _MEANS).is_file()

    def means(self, id_: str) -> KeptMeans | None:
        """Return the means of a run's signals; None if missing, or written by an incompatible version."""
        return self._read(id_, _MEANS, KeptMeans)

    def text(self, id_: str, kind: str) -> str | None:
        """Return the report (`REPORT`) or the JSON document (`DOCUMENT`) of a review or comparison; None if missing."""
        with suppress(OSError):
            return self._make_path(id_, kind).read_text("utf-8")
        return None

    def tidy(self, runs: Collection[RunSummary]) -> None:
        """Remove old comparisons, and old reviews of runs that are not in the store (`runs`).

        The latest 200 of these comparisons and reviews stay, unless they are older than 30 days.
        """
        kept = {review_id(run) for run in runs}
        newest: dict[str, int] = {}
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            id_ = path.name.partition(".")[0]
            if id_ not in kept:
                newest[id_] = max(path.stat().st_mtime_ns, newest.get(id_, 0))
        latest_first = sorted(newest, key=lambda name: -newest[name])
        oldest = time.time_ns() - _KEPT_DAYS * _DAY
        for at, id_ in enumerate(latest_first):
            if at >= _MOST_OTHERS or newest[id_] < oldest:
                for path in self._folder.glob(f"{id_}.*"):
                    path.unlink(missing_ok=True)

    def remove(self, id_: str) -> None:
        """Remove a review."""
        for kind in reversed(_KINDS):
            self._make_path(id_, kind).unlink(missing_ok=True)

    def _write(self, id_: str, kind: str, text: str) -> None:
        with write_atomically(self._make_path(id_, kind)) as partial:
            partial.write_text(text, "utf-8")

    def _make_path(self, id_: str, kind: str) -> Path:
        if not id_.isalnum():
            raise ValueError(f"{id_} is no id of a review")
        return self._folder / f"{id_}.{kind}"

    def _read(self, id_: str, kind: str, model: type[_Model]) -> _Model | None:
        try:
            return model.model_validate_json(self._make_path(id_, kind).read_bytes())
        except (OSError, ValidationError):
            return None
