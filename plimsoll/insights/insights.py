"""A diagnosis: what the signals of a reviewed run tell beyond its thresholds."""

from dataclasses import dataclass
from functools import cached_property

from plimsoll.insights.averages.find import MisleadingAverage, misleading_averages
from plimsoll.insights.limits.find import Limit, what_limits
from plimsoll.insights.load_steps.find import LoadSteps, load_steps
from plimsoll.insights.spikes.find import PeriodicSpikes, periodic_spikes
from plimsoll.insights.trends.find import SignalTrend, trends
from plimsoll.review.review import Review


@dataclass(frozen=True)
class Diagnosis:
    """A review and what else its signals tell. The outputs are made from this."""

    review: Review

    @cached_property
    def averages(self) -> tuple[MisleadingAverage, ...]:
        """The averages that mislead, the worst first."""
        return misleading_averages(self.review)

    @cached_property
    def spikes(self) -> tuple[PeriodicSpikes, ...]:
        """The spikes that come at regular intervals."""
        return periodic_spikes(self.review)

    @cached_property
    def trends(self) -> tuple[SignalTrend, ...]:
        """The trends of signals that must not climb or fall, or should; the notable ones first."""
        return trends(self.review)

    @cached_property
    def limit(self) -> Limit | None:
        """What limits the run; None if it has no samples."""
        return what_limits(self.review)

    @cached_property
    def load_steps(self) -> LoadSteps | None:
        """The steps of the run's load, and what they show; None if it was not stepped."""
        return load_steps(self.review)
