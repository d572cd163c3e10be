"""Rules that stand in for others: judged only where none of those was."""

from collections.abc import Iterable

from plimsoll.rules.same_instance import same_instance
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.subjects import Subject, is_total

JudgedSubjects = dict[tuple[str, str], set[str | None]]  # instances, by rule and host, in lower case


def judged_subjects(judged: Iterable[tuple[Rule, Subject]]) -> JudgedSubjects:
    """The subjects that each rule was judged for."""
    found: JudgedSubjects = {}
    for rule, subject in judged:
        found.setdefault((rule.id, subject.key[0]), set()).add(subject.key[1])
    return found


def better_judged(rule: Rule, subject: Subject, judged: JudgedSubjects) -> str | None:
    """The rule that was judged instead of one that stands in for it; None if there is none."""
    host, instance = subject.key
    for name in rule.stands_in_for:
        there = judged.get((name, host))
        if there and _is_among(instance, there):
            return name
    return None


def _is_among(instance: str | None, there: set[str | None]) -> bool:
    """Whether it is the same instance, or either is the host as a whole."""
    if instance is None or None in there or instance in there or is_total(instance):
        return True
    others = [one for one in there if one is not None]
    return any(map(is_total, others)) or same_instance(instance, others) is not None
