"""`/runs/compare?a=NAME&b=NAME`: runs compared with the first, which is the baseline."""

from collections.abc import Sequence
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from plimsoll.pages.review_jobs.run_reviews import RunReviews, TooMany
from plimsoll.pages.runs.report_page import report_page
from plimsoll.pages.shared.frame import Frame

_MOST_RUNS = 8


def compare_page(request: Request, frame: Frame, reviews: RunReviews) -> Response:
    """Return the page. `a` is the baseline, each `b` a run that is compared with it; `run` are ids from the list."""
    query, runs = request.query_params, reviews.runs()
    if ids := query.getlist("run"):
        chosen = sorted((review for review in runs if review.id in ids), key=lambda review: review.run.start)
        return _redirect(request, [review.run.name for review in chosen])
    by_name = {review.run.name: review for review in runs}
    names = list(dict.fromkeys((*query.getlist("a")[:1], *query.getlist("b"))))[:_MOST_RUNS]
    for name in names:
        if name not in by_name:
            return frame.missing(request, f"There is no run “{name}” in the store.", "The page Runs lists all.")
    chosen = [by_name[name] for name in names]
    if len(chosen) < 2:
        others = [review for review in runs if review not in chosen]
        baseline = chosen[0] if chosen else None
        return frame.page(request, "runs/compare_choose.html.j2", "Compare", one=baseline, others=others)
    try:
        comparison = reviews.compare(chosen)
    except TooMany:
        return frame.missing(request, "Many comparisons are being made.", "Open this page again in some minutes.")
    if isinstance(comparison, str):
        return report_page(frame, request, comparison, compared=chosen)
    stage = reviews.jobs.describe(comparison)
    return frame.page(request, "runs/compare_wait.html.j2", "Compare", runs=chosen, job=comparison, stage=stage)


def _redirect(request: Request, names: Sequence[str]) -> Response:
    query = [("a" if at == 0 else "b", name) for at, name in enumerate(names)]
    zone = request.query_params.get("zone")
    return RedirectResponse(f"/runs/compare?{urlencode([*query, *([('zone', zone)] if zone else [])])}")
