"""Rules that stand in for others: judged only where none of those was."""

from collections.abc import Iterable

from plimsoll.rules.instances import Instances
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.subjects import Subject, is_total


class JudgedSubjects:
    """The instances that each rule was judged for, by rule and host, in lower case."""

    def __init__(self, judged: Iterable[tuple[Rule, Subject]]) -> None:
        self._there: dict[tuple[str, str], _Judged] = {}
        for rule, subject in judged:
            self._there.setdefault((rule.id, subject.key[0]), _Judged()).add(subject.key[1])

    def discard(self, rule: Rule, subject: Subject) -> None:
        """Take out a subject that a rule is not judged for after all."""
        if there := self._there.get((rule.id, subject.key[0])):
            there.discard(subject.key[1])

    def better(self, rule: Rule, subject: Subject) -> str | None:
        """The rule that was judged instead of one that stands in for it; None if there is none."""
        host, instance = subject.key
        for name in rule.stands_in_for:
            there = self._there.get((name, host))
            if there and there.has(instance):
                return name
        return None


class _Judged:
    """The instances of one host."""

    def __init__(self) -> None:
        self._whole: set[str | None] = set()  # the host as a whole: without a name, or a total
        self._named: set[str] = set()
        self._instances = Instances()

    def add(self, instance: str | None) -> None:
        if instance is None or is_total(instance):
            self._whole.add(instance)
        elif instance not in self._named:
            self._named.add(instance)
            self._instances.add(instance)

    def discard(self, instance: str | None) -> None:
        self._whole.discard(instance)
        if instance is not None and instance in self._named:
            self._named.discard(instance)
            self._instances.remove(instance)

    def has(self, instance: str | None) -> bool:
        """Whether it is the same instance, or either is the host as a whole."""
        if self._whole:
            return True
        if instance is None or is_total(instance):
            return bool(self._named)
        return instance in self._named or self._instances.same(instance) is not None
