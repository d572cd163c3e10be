"""Processors that are spent on going from one thread to another: many more switches for hardly more work.

"Site Server 3.0 Membership Directory: capacity and performance" has the example: 130.55 to 142.33 searches/s took 7,599
to 15,054 switches/s.
"""

from collections.abc import Iterator

from plimsoll.analysis.response import middle
from plimsoll.insights.limits.evidence import Evidence
from plimsoll.insights.limits.figure import Figure, figure_of
from plimsoll.insights.limits.measured import median_in
from plimsoll.model.value_text import quantity

# The studies' rule: twice the switches for less than a tenth more work.
_SWITCHES, _WORK = 1.9, 1.1


def switching(case: Evidence) -> Iterator[tuple[str, tuple[Figure, ...]]]:
    """A sentence for each host whose context switches doubled for less than a tenth more work."""
    load, measured = case.load, case.measured
    if load.offered is None or load.work is None:
        return
    part = middle(measured.parts.means(load.offered.samples))
    work = measured.parts.means(load.work.samples)
    if not part.any() or median_in(work, load.top) >= _WORK * median_in(work, part):
        return
    for subject, values in measured.of("cpu.context_switches").items():
        before, after = median_in(values, part), median_in(values, load.top)
        if after >= _SWITCHES * before > 0:
            figure = figure_of(measured, load, "cpu.context_switches", subject, values, compared=False)
            yield (
                f"Context switches of {subject.host} went from {quantity(before, '/s')} to {quantity(after, '/s')} for "
                f"hardly more work: processors are spent on switching between threads.",
                (figure,),
            )
