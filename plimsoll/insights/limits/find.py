"""What limits a run, reasoned from its figures: a resource; the software, or what is not recorded; or a small load.

The method is that of "Microsoft Windows NT Server File Server Scalability" (System Bottlenecks): what is near its
capacity while the work no longer follows the load limits it; what has room is ruled out; what was not recorded is not.
Where the counters do not tell, the answer is that it cannot be told, and what would have to be recorded.
"""

from dataclasses import dataclass

from plimsoll.insights.limits.conclusion import Conclusion, Kind, conclude
from plimsoll.insights.limits.evidence import Evidence, evidence
from plimsoll.insights.limits.figure import Figure
from plimsoll.insights.limits.inside_software import Waiting
from plimsoll.insights.limits.load_response import LoadResponse
from plimsoll.insights.limits.resource_use import ResourceUse
from plimsoll.review.review import Review


@dataclass(frozen=True, eq=False)
class Limit:
    """What limits a run: the conclusion, and what it was drawn from."""

    evidence: Evidence
    conclusion: Conclusion

    @property
    def kind(self) -> Kind:
        """The resource; `queue`: the software, or something not recorded; `load`: nothing recorded; or `unknown`."""
        return self.conclusion.kind

    @property
    def confident(self) -> bool:
        """Whether the figures leave no other explanation that was looked for."""
        return self.conclusion.confident

    @property
    def limiting(self) -> ResourceUse | None:
        """The resource that limits; None for queue, load and unknown."""
        return self.conclusion.limiting

    @property
    def resources(self) -> tuple[ResourceUse, ...]:
        """Every resource of every host."""
        return self.evidence.resources

    @property
    def load(self) -> LoadResponse:
        """The load, and how the work responded."""
        return self.evidence.load

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The times of the highest load (UTC ns), which the figures are of."""
        return self.evidence.spans

    @property
    def phase(self) -> str | None:
        """The phase that most of them is in."""
        return self.evidence.phase

    @property
    def host(self) -> str | None:
        """The host that limits, or on which a queue grew; None where no one does."""
        if self.limiting is not None:
            return self.limiting.host
        return self._queue.figure.subject.host if self._queue is not None else None

    @property
    def instance(self) -> str | None:
        """The disk, adapter, processor or process that limits."""
        return self.limiting.instance if self.limiting else None

    @property
    def main(self) -> Figure | None:
        """The figure that tells most: of what limits, or of what came nearest to a limit."""
        if self.limiting is not None:
            return self.limiting.figures[0]
        if self._queue is not None:
            return self._queue.figure
        nearest = max((one for one in self.resources if one.figures), key=lambda one: one.state, default=None)
        return nearest.figures[0] if nearest else None

    @property
    def _queue(self) -> Waiting | None:
        """The queue inside the software that limits, if one does."""
        return next(iter(self.evidence.waits), None) if self.kind == "queue" else None


def what_limits(review: Review) -> Limit | None:
    """What limits a run; None if it has no samples. Of hosts that are no system, what limits one by itself."""
    if review.start is None or review.end is None or review.end <= review.start:
        return None
    if review.is_apart:
        each = [one for host in review.hosts if (one := what_limits(review.only(host)))]
        return max(each, key=_weight, default=None)
    found = evidence(review)
    return Limit(found, conclude(found))


def _weight(found: Limit) -> tuple[bool, bool, bool, bool]:
    return found.limiting is not None, found.kind == "queue", found.kind == "unknown", found.confident
