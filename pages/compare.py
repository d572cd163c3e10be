"""`/runs/compare?a=NAME&b=NAME`: two runs side by side, over the time since their start."""

from collections.abc import Callable
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from comparison.hosts import Hosts
from pages.comparison import Comparison, Side, common_phases
from pages.frame import Frame
from pages.jobs import Stage
from pages.run_links import stage_text
from pages.run_reviews import RunReview, RunReviews
from review.statistics import WHOLE_RUN

_CHARTS, _MORE_CHARTS = 12, 60
_MOST_ROWS = 400
_MS = 1_000_000


def compare_page(frame: Frame, reviews: RunReviews) -> Callable[[Request], Response]:
    """The page."""

    def page(request: Request) -> Response:
        asked, every = request.query_params, reviews.runs()
        if ids := asked.getlist("run"):
            chosen = sorted((one for one in every if one.id in ids), key=lambda one: one.run.start)
            if len(chosen) == 2:
                return _to(request, chosen[0].run.name, chosen[1].run.name)
            return _choose(frame, request, chosen[0] if len(chosen) == 1 else None, every)
        by_name = {one.run.name: one for one in every}
        for name in (asked.get("a"), asked.get("b")):
            if name is not None and name not in by_name:
                return frame.missing(request, f"There is no run “{name}” in the store.", "The page Runs lists all.")
        first, second = by_name.get(asked.get("a", "")), by_name.get(asked.get("b", ""))
        if first is None or second is None or first.id == second.id:
            return _choose(frame, request, first or second, every)
        sides = [_side(reviews, one) for one in (first, second)]
        if sides[0] is None or sides[1] is None:
            return _wait(frame, request, reviews, [first, second])
        return _compared(frame, request, (first, second), (sides[0], sides[1]))

    return page


def _compared(frame: Frame, request: Request, runs: tuple[RunReview, RunReview], sides: tuple[Side, Side]) -> Response:
    asked = request.query_params
    recorded = [side.recorded for side in sides]
    phases = [*common_phases(recorded[0], recorded[1]), WHOLE_RUN]
    phase = asked.get("phase", "")
    hosts = Hosts.of(recorded[0].hosts, recorded[1].hosts, match=asked.get("hosts") != "same")
    compared = Comparison(*sides, hosts, phase if phase in phases else phases[0])
    drawn = [row for row in compared.rows if None not in row.levels]
    most = _MORE_CHARTS if asked.get("charts") == "more" else _CHARTS
    return frame.page(
        request,
        "compare.html.j2",
        f"{sides[0].name} and {sides[1].name}",
        runs=runs,
        sides=sides,
        compared=compared,
        drawn=drawn[:most],
        more=len(drawn) > most == _CHARTS,
        rows=compared.rows[:_MOST_ROWS],
        hidden=len(compared.rows) - _MOST_ROWS,
        length=max(one.run.end - one.run.start for one in runs) // _MS,
        whole_run=WHOLE_RUN,
        asked={name: asked[name] for name in ("phase", "hosts", "charts") if name in asked},
    )


def _side(reviews: RunReviews, one: RunReview) -> Side | None:
    recorded = reviews.kept.recorded(one.id) if one.kept else None
    return Side(one.run.name, one.kept, recorded) if one.kept and recorded else None


def _wait(frame: Frame, request: Request, reviews: RunReviews, runs: list[RunReview]) -> Response:
    """The page while runs are being reviewed, as both reviews are needed."""
    lacking = [one for one in runs if _side(reviews, one) is None]
    lacking = [reviews.make(one) if one.job is None or one.job.stage is Stage.DONE else one for one in lacking]
    stages = [stage_text(one.job, reviews.jobs.before(one.job)) if one.job else "" for one in lacking]
    ended = all(one.job and one.job.has_ended for one in lacking)
    lines = list(zip(lacking, stages, strict=True))
    return frame.page(request, "compare_wait.html.j2", "Compare", lines=lines, ended=ended)


def _choose(frame: Frame, request: Request, one: RunReview | None, every: list[RunReview]) -> Response:
    others = [other for other in every if one is None or other.id != one.id]
    return frame.page(request, "compare_choose.html.j2", "Compare", one=one, others=others)


def _to(request: Request, first: str, second: str) -> Response:
    zone = request.query_params.get("zone")
    query = urlencode({"a": first, "b": second, **({"zone": zone} if zone else {})})
    return RedirectResponse(f"/runs/compare?{query}")
