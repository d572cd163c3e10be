"""The queue of runs to read, review and compare, processed by one worker process at a time."""

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

from plimsoll.rules.load import Catalogue

_MOST_DONE = 200  # jobs that have ended and are remembered
_COMMAND = (sys.executable, "-P", "-m", "plimsoll.pages.review_jobs.worker")  # -P: not from the current folder
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Upload:
    """Uploaded logs: the folder that contains them as files `0`, `1` and so on, and the fields of the upload form.

    `names` are the files' names on the sender's computer, which are shown but never used as paths.
    """

    folder: Path
    names: tuple[str, ...]
    run: str
    labels: tuple[tuple[str, str], ...] = ()
    zone: str = ""
    merge: bool = False


@dataclass(frozen=True)
class ReviewSetup:
    """What each review and comparison needs: the catalogue of rules and its hash (`rules`), and the data folder."""

    data: Path
    catalogue: Catalogue
    rules: str


@dataclass(frozen=True)
class ToReview:
    """A task: review a run that is stored, or that is in `upload`. `review` is the id that the review gets."""

    setup: ReviewSetup
    run: str
    review: str
    upload: Upload | None = None


@dataclass(frozen=True)
class ToCompare:
    """A task: compare stored runs by name, the baseline first, or find the `capacity` that they show.

    `comparison` is the id that the comparison or the capacity gets.
    """

    setup: ReviewSetup
    runs: tuple[str, ...]
    comparison: str
    capacity: bool = False


Task = ToReview | ToCompare


class Stage(StrEnum):
    """The stage of a job: waiting, the step that the worker performs, or how the job ended."""

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
    """The progress of a task: `done` of `total` files or values in the current stage; `total` is 0 if unknown.

    `id` is the id of the review, comparison or upload; `run` names the run or runs. `remarks` say what was skipped,
    repaired or guessed in the logs. `error` says why there is no review. `refused` says why the reviewed run was not
    stored, and `hint` what to do about it. `reviewed` is the id of the finished review or comparison. `stored` says
    how much of the run was stored, and `storing_remarks` what to know about it.
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
        """Whether the job is done or has failed."""
        return self.stage in (Stage.DONE, Stage.FAILED)

    @property
    def share(self) -> float | None:
        """The completed share of the current stage, from 0 to 1; None if unknown."""
        return self.done / self.total if self.total else None


class Jobs:
    """Performs tasks in the order in which they were added. `ended` is called in the jobs' thread after each task."""

    def __init__(self, ended: Callable[[Job], None]) -> None:
        self._ended = ended
        self._jobs: dict[str, Job] = {}
        self._tasks: deque[tuple[Job, Task]] = deque()
        self._changed = Condition()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: Thread | None = None
        self._stopped = False

    def add(self, job: Job, task: Task) -> None:
        """Queue a task, unless a job with the same id waits or runs."""
        with self._changed:
            if (earlier := self._jobs.get(job.id)) and not earlier.has_ended:
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
        """Return the job with an id; None if there is no such job."""
        return self._jobs.get(id_)

    def forget(self, id_: str) -> None:
        """Forget a job that has ended, so that its task can be added again."""
        with self._changed:
            if (job := self._jobs.get(id_)) and job.has_ended:
                del self._jobs[id_]

    @property
    def comparing(self) -> int:
        """The number of comparisons that wait in the queue."""
        with self._changed:
            return sum(isinstance(task, ToCompare) for _, task in self._tasks)

    def describe(self, job: Job) -> str:
        """Return the stage of a job as text: `Storing the values`, `Waiting: 2 others come first`."""
        if job.stage is not Stage.WAITING:
            return _STAGES[job.stage]
        with self._changed:
            waiting = [job.id for job, _ in self._tasks]
            running = any(not job.has_ended and job.id not in waiting for job in self._jobs.values())
        before = waiting.index(job.id) + running if job.id in waiting else 0
        return f"Waiting: {before} {'other comes' if before == 1 else 'others come'} first" if before else "Waiting"

    def cancel(self, id_: str) -> Job | None:
        """Cancel the job with an id if it waits or runs, and return it; else None. A cancelled job counts as failed."""
        with self._changed:
            job = self._jobs.get(id_)
            waiting = next((task for task in self._tasks if task[0].id == id_), None)
            if waiting:
                self._tasks.remove(waiting)
                self._finish(waiting[0], "It was stopped before its turn came.")
                return waiting[0]
            if job and not job.has_ended and self._process:
                job.error = "It was stopped."
                self._process.kill()
                return job
            return None

    def stop(self) -> None:
        """Kill the worker process, and start no further process."""
        with self._changed:
            self._stopped = True
            if self._process:
                self._process.kill()
            self._changed.notify()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        """Perform tasks, each in a new worker process, until `stop` is called."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._tasks or self._stopped)
                if self._stopped:
                    return
                job, task = self._tasks.popleft()
                # Within the lock, so that `stop` sees every process.
                self._process = process = _start_worker()
                job.stage = Stage.READING
            with suppress(BrokenPipeError), process:
                try:
                    self._perform(job, task, process)
                except Exception:  # the next tasks must still be performed
                    _log.exception("reviewing failed")
                    self._finish(job, "It met a defect of Plimsoll; see the log of plimsoll up.")
                process.kill()

    def _perform(self, job: Job, task: Task, process: "subprocess.Popen[bytes]") -> None:
        """Give a task to a worker process, and update the job from the process's reports until the process ends."""
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(pickle.dumps(task))
            process.stdin.flush()
        for line in process.stdout:
            report = json.loads(line)
            job.remarks += report.pop("remarks", [])
            for name, value in report.items():
                setattr(job, name, Stage(value) if name == "stage" else value)
        status = process.wait()
        has_failed = job.error or status or not job.reviewed
        self._finish(job, (job.error or self._explain_status(status)) if has_failed else "")

    def _explain_status(self, status: int) -> str:
        if self._stopped:
            return "plimsoll up was stopped before it was done."
        if status < 0 or (os.name == "nt" and status):
            return (
                f"The process that read it was ended by the system (signal {-status}). If the memory of this computer "
                "was used up, upload fewer logs at a time."
            )
        return "The process that read it ended with a defect of Plimsoll; see the log of plimsoll up."

    def _finish(self, job: Job, error: str) -> None:
        self._process = None
        job.error = error
        job.stage = Stage.FAILED if error else Stage.DONE
        self._ended(job)


def _start_worker(command: Sequence[str] = _COMMAND) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
