"""The phases that were found, in the JSON of a review."""

from plimsoll.analysis.phases import Boundary
from plimsoll.model.times import iso
from plimsoll.report.json_schema import BoundaryPart, FoundPhasesPart
from plimsoll.review.found_phases import FoundPhases


def found_phases(found: FoundPhases) -> FoundPhasesPart:
    """What the load tells of the phases."""
    begin, end = (None if one is None else _boundary(one) for one in found.boundaries)
    return FoundPhasesPart(
        steady=bool(found.phases) if found.known else None,
        sentence=found.sentence,
        signal=found.signal or None,
        title=found.title or None,
        confidence=found.confidence,
        begin=begin,
        end=end,
    )


def _boundary(one: Boundary) -> BoundaryPart:
    return BoundaryPart(at=iso(one.at), earliest=iso(one.low), latest=iso(one.high), confidence=one.confidence)
