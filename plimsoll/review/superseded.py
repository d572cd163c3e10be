"""Sets the severity of old rules to info where a current document gives another limit for the same quantity."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial

from plimsoll.model.remark import join_names
from plimsoll.review.findings import JUDGED, Finding, Outcome
from plimsoll.rules.host_filter import JudgedSubjects, is_for_such, is_silent
from plimsoll.rules.schema.field_types import Fact
from plimsoll.rules.subjects import Subject

_UNJUDGED = (Outcome.OFF, Outcome.DOES_NOT_APPLY)
_STANDS_IN = "it stands in for others where its counters are all that was recorded"
_BECOMES_NOTE = (*JUDGED, Outcome.TOO_SHORT)
_BECOMES_NOT_APPLICABLE = (Outcome.NO_DATA, Outcome.NOT_JUDGED, Outcome.NOT_RECORDED)
_Judged = dict[tuple[str, str], set[str | None]]  # the instances that a rule judged on a host
FindFact = Callable[[Subject, Fact], float | None]


def supersede(findings: Iterable[Finding], find_fact: FindFact, by_hand: Collection[str] = ()) -> list[Finding]:
    """Return the findings, with severity info for findings of superseded rules.

    A superseded rule that could not be judged does not apply if a current rule was judged on the same host. If no
    current rule was judged, a superseded rule keeps its severity only on systems like the systems it was measured on,
    by the facts that `find_fact` returns. Rules of packs chosen by name (`by_hand`) keep their severity, as do rules
    with a limit in plimsoll.toml.
    """
    items = list(findings)
    judged: _Judged = defaultdict(set)
    for finding in items:
        if finding.subject and finding.outcome in JUDGED:
            host, instance = finding.subject.key
            judged[finding.rule.id, host].add(instance)
    return [
        finding if finding.pack.pack in by_hand or finding.override else _supersede_finding(finding, judged, find_fact)
        for finding in items
    ]


def _supersede_finding(old: Finding, judged: _Judged, find_fact: FindFact) -> Finding:
    """Return `old` with severity info, or as not applying, if a current rule supersedes its rule; else unchanged."""
    subject = old.subject
    if subject is None or not old.rule.superseded_by:
        return old
    if is_silent(old.rule, partial(find_fact, subject)):
        note = f"a note that is for {old.rule.scale} that plimsoll.toml gives"
        return replace(old, outcome=Outcome.DOES_NOT_APPLY, needs=None, notes=(note, *old.notes))
    names = [
        name for name in old.rule.superseded_by if _is_same_instance(subject, judged.get((name, subject.key[0]), ()))
    ]
    by = f"{join_names(names, len(names))} {'judges' if len(names) == 1 else 'judge'} it by current limits"
    if names and old.outcome in _BECOMES_NOT_APPLICABLE:
        return replace(old, outcome=Outcome.DOES_NOT_APPLY, needs=None, notes=(by, *old.notes))
    counts = not names and (not old.severe or is_for_such(old.rule, partial(find_fact, subject)))
    if counts or old.outcome not in _BECOMES_NOTE:
        return old
    measured = f"measured on {old.rule.measured_on}" if old.rule.measured_on else "an old limit"
    why = by if names else f"current limits are those of {join_names(old.rule.superseded_by, 2)}, which were not judged"
    notes = (f"{measured}, not counted: {why}", *(note for note in old.notes if note != measured))
    rule = replace(old.rule, severity="info")
    return replace(old, rule=rule, superseded_by=tuple(names or old.rule.superseded_by), notes=notes)


def _is_same_instance(old: Subject, current: Collection[str | None]) -> bool:
    """Return whether one of the `current` instances is that of `old`, or either is the whole host."""
    instance = old.key[1]
    return instance in current or None in current or (instance is None and bool(current))


def drop_stand_ins(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; a fallback rule does not apply where the rule that it stands in for was judged."""
    items = list(findings)
    judged = JudgedSubjects(
        (finding.rule, finding.subject) for finding in items if finding.subject and finding.outcome in JUDGED
    )

    def fitted(finding: Finding) -> Finding:
        if not finding.rule.stands_in_for or finding.subject is None or finding.outcome in _UNJUDGED:
            return finding
        if finding.outcome == Outcome.NOT_RECORDED:
            return replace(finding, outcome=Outcome.DOES_NOT_APPLY, notes=(_STANDS_IN, *finding.notes))
        better = judged.better(finding.rule, finding.subject)
        if better is None:
            return finding
        judged.discard(finding.rule, finding.subject)
        return replace(finding, outcome=Outcome.DOES_NOT_APPLY, notes=(f"{better} judges it", *finding.notes))

    return [fitted(finding) for finding in items]
