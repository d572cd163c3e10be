"""The runs that are being read, reviewed and compared: one worker process at a time, the others wait their turn."""

import json
import logging
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from plimsoll.rules.load import Catalogue

_MOST_DONE = 200  # that are remembered
_COMMAND = (sys.executable, "-P", "-m", "plimsoll.pages.review_jobs.worker")  # -P: not from the current folder
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Upload:
    """Logs that were uploaded: a folder that has them as `0`, `1` and so on, and what people said of them.

    `names` are what the sender called the files: they are shown, and never used as paths.
    """

    folder: Path
    names: tuple[str, ...]
    run: str
    labels: tuple[tuple[str, str], ...] = ()
    zone: str = ""
    merge: bool = False

    def path(self, number: int) -> Path:
        """Return the path of a file by its number."""
        return self.folder / str(number)


@dataclass(frozen=True)
class ReviewSetup:
    """How reviews and comparisons are made: `rules` is a hash of the catalogue, `data` the server's data folder."""

    data: Path
    catalogue: Catalogue
    rules: str


@dataclass(frozen=True)
class ToReview:
    """A run to review. `run` is in the store, unless it is an upload. `review` is the id to keep the review by."""

    setup: ReviewSetup
    run: str
    review: str
    upload: Upload | None = None


@dataclass(frozen=True)
class ToCompare:
    """Stored runs to compare with the first, and the id to keep the comparison by."""

    setup: ReviewSetup
    runs: tuple[str, ...]
    comparison: str


Task = ToReview | ToCompare


class Stage(StrEnum):
    """What is done with a run."""

    WAITING = "waiting"
    READING = "reading"
    REVIEWING = "reviewing"
    COMPARING = "comparing"
    STORING = "storing"
    DONE = "done"
    FAILED = "failed"


_STAGES = {
    Stage.READING: "Reading the logs",
    Stage.REVIEWING: "Reviewing",
    Stage.COMPARING: "Comparing",
    Stage.STORING: "Storing the values",
    Stage.DONE: "Done",
    Stage.FAILED: "Failed",
}


