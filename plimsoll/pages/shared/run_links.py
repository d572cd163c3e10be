"""Links to runs, and how far a review is, in words."""

from urllib.parse import quote, urlencode

from plimsoll.pages.reviewing.jobs import Job, Stage

_STAGES = {
    Stage.READING: "Reading the logs",
    Stage.REVIEWING: "Reviewing",
    Stage.COMPARING: "Comparing",
    Stage.STORING: "Storing the values",
    Stage.DONE: "Done",
    Stage.FAILED: "Failed",
}


def run_path(name: str) -> str:
    """The address of a run's page. A browser takes `.` and `..` for folders, also where they are quoted."""
    return f"/runs/{quote(name, safe='')}" if name.strip(".") else f"/runs/show?{urlencode({'run': name})}"


def stage_text(job: Job, before: int) -> str:
    """What is being done: `Storing the values`, `Waiting: 2 others come first`."""
    if job.stage is Stage.WAITING:
        return f"Waiting: {before} {'other comes' if before == 1 else 'others come'} first" if before else "Waiting"
    return _STAGES[job.stage]
