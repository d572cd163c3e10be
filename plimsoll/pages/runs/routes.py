"""The runs of the store: their list, their reports, and the forms that review a run again or delete it."""

import re
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.ingest.runs.load import unload_run
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.series import make_host_key
from plimsoll.pages.review_jobs.jobs import Stage
from plimsoll.pages.review_jobs.kept_reviews import REPORT
from plimsoll.pages.review_jobs.run_reviews import RunReview, RunReviews, TooManyComparisons
from plimsoll.pages.runs.series import build_series_page, run_labels
from plimsoll.pages.shared.forms import find_actor, record_action, redirect_to
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.first_screen import split_headline
from plimsoll.store.lease import LIFE_S, described
from plimsoll.store.protocol import RunSummary, StoreState
from plimsoll.up.watched import Watched

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_BODY = re.compile(r"<body[^>]*>")
_MOST_RUNS = 8
_STATES = {
    StoreState.LOADING: "incomplete: loading was cut off; load it again, or delete it",
    StoreState.DELETING: "incomplete: a deletion was cut off; delete it again, or load it again",
}


def list_routes(watched: Watched, frame: Frame, reviews: RunReviews) -> list[Route]:
    """Return the routes of the runs.

    Actions name the run in the query (`/runs/delete?run=NAME`), as a run can have the name of an action.
    """

    def show_list(request: Request) -> Response:
        """Return the page of all runs, filtered by text, host and label."""
        all_runs = reviews.make_missing(reviews.runs())
        query = request.query_params
        choice = {name: query.get(name, "").strip() for name in ("text", "host", "label")}
        runs = [review for review in all_runs if _matches(review.run, **choice)]
        work = {
            lease.run: described(lease, short=True)
            for lease in watched.store.runs.claims.current(LIFE_S)
            if lease.alive
        }
        return frame.page(
            request,
            "runs/runs.html.j2",
            "Runs",
            runs=runs,
            all_runs=all_runs,
            hosts=sorted({host for review in all_runs for host in review.run.hosts}, key=make_host_key),
            labels=sorted({label for review in all_runs for label in run_labels(review.run)}, key=make_host_key),
            choice=choice,
            states={
                run.name: work.get(run.name) or _STATES.get(run.state, "") for run in (review.run for review in runs)
            },
            uploads=reviews.to_show(),
            limits=watched.limits,
            stage=reviews.jobs.describe,
            split_headline=split_headline,
        )

    def show_run(request: Request, review: RunReview) -> Response:
        report = reviews.kept.text(review.id, REPORT) if review.kept else None
        if report is not None and review.kept is not None:
            return report_page(frame, request, report, review=review)
        if review.job is None or review.job.stage is Stage.DONE:
            review = reviews.make(review)
        assert review.job is not None
        stage = reviews.jobs.describe(review.job)
        name = review.run.name
        return frame.page(request, "runs/run_underway.html.j2", name, review=review, job=review.job, stage=stage)

    def review_again(request: Request, review: RunReview) -> Response:
        if request.method == "POST":
            reviews.make(review)
            record_action(watched, find_actor(request), f"had run {review.run.name} reviewed again")
            return redirect_to(frame.links(request).to("/runs"))
        return frame.page(request, "runs/run_again.html.j2", f"Review {review.run.name} again", review=review)

    def delete(request: Request, review: RunReview) -> Response:
        """Return the form that deletes a run, or delete the run and redirect to the list."""
        name, problem = review.run.name, ""
        if request.method == "POST":
            try:
                unload_run(watched.store.runs, name)
            except (Unusable, Unreachable) as error:
                problem = str(error)
            else:
                reviews.kept.remove(review.id)
                record_action(watched, find_actor(request), f"deleted run {name}")
                return redirect_to(frame.links(request).to("/runs"))
        return frame.page(request, "runs/run_delete.html.j2", f"Delete {name}", review=review, problem=problem)

    actions = {"show": show_run, "review": review_again, "delete": delete}

    def of_run(request: Request) -> Response:
        path, run = request.path_params["name"], request.query_params.get("run")
        if path == "compare" and {"a", "b", "run"} & {*request.query_params}:
            return compare_page(request, frame, reviews)
        if path == "series" and "label" in request.query_params:
            return build_series_page(request, frame, reviews)
        action, name = (actions[path], run) if path in actions and run is not None else (show_run, path)
        review = reviews.find(name)
        if review is None:
            return frame.missing(request, f"There is no run “{name}” in the store.", "The page Runs lists all runs.")
        return action(request, review)

    return [
        Route("/runs", answer_store_errors(frame, show_list)),
        Route("/runs/{name:path}", answer_store_errors(frame, of_run), methods=["GET", "POST"]),
    ]