@dataclass
class Job:
    """A task, and how far it is: `done` of `total` files or values where that is known.

    `run` is the name of the run, or of those that are compared, `remarks` what was skipped, repaired or guessed,
    `error` why there is no review, `refused` why the run is not in the store although there is a review, `hint` what
    to do about it, `reviewed` the id of the review or comparison, `stored` what was stored.
    """

    id: str
    run: str
    stage: Stage = Stage.WAITING
    done: int = 0
    total: int = 0
    remarks: list[str] = field(default_factory=list[str])
    error: str = ""
    refused: str = ""
    hint: str = ""
    reviewed: str = ""
    stored: str = ""
    storing_remarks: list[str] = field(default_factory=list[str])

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens."""
        return self.stage in (Stage.DONE, Stage.FAILED)

    @property
    def share(self) -> float | None:
        """How much of the stage is done, if that is known."""
        return self.done / self.total if self.total else None


class Jobs:
    """Performs tasks in the order in which they came. `ended` is called after each, in a thread."""

    def __init__(self, ended: Callable[[Job], None]) -> None:
        self._ended = ended
        self._jobs: dict[str, Job] = {}
        self._tasks: deque[tuple[Job, Task]] = deque()
        self._changed = Condition()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: Thread | None = None
        self._stopped = False

    def add(self, job: Job, task: Task) -> None:
        """Have a task performed, unless a job of the same id is not done yet."""
        with self._changed:
            current = self._jobs.get(job.id)
            if current and not current.has_ended:
                return
            self._jobs[job.id] = job
            self._tasks.append((job, task))
            over = [job.id for job in self._jobs.values() if job.has_ended]
            for old in over[: max(0, len(self._jobs) - _MOST_DONE)]:
                del self._jobs[old]
            if self._thread is None and not self._stopped:
                self._thread = Thread(target=self._run, name="reviews", daemon=True)
                self._thread.start()
            self._changed.notify()

    def find(self, id_: str) -> Job | None:
        """Return the job of an id; None if there is none."""
        return self._jobs.get(id_)

    def forget(self, id_: str) -> None:
        """Let a task that has ended be performed again."""
        with self._changed:
            if (job := self._jobs.get(id_)) and job.has_ended:
                del self._jobs[id_]

    @property
    def comparing(self) -> int:
        """How many comparisons wait."""
        with self._changed:
            return sum(isinstance(task, ToCompare) for _, task in self._tasks)

    def describe(self, job: Job) -> str:
        """Return what is being done: `Storing the values`, `Waiting: 2 others come first`."""
        if job.stage is not Stage.WAITING:
            return _STAGES[job.stage]
        before = self._count_before(job)
        return f"Waiting: {before} {'other comes' if before == 1 else 'others come'} first" if before else "Waiting"

    def _count_before(self, job: Job) -> int:
        with self._changed:
            waiting = [job.id for job, _ in self._tasks]
            running = any(not job.has_ended and job.id not in waiting for job in self._jobs.values())
        return waiting.index(job.id) + running if job.id in waiting else 0

    def cancel(self, id_: str) -> Job | None:
        """End a job: it fails. The job; None if there was nothing to end."""
        with self._changed:
            job = self._jobs.get(id_)
            waiting = next((task for task in self._tasks if task[0].id == id_), None)
            if waiting:
                self._tasks.remove(waiting)
                self._fail(waiting[0], "It was stopped before its turn came.")
                return waiting[0]
            if job and not job.has_ended and self._process:
                job.error = "It was stopped."
                self._process.kill()
                return job
            return None

    def stop(self) -> None:
        """End the worker, and let no other begin."""
        with self._changed:
            self._stopped = True
            if self._process:
                self._process.kill()
            self._changed.notify()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        """Perform tasks, each in a new worker process, until `stop`."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._tasks or self._stopped)
                if self._stopped:
                    return
                job, task = self._tasks.popleft()
                # Within the lock, so that `stop` finds every process there is.
                self._process = process = _start_worker()
                job.stage = Stage.READING
            with suppress(BrokenPipeError), process:
                try:
                    self._perform(job, task, process)
                except Exception:  # the next ones must have their turn
                    _log.exception("reviewing failed")
                    self._fail(job, "It met a defect of Plimsoll; see the log of plimsoll up.")
                process.kill()

    def _perform(self, job: Job, task: Task, process: "subprocess.Popen[bytes]") -> None:
        """Give a task to a worker, and update its job by what the worker reports until it ends."""
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(pickle.dumps(task))
            process.stdin.flush()
        for line in process.stdout:
            _update(job, json.loads(line))
        status = process.wait()
        if job.error or status or not job.reviewed:
            self._fail(job, job.error or self._why(status))
            return
        self._finish(job, Stage.DONE)

    def _why(self, status: int) -> str:
        if self._stopped:
            return "plimsoll up was stopped before it was done."
        if status < 0 or (os.name == "nt" and status):
            return (
                f"The process that read it was ended by the system (signal {-status}). If the memory of this computer "
                "was used up, upload fewer logs at a time."
            )
        return "The process that read it ended with a defect of Plimsoll; see the log of plimsoll up."

    def _fail(self, job: Job, why: str) -> None:
        job.error = why
        self._finish(job, Stage.FAILED)

    def _finish(self, job: Job, stage: Stage) -> None:
        self._process = None
        job.stage = stage
        self._ended(job)


def _update(job: Job, report: dict[str, Any]) -> None:
    """Set the fields of a job that the worker reports."""
    job.remarks += report.pop("remarks", [])
    for name, value in report.items():
        setattr(job, name, Stage(value) if name == "stage" else value)


def _start_worker(command: Sequence[str] = _COMMAND) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
