"""The reviews of stored runs and uploads: finished, being made, or outdated."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from threading import Lock

from plimsoll.comparison.signal_settings import check_settings
from plimsoll.comparison.trend import HistoryTrend, compute_history_trend
from plimsoll.hosts import settings
from plimsoll.pages.review_jobs.jobs import Job, Jobs, ReviewSetup, ToCompare, ToReview, Upload
from plimsoll.pages.review_jobs.kept_reviews import (
    DOCUMENT,
    REPORT,
    KeptReview,
    KeptReviews,
    make_comparison_id,
    review_id,
)
from plimsoll.pages.review_jobs.upload_records import Record, UploadRecords
from plimsoll.store.protocol import RunSummary
from plimsoll.up.watched import Watched

_MOST_AT_ONCE = 20
_MOST_COMPARISONS = 20  # in the queue, as requests can ask for very many


class TooManyComparisons(Exception):
    """The error that a comparison is refused because too many are queued."""


@dataclass(frozen=True)
class RunReview:
    """A stored run. `kept` is its stored review and `job` makes a new review; either can be None.

    `outdated` says how the review's version or rules differ from the current ones; empty if they do not.
    `has_means` means that the means of the run's signals are stored.
    """

    run: RunSummary
    id: str
    kept: KeptReview | None
    job: Job | None
    outdated: str = ""
    has_means: bool = False

    @property
    def is_underway(self) -> bool:
        """Whether a review is being made."""
        return self.job is not None and not self.job.has_ended

    @property
    def has_failed(self) -> bool:
        """Whether the last attempt to review the run failed."""
        return self.job is not None and bool(self.job.error)


class RunReviews:
    """Finds the stored reviews of runs, and has missing reviews made by a worker process."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._setup = ReviewSetup(watched.folder, watched.site.catalogue, watched.site.catalogue.digest)
        self.kept = KeptReviews(watched.folder)
        self.uploads = UploadRecords(watched.folder)
        self.uploads.clear_leftovers()
        self._arrived: dict[str, Record] = {}
        self._judging = Lock()
        self._trend: tuple[tuple[str, ...], HistoryTrend] | None = None
        self.jobs = Jobs(self._finish_job)
        watched.closing.callback(self.jobs.stop)

    def runs(self) -> list[RunReview]:
        """Return all runs of the store, the latest first."""
        return [*map(self._find_review, self._watched.store.runs.summaries())]

    def find(self, name: str) -> RunReview | None:
        """Return the stored run with a name; None if there is no such run."""
        runs = self._watched.store.runs.summaries()
        return next((self._find_review(run) for run in runs if run.name == name), None)

    def make(self, review: RunReview) -> RunReview:
        """Queue the review of a run; return the same run with the job."""
        name = review.run.name
        self.jobs.add(Job(review.id, name), ToReview(self._setup, name, review.id))
        return replace(review, job=self.jobs.find(review.id))

    def make_missing(self, runs: Sequence[RunReview]) -> list[RunReview]:
        """Queue reviews of the latest runs that have none; return all of `runs`, with the new jobs."""
        missing = [run.id for run in runs if run.run.complete and not run.kept and not run.job][:_MOST_AT_ONCE]
        return [self.make(run) if run.id in missing else run for run in runs]

    def trend(self, runs: Sequence[RunReview]) -> HistoryTrend:
        """Return where signals changed over `runs`, which are in order of time and have stored means."""
        key = tuple(run.id for run in runs)
        with self._judging:
            if self._trend is None or self._trend[0] != key:
                signals = self._setup.catalogue.signals
                means = [kept.run_means(signals) for name in key if (kept := self.kept.means(name))]
                latest = self._watched.store.runs.get(runs[-1].run.name)
                path = Path(settings.FILE_NAME)
                parsed = settings.parse((latest.settings if latest else "") or "", path)
                self._trend = key, compute_history_trend(means, check_settings(parsed.compare, path, signals))
            return self._trend[1]

    def accept(self, upload: Upload, size: int) -> Job:
        """Queue an upload of `size` bytes to be read, reviewed and stored; return its job."""
        job = Job(upload.folder.name, upload.run)
        record = self._arrived[job.id] = Record(time.time_ns(), upload.names, size, job)
        self.uploads.save(record)
        self.jobs.add(job, ToReview(self._setup, upload.run, job.id, upload))
        return job

    def compare(self, runs: Sequence[RunReview], *, document: bool = False, capacity: bool = False) -> str | Job:
        """Return the comparison of runs with the first run: its report (or JSON `document`), or the job that makes it.

        With `capacity`, return the document on the capacity that the runs show. Raise TooManyComparisons if the queue
        is full.
        """
        kind = "capacity " if capacity else ""
        id_ = make_comparison_id([review.run for review in runs], f"{kind}{version('plimsoll')} {self._setup.rules}")
        text = self.kept.text(id_, DOCUMENT if document else REPORT)
        if text:
            return text
        names = tuple(review.run.name for review in runs)
        job = self.jobs.find(id_)
        if job is None:
            if self.jobs.comparing >= _MOST_COMPARISONS:
                raise TooManyComparisons
            job = Job(id_, " and ".join(names))
            self.jobs.add(job, ToCompare(self._setup, names, id_, capacity))
        self.jobs.forget(id_)  # a failed comparison is tried again when the page is reopened
        return job

    def upload(self, id_: str) -> Record | None:
        """Return the record of an upload; None if there is no such upload."""
        return self._arrived.get(id_) or self.uploads.find(id_)

    def to_show(self) -> list[Record]:
        """Return the records of uploads whose run was not stored (yet), the latest first."""
        records = (self._arrived.get(record.job.id, record) for record in self.uploads.all())
        return [record for record in records if not record.job.stored]

    def forget_upload(self, id_: str) -> Record | None:
        """Remove an upload's record and the review under the upload's id; return the record.

        Return None if there is no such upload, or if it has not ended.
        """
        record = self.upload(id_)
        if record is None or not record.job.has_ended:
            return None
        self.uploads.forget(id_)
        self.kept.remove(id_)
        return record

    def _find_review(self, run: RunSummary) -> RunReview:
        id_ = review_id(run)
        kept = self.kept.find(id_)
        outdated = ""
        if kept and kept.made_with.version != version("plimsoll"):
            outdated = "with another version of Plimsoll"
        elif kept and kept.made_with.rules != self._setup.rules:
            outdated = "with other rules"
        return RunReview(run, id_, kept, self.jobs.find(id_), outdated, kept is not None and self.kept.has_means(id_))

    def _finish_job(self, job: Job) -> None:
        record = self._arrived.get(job.id)
        if record:
            self.uploads.save(record)
            self.uploads.remove_files(job.id)
            del self._arrived[job.id]
        self.kept.tidy(self._watched.store.runs.summaries())
