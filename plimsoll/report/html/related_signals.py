"""The signals that the rule of a crossing says to look at, drawn below the crossing on the same time axis."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.charts.chart import ChartLimit, Charts, ChartSeries, Span
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import format_value, number
from plimsoll.report.html.finding_lines import OWN_SCALE, describe_constant
from plimsoll.review.findings import Finding
from plimsoll.review.processes import find_phase, is_idle, mark_crossings, mark_rest_of_phase
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_MOST = 4
_MOST_LINES = 4
_MOST_SHADED = 200
_OF_EVERY_HOST = ("cpu.", "memory.", "paging_file.", "disk.", "network.", "process.")


def find_related_signals(
    review: Review, signals: RecordedSignals, finding: Finding, charts: Charts
) -> dict[str, Any] | None:
    """Return the signals to look at for a crossed finding: the drawn signals, and titles of signals not drawn.

    Return None if the rule names no signal. A signal of another kind of host, such as the database behind a front end,
    is taken from any host that recorded the signal, if the hosts are one system.
    """
    if finding.subject is None or not finding.rule.look_at:
        return None
    drawn: list[dict[str, Any]] = []
    missing: list[str] = []
    undrawn: list[str] = []
    for name in finding.rule.look_at:
        signal = review.question.signals.get(name)
        recorded = signals.on(name, finding.subject.host)
        if not recorded and not review.is_apart and not name.startswith(_OF_EVERY_HOST):
            recorded = signals.of(name)
        if signal is None or not recorded:
            missing.append(signal.title if signal else name)
        elif len(drawn) == _MOST:
            undrawn.append(signal.title)
        else:
            drawn.append(_describe_related(review, signal, recorded, finding, charts, _map_limits(review, name)))
    return {"drawn": drawn, "missing": missing, "more": undrawn}


def _describe_related(
    review: Review,
    signal: Signal,
    recorded: Mapping[Subject, Samples],
    finding: Finding,
    charts: Charts,
    limits: Mapping[Subject, float],
) -> dict[str, Any]:
    """Return a signal to look at: a chart of the worst subjects, and the means during and outside the crossing."""
    worst = _sort_worst_first(recorded, finding, lower=signal.worse == "lower")
    first, samples = worst[0]
    summary = _describe_inside_and_rest(review, samples, finding, signal.unit)
    if len(recorded) > 1:
        summary += f"; the first {len(worst)} of {number(len(recorded))} drawn" if len(recorded) > len(worst) else ""
    lines = [ChartSeries(str(subject), "other" if at else "samples", s) for at, (subject, s) in enumerate(worst)]
    limit = limits.get(first)
    near = limit is not None and limit <= 1.25 * float(np.max(samples.present.values))
    always = describe_constant(lines, signal.unit)
    chart = (
        None
        if always
        else charts.add(
            lines,
            signal.unit,
            f"Chart: {signal.title} of {first}: {summary}.",
            limits=[ChartLimit.of(limit, signal.unit)] if near and limit is not None else [],
            spans=[Span(crossing.start, crossing.end) for crossing in finding.counted.longest(_MOST_SHADED)],
            severity=finding.rule.severity,
            marks=2,
        )
    )
    return {"title": signal.title, "place": str(first), "summary": always or summary, "chart": chart}


def _map_limits(review: Review, name: str) -> Mapping[Subject, float]:
    """Return the limit of a signal by subject; of several limits, the limit of the worst finding."""
    limits: dict[Subject, float] = {}
    for finding in review.findings:  # the worst first, so that its limit is drawn
        drawn = finding.track and finding.rule.reduce not in OWN_SCALE and not finding.superseded_by
        if finding.rule.signal == name and finding.subject and finding.track and drawn:
            limits.setdefault(finding.subject, finding.track.healthy.limit)
    return limits


def _sort_worst_first(
    recorded: Mapping[Subject, Samples], finding: Finding, *, lower: bool
) -> Sequence[tuple[Subject, Samples]]:
    """Return the worst subjects by mean during the crossings; the instance that crossed its limit is first."""
    text = finding.subject.instance if finding.subject else None
    crossed: dict[int, NDArray[np.bool_]] = {}  # most series share the times of their recording

    def rank(item: tuple[Subject, Samples]) -> tuple[bool, bool, float]:
        subject, samples = item
        if id(samples.times) not in crossed:
            crossed[id(samples.times)] = mark_crossings(samples.times, finding.counted)
        level = _compute_mean(samples, crossed[id(samples.times)] & np.isfinite(samples.values))
        level = -np.inf if level is None else -level if lower else level
        return (subject.instance != text, is_idle(subject.instance or ""), -level)

    return sorted(recorded.items(), key=rank)[:_MOST_LINES]


def _describe_inside_and_rest(review: Review, samples: Samples, finding: Finding, unit: str) -> str:
    """Return the means of a signal: `mean 47 /s while crossed, 44 /s in the rest of the steady phase`.

    The mean in the rest is left out if no single phase contains the crossings, as the whole run would include the
    ramp-up.
    """
    present, crossed = samples.present, finding.counted
    inside = _compute_mean(present, mark_crossings(present.times, crossed))
    parts = [f"mean {format_value(inside, unit)} while crossed"] if inside is not None else ["no samples while crossed"]
    phase = find_phase(crossed, review.phases)
    if phase is not None:
        outside = _compute_mean(present, mark_rest_of_phase(present.times, phase, crossed, review.phases))
        parts += [f"{format_value(outside, unit)} in the rest of the {phase} phase"] if outside is not None else []
    return ", ".join(parts)


def _compute_mean(samples: Samples, chosen: NDArray[np.bool_]) -> float | None:
    values = samples.values[chosen]
    return float(values.mean()) if len(values) else None
