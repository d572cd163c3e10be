"""Old limits are notes: today's documents give another limit for the same thing."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from plimsoll.model.remark import listed
from plimsoll.model.series import host_key
from plimsoll.review.findings import JUDGED, Finding, Outcome
from plimsoll.rules.host_filter import is_for_such, says_nothing
from plimsoll.rules.schema.field_types import Fact
from plimsoll.rules.stand_ins import JudgedSubjects
from plimsoll.rules.subjects import Subject

_UNJUDGED = (Outcome.OFF, Outcome.DOES_NOT_APPLY)


_STANDS_IN = "it stands in for others where its counters are all that was recorded"


_BECOMES_NOTE = (*JUDGED, Outcome.TOO_SHORT)
_BECOMES_NOT_APPLICABLE = (Outcome.NO_DATA, Outcome.NOT_JUDGED, Outcome.NOT_RECORDED)

Known = Callable[[Subject, Fact], float | None]


def supersede(findings: Iterable[Finding], known: Known, by_hand: Collection[str] = ()) -> list[Finding]:
    """The findings; those of superseded rules are notes (info).

    Where a current rule was judged on the same host, a superseded rule that could not be judged does not apply. Where
    none was, the old one counts only on the systems that it was measured on, by the `known` facts. Rules of packs that
    were chosen by name (`by_hand`) keep their severity, as do those for which plimsoll.toml sets a limit.
    """
    found = list(findings)
    judged: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        if one.subject and one.outcome in JUDGED:
            judged.setdefault((one.rule.id, host_key(one.subject.host)), []).append(one)
    return [one if one.pack.pack in by_hand or one.override else _superseded(one, judged, known) for one in found]


def _superseded(old: Finding, judged: dict[tuple[str, str], list[Finding]], known: Known) -> Finding:
    subject = old.subject
    if subject is None or not old.rule.superseded_by:
        return old
    if says_nothing(old.rule, partial(known, subject)):
        note = f"a note that is for {old.rule.scale} that plimsoll.toml gives"
        return replace(old, outcome=Outcome.DOES_NOT_APPLY, needs=None, notes=(note, *old.notes))
    names = [name for name in old.rule.superseded_by if _same_thing(old, judged.get((name, subject.key[0]), ()))]
    by = f"{listed(names, len(names))} {'judges' if len(names) == 1 else 'judge'} it by limits of today"
    if names and old.outcome in _BECOMES_NOT_APPLICABLE:
        return replace(old, outcome=Outcome.DOES_NOT_APPLY, needs=None, notes=(by, *old.notes))
    counts = not names and (not old.severe or is_for_such(old.rule, partial(known, subject)))
    if counts or old.outcome not in _BECOMES_NOTE:
        return old
    measured = f"measured on {old.rule.measured_on}" if old.rule.measured_on else "an old limit"
    why = by if names else f"limits of today are those of {listed(old.rule.superseded_by, 2)}, which were not judged"
    notes = (f"{measured}, not counted: {why}", *(note for note in old.notes if note != measured))
    rule = old.rule.model_copy(update={"severity": "info"})
    return replace(old, rule=rule, superseded_by=tuple(names or old.rule.superseded_by), notes=notes)


def _same_thing(old: Finding, current: Sequence[Finding]) -> bool:
    """Whether a current finding is of the same instance, or either is of the host as a whole."""
    key = old.subject.key if old.subject else ("", None)
    instances = [one.subject.key[1] for one in current if one.subject]
    return any(one is None or key[1] is None or one == key[1] for one in instances)


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
