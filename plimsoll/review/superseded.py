"""Old limits become notes where a current rule judged the same thing."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from plimsoll.model.host_key import host_key
from plimsoll.model.remark import listed
from plimsoll.review.findings import JUDGED, Finding, Outcome

_BECOMES_NOTE = (*JUDGED, Outcome.TOO_SHORT)
_BECOMES_NOT_APPLICABLE = (Outcome.NO_DATA, Outcome.NOT_JUDGED, Outcome.NOT_RECORDED)


def supersede(findings: Iterable[Finding], by_hand: Collection[str] = ()) -> list[Finding]:
    """The findings; those of superseded rules become notes (info) where a current rule was judged on the same host.

    A superseded rule that could not be judged there does not apply. Rules of packs that were chosen by name
    (`by_hand`) keep their severity, as do those for which plimsoll.toml sets a limit.
    """
    found = list(findings)
    judged: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        if one.subject and one.outcome in JUDGED:
            judged.setdefault((one.rule.id, host_key(one.subject.host)), []).append(one)
    return [one if one.pack.pack in by_hand or one.override else _superseded(one, judged) for one in found]


def _superseded(old: Finding, judged: dict[tuple[str, str], list[Finding]]) -> Finding:
    subject = old.subject
    if subject is None:
        return old
    names = [name for name in old.rule.superseded_by if _same_thing(old, judged.get((name, subject.key[0]), ()))]
    if not names:
        return old
    by = f"{listed(names, len(names))} {'judges' if len(names) == 1 else 'judge'} it by limits of today"
    if old.outcome in _BECOMES_NOT_APPLICABLE:
        return replace(old, outcome=Outcome.DOES_NOT_APPLY, needs=None, notes=(by, *old.notes))
    if old.outcome not in _BECOMES_NOTE:
        return old
    measured = f"measured on {old.rule.measured_on}" if old.rule.measured_on else "an old limit"
    notes = (f"{measured}, not counted: {by}", *(note for note in old.notes if note != measured))
    rule = old.rule.model_copy(update={"severity": "info"})
    return replace(old, rule=rule, superseded_by=tuple(names), notes=notes)


def _same_thing(old: Finding, current: Sequence[Finding]) -> bool:
    """Whether a current finding is of the same instance, or either is of the host as a whole."""
    key = old.subject.key if old.subject else ("", None)
    instances = [one.subject.key[1] for one in current if one.subject]
    return any(one is None or key[1] is None or one == key[1] for one in instances)
