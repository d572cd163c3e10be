"""Spikes, trends and averages: what stands beside the limits of signals, told in the same way."""

from collections.abc import Sequence

from plimsoll.insights.insight import Heading, Told
from plimsoll.model.styled import Line

HEADING = Heading(
    "spikes-and-trends",
    "Spikes, trends and averages",
    "Spikes and trends",
    "beside",
    note="What the signals show beside their limits; none of it changes the verdict.",
)
_MOST = 3


def told(every: Sequence[Sequence[str]]) -> Told:
    """The first of several, each as a sentence and more about it; more that is empty is left out."""
    lines: list[Line] = []
    for first, *more in every[:_MOST]:
        lines.append((f"  {first}",))
        lines += [((f"      {text}", "dim"),) for text in more if text]
    return Told(tuple(lines), max(0, len(every) - _MOST))
