"""Charts that overlay several runs; their time axis is the time since the start of each run."""

from collections.abc import Sequence
from itertools import islice

from plimsoll.charts.chart import Chart, ChartLimit, Charts, ChartSeries
from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.compared_signal import Compared
from plimsoll.comparison.sentences import name_place
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.times import Zone
from plimsoll.review.findings import JUDGED
from plimsoll.rules.subjects import Subject

_UTC = Zone.parse("UTC")


class Overlaid:
    """The charts of comparisons; each chart draws one signal in the baseline and in one compared run."""

    def __init__(self, comparisons: Sequence[Comparison]) -> None:
        sides = [comparisons[0].first, *(comparison.second for comparison in comparisons)]
        longest = max(((side.review.end or 0) - (side.review.start or 0) for side in sides), default=0)
        # The baseline's phases are drawn for orientation; each run is judged within its own.
        baseline = sides[0].review
        begin = baseline.start or 0
        phases = [Phase(phase.name, phase.start - begin, phase.end - begin) for phase in baseline.phases]
        self.charts = Charts(0, longest, phases, _UTC)

    def add(self, comparison: Comparison, compared: Compared) -> Chart | None:
        """Return a new chart of a signal in both runs; None if neither run has samples."""
        lines = [
            ChartSeries(f"{side.name}: {name_place(compared)}", kind, samples, caption=side.name)
            for side, subject, kind in (
                (comparison.second, compared.other, "line-1"),
                (comparison.first, compared.subject, "line-4"),
            )
            if (samples := _find_samples(side, compared.name, subject)) is not None
        ]
        if not lines:
            return None
        label = f"{compared.signal.title} of {name_place(compared)} in both runs, over the time since their start"
        levels = (
            finding.track.healthy.limit
            for finding in comparison.second.review.findings
            if finding.rule.signal == compared.name
            and finding.subject == compared.other
            and finding.outcome in JUDGED
            and finding.track
            and finding.severe
            and finding.rule.reduce in ("mean", "last", "max", "min")
            and not finding.superseded_by
        )
        limits = [ChartLimit.of(level, compared.signal.unit) for level in islice(levels, 1)]
        return self.charts.add(lines, compared.signal.unit, label, limits=limits)


def _find_samples(side: RunSide, name: str, subject: Subject) -> Samples | None:
    """Return the samples of a signal, with times since the start of the run (ns); None without samples."""
    samples, start = side.review.signals.of(name).get(subject), side.review.start
    return None if samples is None or start is None else Samples(samples.times - start, samples.values)
