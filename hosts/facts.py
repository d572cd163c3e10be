"""Host facts that limits scale by: from plimsoll.toml, else from the log, else the documented default."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rules.field_types import AnyFact, Fact
from rules.host_filter import matches
from rules.pack_schema import Rule
from rules.subjects import Subject

_DEFAULTS: Mapping[str, float] = {"processors": 1, "spindles": 1}
_NAMES = {
    "processors": "processors",
    "spindles": "spindles",
    "clock_mhz": "MHz",
    "memory_mb": "MB",
    "link_bits": "bit/s",
}
Drives = Mapping[Subject, str]  # what the marked disks hold
SeenFacts = Mapping[tuple[str, str | None], Mapping[str, float]]


@dataclass(frozen=True)
class GivenFacts(SeenFacts):
    """What plimsoll.toml says of hosts (their instance is None) and of their instances, by the key of each.

    `by_subject` has them as they are written there, those of which no fact is said as well.
    """

    by_subject: Mapping[Subject, Mapping[str, float]] = field(default_factory=dict[Subject, Mapping[str, float]])

    @cached_property
    def _by_key(self) -> SeenFacts:
        return {subject.key: facts for subject, facts in self.by_subject.items()}

    def __getitem__(self, key: tuple[str, str | None]) -> Mapping[str, float]:
        return self._by_key[key]

    def __iter__(self) -> Iterator[tuple[str, str | None]]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)


class UnknownFact(LookupError):
    """A rule needs a fact that neither the log nor plimsoll.toml gives, and no document has a default for."""

    def __init__(self, fact: str, host: str) -> None:
        self.fact = fact
        super().__init__(f"{fact} of {host} is not known: give it in plimsoll.toml")


@dataclass(frozen=True)
class Facts:
    """The facts of each host and instance.

    `given` is what plimsoll.toml says, `seen` what the logs show, by case-folded host and instance
    (None for the host as a whole).
    """

    given: GivenFacts
    seen: SeenFacts

    def __call__(self, subject: Subject, fact: Fact) -> float:
        """The value of a fact for a subject. UnknownFact if nobody knows it."""
        return self._look_up(subject, fact)[0]

    def known(self, subject: Subject, fact: AnyFact) -> float | None:
        """The value of a fact where the log or plimsoll.toml gives it; no default stands in for it."""
        found = self._said(subject, fact)
        return found[0] if found else None

    def matches(self, rule: Rule, host: str) -> bool:
        """Whether the facts of a host are those a rule is for. UnknownFact if it needs one that nobody knows."""
        found = matches(rule, lambda fact: self.known(Subject(host), fact))
        if isinstance(found, str):
            raise UnknownFact(found, host)
        return found

    def explain(self, subject: Subject, fact: Fact) -> str:
        """The value and where it is from: `4 spindles (plimsoll.toml)`."""
        value, origin = self._look_up(subject, fact)
        name = fact.removesuffix("s") if fact in _DEFAULTS and value == 1 else _NAMES[fact]
        return f"{value:g} {name} ({origin})"

    def of_host(self, host: str) -> tuple[str, ...]:
        """What is known of a host and its instances: `4 processors (from the log)`, `E: 6 spindles (plimsoll.toml)`."""
        known: dict[tuple[str, str], str] = {}
        for facts in (self.given, self.seen):
            for (name, instance), values in facts.items():
                if name == host.casefold():
                    for fact, value in values.items():
                        place = f"{instance.upper()} " if instance else ""
                        said = f"{place}{_valued(fact, value)} ({self._origin(facts, (name, instance), fact)})"
                        known.setdefault((instance or "", fact), said)
        return tuple(known.values())

    def _look_up(self, subject: Subject, fact: Fact) -> tuple[float, str]:
        if found := self._said(subject, fact):
            return found
        if fact not in _DEFAULTS:
            raise UnknownFact(fact, subject.host)
        return _DEFAULTS[fact], "documented default"

    def _said(self, subject: Subject, fact: AnyFact) -> tuple[float, str] | None:
        host, instance = subject.key
        for facts in (self.given, self.seen):
            for place in ((host, instance), (host, None)):
                if fact in facts.get(place, {}):
                    return facts[place][fact], self._origin(facts, place, fact)
        return None

    def _origin(self, facts: SeenFacts, place: tuple[str, str | None], fact: str) -> str:
        """Who says so; where plimsoll.toml says otherwise than the log, what the log shows as well."""
        if facts is self.seen:
            return "from the log"
        shown = self.seen.get(place, {}).get(fact)
        return "plimsoll.toml" if shown in (None, facts[place][fact]) else f"plimsoll.toml; the log shows {shown:g}"


def _valued(fact: str, value: float) -> str:
    """`4 processors`, `RAID 5`."""
    if fact == "raid":
        return f"RAID {value:g}"
    return f"{value:g} {fact.removesuffix('s') if fact in _DEFAULTS and value == 1 else _NAMES.get(fact, fact)}"
