"""`/runs/series?label=NAME=VALUE`: the signals over the runs with these labels, and where they changed."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import Response

from plimsoll.comparison.trend import FEWEST, Course, RunMeans, Trend
from plimsoll.model.series import host_key
from plimsoll.pages.reviewing.run_reviews import RunReview, RunReviews
from plimsoll.pages.runs.series_chart import SeriesChart
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.comparison.trend import answer, change_text, is_worse, limits_of, scope
from plimsoll.store.protocol import RunSummary

_MOST_RUNS = 40  # the latest: more take long to judge
_MOST_CHARTS = 24  # of signals that did not change, unless all are asked for


def series_page(frame: Frame, reviews: RunReviews) -> Callable[[Request], Response]:
    """The page. Runs without a review, or with one that kept no means, are reviewed; the page waits for them."""

    def page(request: Request) -> Response:
        wanted = [one for one in request.query_params.getlist("label") if one]
        every = [one for one in reviews.runs() if one.run.complete]
        found = [one for one in every if all(label in run_labels(one.run) for label in wanted)]
        chosen = sorted(found, key=lambda one: (one.run.start, one.run.name))[-_MOST_RUNS:]
        chosen = [one if one.has_means or _failed(one) else reviews.make(one) for one in chosen]
        ready = [one for one in chosen if one.has_means]
        waiting = [one for one in chosen if one.is_underway and not one.has_means]
        judged = reviews.trend(ready) if len(ready) >= FEWEST and not waiting else None
        courses = _in_order(judged) if judged else []
        unchanged = [one for one in courses if not one.changes]
        more = 0 if "all" in request.query_params else max(0, len(unchanged) - _MOST_CHARTS)
        shown = courses[: len(courses) - more]
        return frame.page(
            request,
            "runs/series.html.j2",
            "Signals over the runs",
            labels=_by_name(every),
            wanted=wanted,
            chosen=chosen,
            left=len(found) - len(chosen),
            waiting=waiting,
            failed=[one.run.name for one in chosen if not one.has_means and not one.is_underway],
            fewest=FEWEST,
            trend=judged,
            answer=answer(judged) if judged else "",
            worse=is_worse(judged) if judged else False,
            scope=scope(judged) if judged else "",
            limits=list(limits_of(judged)) if judged else [],
            load=_load(judged) if judged else None,
            charts=[SeriesChart.of_course(one, judged.runs) for one in shown] if judged else [],
            more=more,
            before=_before(judged.runs) if judged else {},
            told=change_text,
        )

    return page


def run_labels(run: RunSummary) -> list[str]:
    """The labels of a run, each as `name=value`."""
    return [f"{name}={value}" for name, value in run.labels.items()]


def _failed(one: RunReview) -> bool:
    return one.job is not None and bool(one.job.error)


def _in_order(found: Trend) -> list[Course]:
    """The signals, those first that changed last, and for the worse."""
    place = {id(run): at for at, run in enumerate(found.runs)}

    def rank(one: Course) -> tuple[object, ...]:
        latest = max((place[id(change.run)] for change in one.changes), default=-1)
        return -latest, not any(change.is_worse for change in one.changes), one.treatment.place, one.name

    return sorted(found.courses, key=rank)


def _by_name(runs: Sequence[RunReview]) -> dict[str, list[str]]:
    """The values that runs have for each name of a label."""
    values: dict[str, set[str]] = {}
    for one in runs:
        for name, value in one.run.labels.items():
            values.setdefault(name, set()).add(value)
    return {name: sorted(some, key=host_key) for name, some in sorted(values.items())}


def _load(found: Trend) -> SeriesChart | None:
    """The load of the runs, if all counted the same kind of operations."""
    loads = [run.load for run in found.runs]
    names = {load[0] for load in loads if load}
    if None in loads or len(names) != 1:
        return None
    (name,) = names
    signal = next((signal for key, (signal, _) in found.runs[-1].subjects.items() if key[0] == name), None)
    return SeriesChart.of_load(signal, [load[1] for load in loads if load], found.runs) if signal else None


def _before(runs: Sequence[RunMeans]) -> dict[str, str]:
    """The run before each."""
    return {run.name: earlier.name for earlier, run in pairwise(runs)}
