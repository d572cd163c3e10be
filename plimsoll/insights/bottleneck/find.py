"""What limits a run, reasoned from its figures: a resource; the software, or what is not recorded; or a small load.

The method is that of "Microsoft Windows NT Server File Server Scalability" (System Bottlenecks): what is near its
capacity while the work no longer follows the load limits it; what has room is ruled out; what was not recorded is not.
Where the counters do not tell, the answer is that it cannot be told, and what would have to be recorded.

What is not recorded (a service that is called, another host, a quota of processor time) looks like a queue inside the
software: where no resource limits, that the software does is never sure. That the load was too small is sure only where
clients waited no longer for it.
"""

from dataclasses import dataclass, replace
from typing import Literal

from plimsoll.insights.bottleneck.evidence import Evidence, evidence
from plimsoll.insights.bottleneck.inside_software import Waiting
from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.resource_use import (
    ONE_PROCESS,
    ONE_PROCESSOR,
    SQL_CACHE,
    STOLEN,
    Figure,
    ResourceUse,
    UseState,
)
from plimsoll.review.review import Review

Kind = Literal["cpu", "disk", "memory", "network", "queue", "load", "unknown"]
_FEWEST_ROWS = 10  # our choice: of a log, to be sure of anything
# What a resource is short of by an inference, not by its own utilization: it limits for sure only if work was flat too.
_INFERRED = (ONE_PROCESS, ONE_PROCESSOR, STOLEN, SQL_CACHE)


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """What limits a run, and what that was concluded from.

    Attributes:
        evidence: What it was concluded from.
        kind: The resource; `queue`: the software, or something not recorded; `load`: nothing recorded; or `unknown`.
        confident: Whether the figures leave no other explanation that was looked for.
        limiting: The resource that limits; None for queue, load and unknown.
    """

    evidence: Evidence
    kind: Kind
    confident: bool = False
    limiting: ResourceUse | None = None

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
        nearest = max(
            (resource for resource in self.resources if resource.figures),
            key=lambda resource_use: resource_use.state,
            default=None,
        )
        return nearest.figures[0] if nearest else None

    @property
    def _queue(self) -> Waiting | None:
        """The queue inside the software that limits, if one does."""
        return next(iter(self.evidence.waits), None) if self.kind == "queue" else None


def find_bottleneck(review: Review) -> Bottleneck | None:
    """Return what limits a run; None if it has no samples. Of hosts that are no system, what limits one by itself."""
    if review.start is None or review.end is None or review.end <= review.start:
        return None
    if review.is_apart:
        of_hosts = [bottleneck for host in review.hosts if (bottleneck := find_bottleneck(review.only(host)))]
        return max(of_hosts, key=_weight, default=None)
    case = evidence(review)
    bottleneck = _of_a_resource(case) if case.used_up else _without_a_resource(case)
    return bottleneck if case.measured.rows >= _FEWEST_ROWS else replace(bottleneck, confident=False)


def _weight(bottleneck: Bottleneck) -> tuple[bool, bool, bool, bool]:
    return (
        bottleneck.limiting is not None,
        bottleneck.kind == "queue",
        bottleneck.kind == "unknown",
        bottleneck.confident,
    )


def _of_a_resource(case: Evidence) -> Bottleneck:
    """Return what was near its capacity limits, if no other resource was as near."""
    first, *resource_uses = case.used_up
    rivals = [other for other in resource_uses if other.state == first.state]
    if len(rivals) > 1 and not case.load.flat:
        return Bottleneck(case, "unknown")
    return Bottleneck(case, first.resource, not rivals and _is_sure(case, first), first)


def _is_sure(case: Evidence, first: ResourceUse) -> bool:
    """Return whether the resource near its capacity is all that can limit."""
    load = case.load
    if load.fell is not None or (load.follows and load.response is not None) or _may_be_paging(case, first):
        return False
    if first.aspect in _INFERRED or first.needed:
        return load.flat
    alone = not case.open and not case.high
    return first.state == UseState.FULL or load.flat or alone


def _may_be_paging(case: Evidence, first: ResourceUse) -> bool:
    """Return whether a busy disk may read what memory could not hold, since what was left of that is not recorded."""
    return first.resource == "disk" and any(
        resource.resource == "memory" and resource.host == first.host and resource.state <= UseState.UNCLEAR
        for resource in case.resources
    )


def _without_a_resource(case: Evidence) -> Bottleneck:
    recorded, mostly = not case.open, case.mostly_recorded
    follows = case.load.follows
    if follows is True:
        queues = any(wait.stands for wait in case.waits)
        return Bottleneck(case, "load", confident=not queues and not case.crossed and case.why_not_too_small is None)
    if case.high:
        return Bottleneck(case, "unknown")
    if case.waits and mostly:
        return Bottleneck(case, "queue")
    if follows is False:
        return Bottleneck(case, "queue" if recorded else "unknown")
    return Bottleneck(case, "load" if mostly and not case.load.bends and not case.often_short else "unknown")
