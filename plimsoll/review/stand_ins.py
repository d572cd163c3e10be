"""Rules that stand in for others do not apply where one of those was judged."""

from collections.abc import Iterable
from dataclasses import replace

from plimsoll.review.findings import JUDGED, Finding, Outcome
from plimsoll.rules.stand_ins import JudgedSubjects

_UNJUDGED = (Outcome.OFF, Outcome.DOES_NOT_APPLY)
_STANDS_IN = "it stands in for others where its counters are all that was recorded"


def without_stand_ins(findings: Iterable[Finding]) -> list[Finding]:
    """The findings; those of rules that stand in for one that was judged of the same thing do not apply."""
    found = list(findings)
    judged = JudgedSubjects((one.rule, one.subject) for one in found if one.subject and one.outcome in JUDGED)

    def fitted(one: Finding) -> Finding:
        if not one.rule.stands_in_for or one.subject is None or one.outcome in _UNJUDGED:
            return one
        if one.outcome == Outcome.NOT_RECORDED:
            return replace(one, outcome=Outcome.DOES_NOT_APPLY, notes=(_STANDS_IN, *one.notes))
        better = judged.better(one.rule, one.subject)
        if better is None:
            return one
        judged.discard(one.rule, one.subject)
        return replace(one, outcome=Outcome.DOES_NOT_APPLY, notes=(f"{better} judges it", *one.notes))

    return [fitted(one) for one in found]