def _matches(run: RunSummary, text: str, host: str, label: str) -> bool:
    """Return whether a run has `text` in its name, hosts or labels, and has the host and the label (empty: any)."""
    labels = run_labels(run)
    return (
        text.casefold() in " ".join([run.name, *run.hosts, *labels]).casefold()
        and (not host or make_host_key(host) in map(make_host_key, run.hosts))
        and (not label or label in labels)
    )


def answer_store_errors(frame: Frame, page: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Return an endpoint that calls `page`; if the store cannot be read, it shows the reason."""

    def answer(request: Request) -> Response:
        try:
            return page(request)
        except (Unusable, Unreachable) as error:
            return frame.missing(request, f"The store cannot be read: {error}", "Open this page again later.")

    return answer


def compare_page(request: Request, frame: Frame, reviews: RunReviews) -> Response:
    """Return the page that compares the runs in the query's `b` with the baseline in the query's `a`.

    Redirect a query with ids of runs (`run`), which the list of runs sends, to the address with names.
    """
    query, runs = request.query_params, reviews.runs()
    if ids := query.getlist("run"):
        chosen = sorted((review for review in runs if review.id in ids), key=lambda review: review.run.start)
        names = [("a" if at == 0 else "b", review.run.name) for at, review in enumerate(chosen)]
        return redirect_to(frame.links(request).kept(f"/runs/compare?{urlencode(names)}"))
    by_name = {review.run.name: review for review in runs}
    names = list(dict.fromkeys((*query.getlist("a")[:1], *query.getlist("b"))))[:_MOST_RUNS]
    for name in names:
        if name not in by_name:
            return frame.missing(request, f"There is no run “{name}” in the store.", "The page Runs lists all runs.")
    chosen = [by_name[name] for name in names]
    if len(chosen) < 2:
        candidates = [review for review in runs if review not in chosen]
        baseline = chosen[0] if chosen else None
        return frame.page(request, "runs/compare_choose.html.j2", "Compare", baseline=baseline, candidates=candidates)
    try:
        comparison = reviews.compare(chosen)
    except TooManyComparisons:
        return frame.missing(request, "Many comparisons are being made.", "Open this page again in some minutes.")
    if isinstance(comparison, str):
        return report_page(frame, request, comparison, compared=chosen)
    stage = reviews.jobs.describe(comparison)
    return frame.page(request, "runs/compare_wait.html.j2", "Compare", runs=chosen, job=comparison, stage=stage)


def report_page(frame: Frame, request: Request, report: str, **bar: object) -> Response:
    """Return a report with a bar of links above. Its Content-Security-Policy allows only its own script and style."""
    match = _POLICY.search(report)
    if match is None:
        return frame.missing(request, "Its report cannot be read.", "Have it reviewed again, on the page Runs.")
    above = frame.part(request, "runs/report_bar.html.j2", **bar)
    text = _BODY.sub(lambda body: f"{body[0]}{above}", report, count=1)
    policy = f"{match[1]}; frame-ancestors 'none'"
    return HTMLResponse(text.encode(errors="replace"), HTTPStatus.OK, {"Content-Security-Policy": policy})
