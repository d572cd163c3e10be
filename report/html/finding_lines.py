"""The lines of a judged signal: its samples as they were recorded, and what a rule made of them."""

import numpy as np

from model.samples import Samples
from model.sampling import sampling_interval
from model.times import duration_text
from model.value_text import number
from report.html.chart import Limit, Line
from report.html.recorded_signals import RecordedSignals
from review.findings import Finding
from review.sentences import limit_of, window

OWN_SCALE = ("sum", "count", "increase")  # reduced values that are no level a sample could have


def finding_lines(finding: Finding, signals: RecordedSignals) -> list[Line]:
    """What is judged and what it is judged by; one line where both are the same."""
    samples, track = signals.samples(finding), finding.track
    if track is None:
        return []
    judged = Samples(track.times, track.values)
    shown = None if finding.rule.reduce in OWN_SCALE else samples
    lines = [Line(finding.signal.title, "samples", shown, _between(finding, signals))] if shown is not None else []
    if shown is None or not _alike(shown, judged):
        label = f"{finding.rule.reduce} over {window(finding)}"
        apart = sampling_interval(track.times)
        every = f", one every {duration_text(apart)}" if apart else ""
        plural = "" if track.judged == 1 else "s"
        said = f"{label}, which is what is judged: {number(track.judged)} evaluation{plural}{every}"
        lines.insert(0, Line(label, "judged", judged, said))
    return lines


def limits(finding: Finding, others: tuple[Finding, ...] = ()) -> list[Limit]:
    """The limit of a finding, and those of others of the same signal and subject that are held on the same scale."""
    unit = finding.signal.unit
    levels = {limit_of(finding).limit: None}
    if finding.rule.reduce not in OWN_SCALE:
        drawn = (one for one in others if one.rule.reduce not in OWN_SCALE and not one.superseded_by)
        levels |= {limit_of(one).limit: None for one in drawn}
    return [Limit.of(level, unit) for level in levels]


def _between(finding: Finding, signals: RecordedSignals) -> str:
    """What stands in the caption of a growing count: its change is shown, between two samples each."""
    count = signals.count(finding)
    return f"change per second between {number(count)} samples" if signals.grows(finding) and count else ""


def _alike(samples: Samples, judged: Samples) -> bool:
    return np.array_equal(samples.times, judged.times) and np.array_equal(samples.values, judged.values, equal_nan=True)
