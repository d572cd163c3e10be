"""The phases that were found, in the JSON of a review."""

from plimsoll.analysis.phases import Boundary
from plimsoll.model.times import iso
from plimsoll.report.json_schema import BoundaryPart, FoundPhasesPart
from plimsoll.review.phases.found_phases import FoundPhases
from plimsoll.review.review import Review
from plimsoll.review.sentences import subject_title


def found_phases(found: FoundPhases, review: Review) -> FoundPhasesPart:
    """What the load tells of the phases."""
    begin, end = (None if one is None else _boundary(one) for one in found.boundaries)
    return FoundPhasesPart(
        steady=bool(found.phases) if found.known else None,
        sentence=found.sentence,
        signal=found.signal or None,
        title=found.title or None,
        judged=review.judged_by_found is not None,
        crossed_before=[*dict.fromkeys(subject_title(one) for one in review.before_steady)],
        confidence=found.confidence,
        begin=begin,
        end=end,
    )


def _boundary(one: Boundary) -> BoundaryPart:
    return BoundaryPart(at=iso(one.at), earliest=iso(one.low), latest=iso(one.high), confidence=one.confidence)
