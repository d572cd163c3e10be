"""`/runs/compare?a=NAME&b=NAME`: runs compared with the first, which is the baseline."""

from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from plimsoll.pages.reviewing.run_reviews import RunReview, RunReviews, TooMany
from plimsoll.pages.runs.report_page import report_page
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.run_links import stage_text

_MOST_RUNS = 8


def compare_page(frame: Frame, reviews: RunReviews) -> Callable[[Request], Response]:
    """The page. `a` is the baseline, each `b` a run that is compared with it; `run` are ids, chosen in the list."""

    def page(request: Request) -> Response:
        asked, every = request.query_params, reviews.runs()
        if ids := asked.getlist("run"):
            chosen = sorted((one for one in every if one.id in ids), key=lambda one: one.run.start)
            return _to(request, chosen)
        by_name = {one.run.name: one for one in every}
        names = list(dict.fromkeys((*asked.getlist("a")[:1], *asked.getlist("b"))))[:_MOST_RUNS]
        for name in names:
            if name not in by_name:
                return frame.missing(request, f"There is no run “{name}” in the store.", "The page Runs lists all.")
        chosen = [by_name[name] for name in names]
        if len(chosen) < 2:
            return _choose(frame, request, chosen[0] if chosen else None, every)
        try:
            made = reviews.comparison(chosen)
        except TooMany:
            return frame.missing(request, "Many comparisons are being made.", "Open this page again in some minutes.")
        if isinstance(made, str):
            return report_page(frame, request, made, compared=chosen)
        stage = stage_text(made, reviews.jobs.before(made))
        return frame.page(request, "runs/compare_wait.html.j2", "Compare", runs=chosen, job=made, stage=stage)

    return page


def _choose(frame: Frame, request: Request, one: RunReview | None, every: list[RunReview]) -> Response:
    others = [other for other in every if one is None or other.id != one.id]
    return frame.page(request, "runs/compare_choose.html.j2", "Compare", one=one, others=others)


def _to(request: Request, chosen: Sequence[RunReview]) -> Response:
    names = [("a" if at == 0 else "b", one.run.name) for at, one in enumerate(chosen)]
    zone = request.query_params.get("zone")
    return RedirectResponse(f"/runs/compare?{urlencode([*names, *([('zone', zone)] if zone else [])])}")
