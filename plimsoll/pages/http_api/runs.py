"""Operations on recorded runs: their list, reviews and comparisons."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from plimsoll.ingest.runs.load import unload_run
from plimsoll.model.json_part import Instant, JsonPart, read_attribute
from plimsoll.pages.http_api.operation import PROGRAM, ApiFault, Body, Operation, Page, PageQuery, WatchedDependency
from plimsoll.pages.review_jobs.jobs import Job, Stage
from plimsoll.pages.review_jobs.kept_reviews import DOCUMENT
from plimsoll.pages.review_jobs.run_reviews import RunReview, RunReviews, TooManyComparisons
from plimsoll.pages.shared.forms import find_actor, record_action
from plimsoll.pages.shared.frame import run_path
from plimsoll.store.protocol import StoreState

MOST_COMPARED = 8
router = APIRouter(route_class=Operation)


class ApiCrossedSignal(JsonPart):
    """A signal whose limit was crossed, with its worst crossing."""

    signal: str
    title: str
    host: str
    instance: str | None
    severity: str
    sentence: str


class ReviewPart(JsonPart):
    """A summary of the review of a run."""

    made_at: Instant = read_attribute("kept.made_with.at")
    outdated: str = Field(
        description="The version or rules it was made with, if they differ from the current ones; else empty."
    )
    verdict: str = read_attribute("kept.verdict")
    severity: str = read_attribute("kept.severity", "The worst that was crossed; empty if nothing was.")
    answer: str = read_attribute("kept.answer")
    cause: str = read_attribute("kept.cause", "What the run is short of; empty if that is not known.")
    crossed: Sequence[ApiCrossedSignal] = read_attribute("kept.crossed")


class ApiRun(JsonPart):
    """A recorded run."""

    name: str = read_attribute("run.name")
    start: Instant = read_attribute("run.start")
    end: Instant = read_attribute("run.end")
    hosts: Sequence[str] = read_attribute("run.hosts")
    labels: Mapping[str, str] = read_attribute("run.labels")
    files: int = read_attribute("run.files")
    values: int = read_attribute("run.values")
    state: StoreState = read_attribute("run.state", "Only a complete run has all its values.")
    review: ReviewPart | None = read_attribute(
        lambda review: review if review.kept else None, "null: there is none yet; GET /api/v1/reviews/{run} makes it."
    )
    page: str = read_attribute(lambda review: run_path(review.run.name), "The address of its report.")


class JobPart(JsonPart):
    """A review or comparison that is in progress; request it again later."""

    stage: Stage
    done: int
    total: int = Field(description="The number of files or values in all; 0 if unknown.")
    error: str = Field(description="Why the job failed; empty if it did not.")


class RunsQuery(PageQuery):
    """The requested runs, by a part of the name and by labels; the latest run is first."""

    text: str = Field(default="", max_length=300, description="Only runs whose names contain this text.")
    label: Sequence[str] = Field(
        default=(), max_length=20, description="Only runs with this label, name=value; may be repeated."
    )


class CompareQuery(BaseModel):
    """The runs to compare."""

    run: Sequence[str] = Field(
        min_length=2, max_length=MOST_COMPARED, description="The names of the runs, the baseline first."
    )


class CapacityQuery(BaseModel):
    """The runs of a system whose capacity is to be found."""

    run: Sequence[str] = Field(min_length=1, max_length=MOST_COMPARED, description="The names of the runs.")


class NewReview(Body):
    """The run to review again."""

    run: str = Field(max_length=300)


class OpenDocument(BaseModel):
    """A document of schema plimsoll.review/1 (docs/review-json.md), plimsoll.comparison/1 or plimsoll.capacity/1."""

    model_config = {"extra": "allow"}
    schema_: str = Field(alias="schema")


async def _find_reviews(request: Request) -> RunReviews:
    return request.app.state.reviews


ReviewsDependency = Annotated[RunReviews, Depends(_find_reviews)]


def _find_run(run: Annotated[str, Path(description="The name of the run.")], reviews: ReviewsDependency) -> RunReview:
    review = reviews.find(run)
    if review is None:
        raise ApiFault(HTTPStatus.NOT_FOUND, f"no run is named {run[:200]}", "run", "GET /api/v1/runs lists them")
    return review


RunDependency = Annotated[RunReview, Depends(_find_run)]
_WAIT = "202 while it is being made: ask again after Retry-After"
_UNDERWAY: dict[int | str, dict[str, Any]] = {
    202: {"model": JobPart, "description": "It is being made: again after Retry-After."}
}


@router.get("/runs", operation_id="runs")
def list_runs(query: Annotated[RunsQuery, Query()], reviews: ReviewsDependency) -> Page[ApiRun]:
    """List the recorded runs, the latest first."""
    runs = [
        review
        for review in reviews.runs()
        if query.text.casefold() in review.run.name.casefold()
        and {*query.label} <= {f"{name}={value}" for name, value in review.run.labels.items()}
    ]
    return Page[ApiRun].of(runs, query, ApiRun.model_validate)


@router.get("/runs/{run:path}", operation_id="run")
def show_run(review: RunDependency) -> ApiRun:
    """Return one run."""
    return ApiRun.model_validate(review)


@router.delete("/runs/{run:path}", operation_id="delete_run")
def delete_run(
    review: RunDependency, request: Request, reviews: ReviewsDependency, watched: WatchedDependency
) -> ApiRun:
    """Delete a run with its samples and its review, and return it as it was."""
    unload_run(watched.store.runs, review.run.name)
    reviews.kept.remove(review.id)
    record_action(watched, find_actor(request, PROGRAM), f"deleted run {review.run.name}")
    return ApiRun.model_validate(review)


@router.get(
    "/reviews/{run:path}",
    operation_id="review",
    summary=f"Return the whole review of a run (schema plimsoll.review/1); {_WAIT}",
    response_model=OpenDocument,
    responses=_UNDERWAY,
)
def show_review(review: RunDependency, reviews: ReviewsDependency) -> Response:
    """Return the review of a run, or the job that makes it."""
    text = reviews.kept.text(review.id, DOCUMENT) if review.kept else None
    if text is not None:
        return Response(text, media_type="application/json")
    if review.job is None or review.job.stage is Stage.DONE:
        review = reviews.make(review)
    assert review.job is not None
    return _answer_job(review.job)


@router.post("/reviews", operation_id="review_again", status_code=HTTPStatus.ACCEPTED, response_model=JobPart)
def review_again(body: NewReview, request: Request, reviews: ReviewsDependency, watched: WatchedDependency) -> Response:
    """Review a run again, for example after a change of rules."""
    review = reviews.make(_find_run(body.run, reviews))
    assert review.job is not None
    record_action(watched, find_actor(request, PROGRAM), f"had run {body.run} reviewed again")
    return _answer_job(review.job)


@router.get(
    "/comparisons",
    operation_id="comparison",
    summary=f"Return the comparison of runs with the first (schema plimsoll.comparison/1); {_WAIT}",
    response_model=OpenDocument,
    responses=_UNDERWAY,
)
def compare_runs(query: Annotated[CompareQuery, Query()], reviews: ReviewsDependency) -> Response:
    """Return the comparison of runs, or the job that makes it."""
    if len({*query.run}) < 2:
        hint = "name two or more, the baseline first"
        raise ApiFault(HTTPStatus.BAD_REQUEST, "only one run is named", "run", hint)
    return _answer_comparison(query.run, reviews)


@router.get(
    "/capacity",
    operation_id="capacity",
    summary=f"Return the load that a system can carry, from runs whose load rises (docs/capacity.md); {_WAIT}",
    response_model=OpenDocument,
    responses=_UNDERWAY,
)
def find_capacity(query: Annotated[CapacityQuery, Query()], reviews: ReviewsDependency) -> Response:
    """Return the capacity that runs show together, or the job that finds it."""
    return _answer_comparison(query.run, reviews, capacity=True)


def _answer_comparison(runs: Sequence[str], reviews: RunReviews, *, capacity: bool = False) -> Response:
    """Return the comparison of runs (with `capacity`, the capacity that they show), or the job that makes it."""
    summaries = [_find_run(name, reviews) for name in dict.fromkeys(runs)]
    try:
        comparison = reviews.compare(summaries, document=True, capacity=capacity)
    except TooManyComparisons:
        error = "many comparisons are being made"
        raise ApiFault(HTTPStatus.SERVICE_UNAVAILABLE, error, "run", "ask again later", retry_after_s=60) from None
    if isinstance(comparison, str):
        return Response(comparison, media_type="application/json")
    return _answer_job(comparison)


def _answer_job(job: Job) -> Response:
    """Return the state of a job. Raise ApiFault if it failed."""
    if job.stage is Stage.FAILED:
        error = job.error or "it failed"
        raise ApiFault(HTTPStatus.UNPROCESSABLE_ENTITY, error, "run", "the log of plimsoll up says why")
    text = JobPart.model_validate(job).model_dump_json()
    return Response(text, HTTPStatus.ACCEPTED, {"Retry-After": "2"}, media_type="application/json")
