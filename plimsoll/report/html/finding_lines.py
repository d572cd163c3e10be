"""The lines and limits of a finding's chart: recorded samples, and the values that its rule computes from them."""

from collections.abc import Sequence

import numpy as np

from plimsoll.charts.chart import ChartLimit, ChartSeries
from plimsoll.model.log import find_sampling_interval
from plimsoll.model.samples import Samples
from plimsoll.model.times import format_duration
from plimsoll.model.value_text import format_value, number
from plimsoll.review.findings import Finding
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.sentences import format_window, limit_of

OWN_SCALE = ("sum", "count", "increase")  # reduced values that are not comparable to single samples


def draw_finding(finding: Finding, signals: RecordedSignals) -> list[ChartSeries]:
    """Return the judged values, and the samples from which they were computed; a single line if both are equal."""
    samples, track = signals.samples(finding), finding.track
    if track is None:
        return []
    judged = Samples(track.times, track.values)
    shown = None if finding.rule.reduce in OWN_SCALE else samples
    count = signals.count(finding)
    # Of a growing count the change between two samples is drawn.
    caption = f"change per second between {number(count)} samples" if signals.grows(finding) and count else ""
    lines = [ChartSeries(finding.signal.title, "samples", shown, caption)] if shown is not None else []
    if shown is None or not (
        np.array_equal(shown.times, judged.times) and np.array_equal(shown.values, judged.values, equal_nan=True)
    ):
        label = f"{finding.rule.reduce} over {format_window(finding)}"
        interval = find_sampling_interval(track.times)
        text = f", one every {format_duration(interval)}" if interval else ""
        plural = "" if track.judged == 1 else "s"
        caption = f"{label}, as judged: {number(track.judged)} evaluation{plural}{text}"
        lines.insert(0, ChartSeries(label, "judged", judged, caption))
    return lines


def describe_constant(lines: Sequence[ChartSeries], unit: str) -> str:
    """Return `always 4,096 MB` if the values never change, so that no chart is needed; else an empty text."""
    values = [line.samples.present.values for line in lines]
    levels = {float(level) for of_line in values if len(of_line) for level in (of_line.min(), of_line.max())}
    return f"always {format_value(levels.pop(), unit)}" if len(levels) == 1 else ""


def list_limits(finding: Finding, findings: tuple[Finding, ...] = ()) -> list[ChartLimit]:
    """Return the limit of a finding, and the limits of other findings with the same signal, subject and scale."""
    unit = finding.signal.unit
    levels = {limit_of(finding).limit: finding.rule.severity}
    if finding.rule.reduce not in OWN_SCALE:
        drawn = (other for other in findings if other.rule.reduce not in OWN_SCALE and not other.superseded_by)
        levels = {limit_of(finding).limit: finding.rule.severity for finding in drawn} | levels
        levels = {limit_of(finding).limit: finding.rule.severity} | levels
    return [ChartLimit.of(level, unit, severity) for level, severity in levels.items()]
