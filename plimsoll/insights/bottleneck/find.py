"""The bottleneck of a run: a resource, a queue inside the software, or none because the load was too small.

The method is that of "Microsoft Windows NT Server File Server Scalability" (System Bottlenecks). A resource that is
near its capacity while the work no longer follows the load is the bottleneck. A resource with room is ruled out, but a
resource that was not recorded is not. If the counters do not tell, the answer says so, and names the counters to
record. Something that is not recorded (a called service, another host, a quota of processor time) looks like a queue
inside the software. So without a limiting resource, the software is never certain to be the bottleneck. That the load
was too small is certain only if response times did not grow with the load.
"""

from dataclasses import replace
from typing import Literal

from plimsoll.insights.bottleneck.evidence import Evidence, collect_evidence
from plimsoll.insights.bottleneck.inside_software import Waiting
from plimsoll.insights.bottleneck.resource_use import (
    ONE_PROCESS,
    ONE_PROCESSOR,
    SQL_CACHE,
    STOLEN,
    Figure,
    ResourceUse,
    UseState,
)
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.review.review import Review

Kind = Literal["cpu", "disk", "memory", "network", "queue", "load", "unknown"]
_FEWEST_ROWS = 10  # our choice: of a log, to be sure of anything
_BENDS = 0.65  # our choice: an elasticity below it is far less than that of work that follows
# What a resource is short of by an inference, not by its own utilization: it limits for sure only if work was flat too.
_INFERRED = (ONE_PROCESS, ONE_PROCESSOR, STOLEN, SQL_CACHE)


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """The conclusion on the bottleneck of a run.

    Attributes:
        evidence: The figures that the conclusion rests on.
        kind: A resource; `queue` (the software, or something not recorded); `load` (no limit was reached); or
            `unknown`.
        confident: Whether the figures exclude every explanation but this one.
        limiting: The resource that is the bottleneck; None for the kinds `queue`, `load` and `unknown`.
    """

    evidence: Evidence
    kind: Kind
    confident: bool = False
    limiting: ResourceUse | None = None

    @property
    def host(self) -> str | None:
        """The host of the limiting resource, or of the queue; None if there is neither."""
        if self.limiting is not None:
            return self.limiting.host
        return self._queue.figure.subject.host if self._queue is not None else None

    @property
    def instance(self) -> str | None:
        """The instance that is the bottleneck (disk, adapter, processor or process); None without an instance."""
        return self.limiting.instance if self.limiting else None

    @property
    def main(self) -> Figure | None:
        """The main figure of the bottleneck, else of the resource nearest to its capacity; None without figures."""
        if self._queue is not None:
            return self._queue.figure
        uses = [self.limiting] if self.limiting else [use for use in self.evidence.resources if use.figures]
        nearest = max(uses, key=lambda use: use.state, default=None)
        return nearest.figures[0] if nearest else None

    @property
    def _queue(self) -> Waiting | None:
        """The queue or waiting time inside the software that is the bottleneck; None if the kind is not `queue`."""
        return next(iter(self.evidence.waits), None) if self.kind == "queue" else None


def find_bottleneck(review: Review) -> Bottleneck | None:
    """Return the bottleneck of a run; None without samples.

    If the hosts are not one system, the bottleneck of each host is sought, and the clearest of these is returned.
    """
    if review.start is None or review.end is None or review.end <= review.start:
        return None
    if review.is_apart:
        of_hosts = [bottleneck for host in review.hosts if (bottleneck := find_bottleneck(review.only(host)))]
        rank = {"load": 0, "unknown": 1, "queue": 2}  # a resource ranks highest
        return max(of_hosts, key=lambda limit: (rank.get(limit.kind, 3), limit.confident), default=None)
    case = collect_evidence(review)
    bottleneck = _choose_resource(case) if case.used_up else _choose_without_resource(case)
    return bottleneck if case.measured.rows >= _FEWEST_ROWS else replace(bottleneck, confident=False)


def _choose_resource(case: Evidence) -> Bottleneck:
    """Return the resource nearest to its capacity as the bottleneck, confidently only if no other resource is as near.

    The kind is `unknown` if two or more other resources are as near, unless the work surely did not follow the load.
    """
    first, *others = case.used_up
    rivals = [other for other in others if other.state == first.state]
    if len(rivals) > 1 and case.load.follows is not False:
        return Bottleneck(case, "unknown")
    return Bottleneck(case, first.resource, not rivals and _is_sure(case, first), first)


def _is_sure(case: Evidence, first: ResourceUse) -> bool:
    """Return whether the resource `first` is certainly the bottleneck: the figures exclude other explanations."""
    load = case.load
    # If free memory is not recorded, a busy disk may read what memory could not hold.
    may_be_paging = first.resource == "disk" and any(
        use.resource == "memory" and use.host == first.host and use.state <= UseState.UNCLEAR for use in case.resources
    )
    if load.fell is not None or (load.follows and load.response is not None) or may_be_paging:
        return False
    flat = load.follows is False
    if first.aspect in _INFERRED or first.needed:
        return flat
    return first.state == UseState.FULL or flat or not (case.open or case.high)


def _choose_without_resource(case: Evidence) -> Bottleneck:
    """Return the bottleneck of a run without a used-up resource: of the kind `queue`, `load` or `unknown`."""
    load, mostly = case.load, case.mostly_recorded
    if load.follows:
        queues = any(wait.stands for wait in case.waits)
        return Bottleneck(case, "load", confident=not queues and not case.crossed and case.why_not_too_small is None)
    if case.high:
        return Bottleneck(case, "unknown")
    if case.waits and mostly:
        return Bottleneck(case, "queue")
    if load.follows is False:
        return Bottleneck(case, "queue" if not case.open else "unknown")
    bends = load.response is not None and load.response.elasticity < _BENDS
    return Bottleneck(case, "load" if mostly and not bends and case.longest_short is None else "unknown")
