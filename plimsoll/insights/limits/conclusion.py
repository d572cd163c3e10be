"""What limits a run, concluded from its resources, its load and what waited inside the software.

What is not recorded (a service that is called, another host, a quota of processor time) looks like a queue inside the
software: where no resource limits, that the software does is never sure. That the load was too small is sure only where
clients waited no longer for it.
"""

from dataclasses import dataclass, replace
from typing import Literal

from plimsoll.insights.limits.evidence import Evidence
from plimsoll.insights.limits.resource_use import ONE_PROCESS, SQL_CACHE, STOLEN, ResourceUse, State

Kind = Literal["cpu", "disk", "memory", "network", "queue", "load", "unknown"]
_FEWEST_ROWS = 10  # our choice: of a log, to be sure of anything
# What a resource is short of by an inference, not by its own utilization: it limits for sure only if work was flat too.
_INFERRED = (ONE_PROCESS, STOLEN, SQL_CACHE)


@dataclass(frozen=True)
class Conclusion:
    """What limits; `confident` if the figures leave no other explanation that was looked for."""

    kind: Kind
    confident: bool = False
    limiting: ResourceUse | None = None


def conclude(case: Evidence) -> Conclusion:
    """Draw the conclusion: what was near its capacity limits; else the software does, or the load was too small."""
    found = _of_a_resource(case) if case.used_up else _without_a_resource(case)
    return found if case.measured.rows >= _FEWEST_ROWS else replace(found, confident=False)


def _of_a_resource(case: Evidence) -> Conclusion:
    first, *others = case.used_up
    rivals = [one for one in others if one.state == first.state]
    if len(rivals) > 1 and not case.load.flat:
        return Conclusion("unknown")
    return Conclusion(first.resource, not rivals and _is_sure(case, first), first)


def _is_sure(case: Evidence, first: ResourceUse) -> bool:
    """Whether the resource near its capacity is all that can limit."""
    load = case.load
    if load.fell is not None or (load.follows and load.response is not None) or _may_be_paging(case, first):
        return False
    if first.what in _INFERRED or first.needed:
        return load.flat
    alone = not case.open and not case.high
    return first.state == State.FULL or load.flat or alone


def _may_be_paging(case: Evidence, first: ResourceUse) -> bool:
    """Whether a busy disk may read what memory could not hold, since what was left of that is not recorded."""
    return first.resource == "disk" and any(
        one.resource == "memory" and one.host == first.host and one.state <= State.UNCLEAR for one in case.resources
    )


def _without_a_resource(case: Evidence) -> Conclusion:
    recorded, mostly = not case.open, case.mostly_recorded
    follows = case.load.follows
    if follows is True:
        queues = any(one.stands for one in case.waits)
        return Conclusion("load", confident=not queues and not case.crossed and case.why_not_too_small is None)
    if case.high:
        return Conclusion("unknown")
    if case.waits and mostly:
        return Conclusion("queue")
    if follows is False:
        return Conclusion("queue" if recorded else "unknown")
    return Conclusion("load" if mostly and not case.load.bends and not case.often_short else "unknown")
