"""Operations on recorded runs: their list, reviews and comparisons."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from plimsoll.ingest.runs.unload import unload
from plimsoll.model.times import iso
from plimsoll.pages.http_api.operation import Body, Call, Nothing, Operation, Page, PageQuery, Query, Refused, problem
from plimsoll.pages.reviewing.jobs import Job, Stage
from plimsoll.pages.reviewing.run_reviews import RunReview, RunReviews, TooMany
from plimsoll.pages.shared.asking import asking, record
from plimsoll.pages.shared.run_links import run_path
from plimsoll.store.run_states import State
from plimsoll.up.watched import Watched

MOST_COMPARED = 8
_AGAIN_S = "2"
_LATER_S = "60"
_PROGRAM = "a program"


class CrossedPart(BaseModel):
    """A signal whose limit was crossed: the worst of it."""

    signal: str
    title: str
    host: str
    instance: str | None
    severity: str
    sentence: str


class ReviewPart(BaseModel):
    """What the review of a run says in short."""

    made_at: str
    outdated: str = Field(description="With what it was made, if that is not what is there now; else empty.")
    verdict: str
    severity: str = Field(description="The worst that was crossed; empty if nothing was.")
    answer: str
    cause: str = Field(description="What the run is short of; empty if that is not known.")
    crossed: Sequence[CrossedPart]


class RunPart(BaseModel):
    """A recorded run."""

    name: str
    start: str
    end: str
    hosts: Sequence[str]
    labels: Mapping[str, str]
    files: int
    values: int
    state: State = Field(description="Only a complete run has all its values.")
    review: ReviewPart | None = Field(description="null: there is none yet; GET /api/v1/reviews/{run} makes it.")
    page: str = Field(description="The address of its report.")


class JobPart(BaseModel):
    """A review or comparison that is being made: ask again."""

    stage: Stage
    done: int
    total: int = Field(description="Files or values; 0: not known.")
    error: str = Field(description="Why it failed; empty if it did not.")


class RunsQuery(PageQuery):
    """Which runs, the latest first."""

    text: str = Field(default="", max_length=300, description="Only those whose name has this text.")
    label: Sequence[str] = Field(default=(), max_length=20, description="Only with this label, name=value; repeatable.")


class CompareQuery(Query):
    """Which runs to compare."""

    run: Sequence[str] = Field(min_length=2, max_length=MOST_COMPARED, description="Runs, the baseline first.")


class NewReview(Body):
    """A review to make anew."""

    run: str = Field(max_length=300)


class Document(BaseModel):
    """A document of schema plimsoll.review/1 (docs/review-json.md) or plimsoll.comparison/1 (docs/compare-json.md)."""

    model_config = {"extra": "allow"}
    schema_: str = Field(alias="schema")


def operations(watched: Watched, reviews: RunReviews) -> list[Operation[Any, Any]]:
    """The operations."""

    def runs(call: Call[RunsQuery, Nothing]) -> Page[RunPart]:
        query = call.query
        every = [
            one
            for one in reviews.runs()
            if query.text.casefold() in one.run.name.casefold()
            and all(label in [f"{name}={value}" for name, value in one.run.labels.items()] for label in query.label)
        ]
        return Page[RunPart].of(every, query, _run)

    def known(name: str) -> RunReview:
        one = reviews.find(name)
        if one is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"no run is named {name[:200]}", "run", "GET /api/v1/runs lists them")
        return one

    def run(call: Call[Query, Nothing]) -> RunPart:
        return _run(known(call.name("run")))

    def delete(call: Call[Query, Nothing]) -> RunPart:
        one = known(call.name("run"))
        unload(watched.store, one.run.name)
        reviews.kept.remove(one.id)
        record(watched, asking(call.request, usual=_PROGRAM), f"deleted run {one.run.name}")
        return _run(one)

    def review(call: Call[Query, Nothing]) -> Response:
        one = known(call.name("run"))
        text = reviews.kept.document(one.id) if one.kept else None
        if text is not None:
            return Response(text, media_type="application/json")
        if one.job is None or one.job.stage is Stage.DONE:
            one = reviews.make(one)
        assert one.job is not None
        return _underway(one.job)

    def review_again(call: Call[Query, NewReview]) -> Response:
        one = reviews.make(known(call.body.run))
        assert one.job is not None
        record(watched, asking(call.request, usual=_PROGRAM), f"had run {one.run.name} reviewed again")
        return _underway(one.job)

    def comparison(call: Call[CompareQuery, Nothing]) -> Response:
        names = [*dict.fromkeys(call.query.run)]
        if len(names) < 2:
            raise Refused(
                HTTPStatus.BAD_REQUEST, "only one run is named", "run", "name two or more, the baseline first"
            )
        try:
            made = reviews.comparison_document([known(name) for name in names])
        except TooMany:
            error = "many comparisons are being made"
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, error, "run", "ask again later", _LATER_S)
        return Response(made, media_type="application/json") if isinstance(made, str) else _underway(made)

    named = {"run": "The name of the run."}
    made = "202 while it is being made: ask again after Retry-After"
    return [
        Operation("GET", "/runs", "runs", "Recorded runs, the latest first", Page[RunPart], runs, RunsQuery, Nothing),
        Operation("GET", "/runs/{run:path}", "run", "One run", RunPart, run, Query, Nothing, path_names=named),
        Operation(
            "DELETE",
            "/runs/{run:path}",
            "delete_run",
            "Delete a run with its samples and review; the answer is what it was",
            RunPart,
            delete,
            Query,
            Nothing,
            path_names=named,
        ),
        Operation(
            "GET",
            "/reviews/{run:path}",
            "review",
            f"The whole review of a run, plimsoll.review/1; {made}",
            Document,
            review,
            Query,
            Nothing,
            path_names=named,
            underway=JobPart,
        ),
        Operation(
            "POST",
            "/reviews",
            "review_again",
            "Have a run reviewed anew, as after a change of rules",
            JobPart,
            review_again,
            Query,
            NewReview,
            HTTPStatus.ACCEPTED,
        ),
        Operation(
            "GET",
            "/comparisons",
            "comparison",
            f"Runs compared with the first, plimsoll.comparison/1; {made}",
            Document,
            comparison,
            CompareQuery,
            Nothing,
            underway=JobPart,
        ),
    ]


def _underway(job: Job) -> Response:
    """How far a job is; Refused if it failed."""
    if job.stage is Stage.FAILED:
        raise Refused(
            HTTPStatus.UNPROCESSABLE_ENTITY, job.error or "it failed", "run", "the log of plimsoll up says why"
        )
    part = JobPart(stage=job.stage, done=job.done, total=job.total, error=job.error)
    return Response(
        part.model_dump_json(), HTTPStatus.ACCEPTED, {"Retry-After": _AGAIN_S}, media_type="application/json"
    )


def _run(one: RunReview) -> RunPart:
    run = one.run
    return RunPart(
        name=run.name,
        start=iso(run.start),
        end=iso(run.end),
        hosts=run.hosts,
        labels=run.labels,
        files=run.files,
        values=run.values,
        state=run.state,
        review=_review(one),
        page=run_path(run.name),
    )


def _review(one: RunReview) -> ReviewPart | None:
    if one.kept is None:
        return None
    kept = one.kept
    return ReviewPart(
        made_at=iso(kept.made.at),
        outdated=one.outdated,
        verdict=kept.verdict,
        severity=kept.severity,
        answer=kept.answer,
        cause=kept.cause,
        crossed=[CrossedPart(**part.model_dump()) for part in kept.crossed],
    )
