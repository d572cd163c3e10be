"""Charts of several runs laid over each other, by the time since each of them began."""

from collections.abc import Sequence

from plimsoll.charts.chart import Chart, ChartLimit, Charts, ChartSeries
from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.compared_signal import Compared
from plimsoll.comparison.sentences import place
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.times import Zone
from plimsoll.review.findings import JUDGED
from plimsoll.rules.subjects import Subject

_UTC = Zone.parse("UTC")


class Overlaid:
    """The charts of a comparison; None where no run has samples."""

    def __init__(self, comparisons: Sequence[Comparison]) -> None:
        sides = [comparisons[0].first, *(comparison.second for comparison in comparisons)]
        longest = max(((side.review.end or 0) - (side.review.start or 0) for side in sides), default=0)
        # Those of the baseline: they are drawn for orientation, and each run is judged within its own.
        phases = [Phase(phase.name, *_since(sides[0], phase.start, phase.end)) for phase in sides[0].review.phases]
        self.charts = Charts(0, longest, phases, _UTC)

    def add(self, comparison: Comparison, compared: Compared) -> Chart | None:
        """Return a chart of a signal in both runs."""
        lines = [
            ChartSeries(f"{side.name}: {place(compared)}", kind, samples, caption=side.name)
            for side, subject, kind in (
                (comparison.second, compared.other, "line-1"),
                (comparison.first, compared.subject, "line-4"),
            )
            if (samples := _samples(side, compared.name, subject)) is not None
        ]
        if not lines:
            return None
        label = f"{compared.signal.title} of {place(compared)} in both runs, over the time since their start"
        limits = [ChartLimit.of(level, compared.signal.unit) for level in _limits(comparison.second, compared)]
        return self.charts.add(lines, compared.signal.unit, label, limits=limits)


def _samples(side: RunSide, name: str, subject: Subject) -> Samples | None:
    samples = side.review.signals.of(name).get(subject)
    start = side.review.start
    if samples is None or start is None:
        return None
    return Samples(samples.times - start, samples.values)


def _limits(side: RunSide, compared: Compared) -> list[float]:
    """Return the limits of warning and critical rules that were judged of the signal there."""
    items = [
        finding.track.healthy.limit
        for finding in side.review.findings
        if finding.rule.signal == compared.name
        and finding.subject == compared.other
        and finding.outcome in JUDGED
        and finding.track
        and finding.severe
        and finding.rule.reduce in ("mean", "last", "max", "min")
        and not finding.superseded_by
    ]
    return list(dict.fromkeys(items))[:1]


def _since(side: RunSide, start: int, end: int) -> tuple[int, int]:
    begin = side.review.start or 0
    return start - begin, end - begin
