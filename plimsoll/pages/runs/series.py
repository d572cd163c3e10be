"""`/runs/series?label=NAME=VALUE`: how each signal changed over the runs that have these labels.

Each signal has a small chart: a dot per run, a line for each level, and a mark where the level changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from plimsoll.comparison.trend import FEWEST, Change, Course, HistoryTrend, RunMeans
from plimsoll.model.log import Values
from plimsoll.model.series import make_host_key
from plimsoll.model.value_text import format_value
from plimsoll.pages.review_jobs.run_reviews import RunReviews
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.comparison.trend import answer, describe_change, describe_limits, describe_scope, is_worse
from plimsoll.store.protocol import RunSummary

_MOST_RUNS = 40  # the latest: more take long to judge
_MOST_CHARTS = 24  # of signals that did not change, unless all are requested
_WIDTH, _HEIGHT = 320, 84  # of a drawing
_EDGE = 6  # of a drawing, that stays free
_LEAST_RANGE = 4.0  # times the tolerance: changes that do not matter must not look large
_USUAL_TOLERANCE = 0.05  # of the level, for the load


def build_series_page(request: Request, frame: Frame, reviews: RunReviews) -> Response:
    """Return the page of a series of runs. Runs without stored means are reviewed, and are shown later."""
    labels = [label for label in request.query_params.getlist("label") if label]
    complete = [review for review in reviews.runs() if review.run.complete]
    values: dict[str, set[str]] = {}
    for name, value in (label for review in complete for label in review.run.labels.items()):
        values.setdefault(name, set()).add(value)
    matches = [review for review in complete if {*labels} <= {*run_labels(review.run)}]
    chosen = sorted(matches, key=lambda review: (review.run.start, review.run.name))[-_MOST_RUNS:]
    chosen = [review if review.has_means or review.has_failed else reviews.make(review) for review in chosen]
    ready = [review for review in chosen if review.has_means]
    waiting = [review for review in chosen if review.is_underway and not review.has_means]
    trend = reviews.trend(ready) if len(ready) >= FEWEST else None
    return frame.page(
        request,
        "runs/series.html.j2",
        "Signals over the runs",
        labels={name: sorted(values[name], key=make_host_key) for name in sorted(values)},
        chosen_labels=labels,
        chosen=chosen,
        left=len(matches) - len(chosen),
        waiting=waiting,
        failed=[review.run.name for review in chosen if not review.has_means and not review.is_underway],
        fewest=FEWEST,
        trend=trend,
        **(_build_trend_content(trend, show_all="all" in request.query_params) if trend else {}),
    )


def run_labels(run: RunSummary) -> list[str]:
    """Return the labels of a run, each as `name=value`."""
    return [f"{name}={value}" for name, value in run.labels.items()]


def _build_trend_content(trend: HistoryTrend, *, show_all: bool) -> dict[str, Any]:
    """Return the charts and sentences of a trend. Unless `show_all`, most of the unchanged signals are left out."""
    places = {id(run): at for at, run in enumerate(trend.runs)}

    def rank(course: Course) -> tuple[object, ...]:
        latest = max((places[id(change.run)] for change in course.changes), default=-1)
        return -latest, not any(change.is_worse for change in course.changes), course.treatment.place, course.name

    courses = sorted(trend.courses, key=rank)  # signals that changed last come first, worse ones before others
    unchanged = sum(not course.changes for course in courses)
    left_out = 0 if show_all else max(0, unchanged - _MOST_CHARTS)
    return {
        "answer": answer(trend),
        "worse": is_worse(trend),
        "scope": describe_scope(trend),
        "limits": [*describe_limits(trend)],
        "load": _draw_load(trend),
        "charts": [_draw_course(course, trend.runs) for course in courses[: len(courses) - left_out]],
        "more": left_out,
        "before": {run.name: earlier.name for earlier, run in pairwise(trend.runs)},
        "describe": describe_change,
    }


@dataclass(frozen=True)
class SeriesChart:
    """A chart of a signal over runs: dots with texts, levels (`steps` from `x1` to `x2` at `y`), and marks of changes.

    `low` and `high` are the smallest and largest value as text.
    """

    title: str
    label: str
    dots: Sequence[tuple[float, float, str]]
    steps: Sequence[tuple[float, float, float]]
    marks: Sequence[tuple[float, bool]]
    changes: Sequence[Change]
    low: str
    high: str


def _draw_course(course: Course, runs: Sequence[RunMeans]) -> SeriesChart:
    title = f"{course.signal.title} of {course.subject}"
    tolerated = course.treatment.tolerated_in_series(float(course.values.mean()))
    return _draw(title, course.signal.unit, course.values, tolerated, course.changes, runs)


def _draw_load(trend: HistoryTrend) -> SeriesChart | None:
    """Return the chart of the runs' load, without changes; None unless all runs counted the same kind of operations."""
    loads = [run.load for run in trend.runs]
    names = {load[0] for load in loads if load}
    if None in loads or len(names) != 1:
        return None
    signal = next((signal for key, (signal, _) in trend.runs[-1].subjects.items() if key[0] in names), None)
    if signal is None:
        return None
    values = np.array([load[1] for load in loads if load])
    tolerated = _USUAL_TOLERANCE * float(values.mean())
    return _draw(f"Load: {signal.title}", signal.unit, values, tolerated, (), trend.runs)


def _draw(
    title: str, unit: str, values: Values, tolerated: float, changes: tuple[Change, ...], runs: Sequence[RunMeans]
) -> SeriesChart:
    """Return the chart of a value per run. The value axis spans at least four times the tolerated change."""
    low, high, last = float(values.min()), float(values.max()), len(values) - 1
    span = max(high - low, _LEAST_RANGE * tolerated) or 1.0
    bottom = (low + high - span) / 2
    step = (_WIDTH - 2 * _EDGE) / max(1, last)

    def x(at: float) -> float:
        return round(_EDGE + step * at, 1)

    def y(value: float) -> float:
        return round(_HEIGHT - _EDGE - (value - bottom) / span * (_HEIGHT - 2 * _EDGE), 1)

    pairs = enumerate(zip(runs, values.tolist(), strict=True))
    dots = [(x(at), y(value), f"{run.name}: {format_value(value, unit)}") for at, (run, value) in pairs]
    edges = [0, *(change.point.first for change in changes), len(values)]
    steps = [
        (x(max(0, start - 0.5)), x(min(end - 0.5, last)), y(float(values[start:end].mean())))
        for start, end in pairwise(edges)
    ]
    marks = [(x(change.point.first - 0.5), change.is_worse) for change in changes]
    ends = format_value(low, unit), format_value(high, unit)
    label = f"{title} over {len(values)} runs, between {ends[0]} and {ends[1]}"
    return SeriesChart(title, label, dots, steps if changes else (), marks, changes, *ends)
