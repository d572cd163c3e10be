"""Facts of hosts that limits scale with: from plimsoll.toml, else from the log, else the documented default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from plimsoll.model.series import host_key
from plimsoll.rules.schema.field_types import AnyFact, Fact
from plimsoll.rules.subjects import Subject

# The documented limits assume one processor and one spindle where the number is not known.
DEFAULTS: Mapping[Fact, float] = {"processors": 1, "spindles": 1}
_NAMES = {
    "processors": "processors",
    "spindles": "spindles",
    "clock_mhz": "MHz",
    "memory_mb": "MB of memory",
    "link_bits": "bit/s",
}
Drives = Mapping[Subject, str]  # what each marked disk holds: `database` or `log`
Place = tuple[str, str | None]  # Subject.key: host and instance, case-folded; the instance is None for the host itself
RecordedFacts = Mapping[Place, Mapping[str, float]]


@dataclass(frozen=True)
class GivenFacts:
    """The facts of hosts and of their instances in plimsoll.toml. The instance of a host itself is None.

    `by_subject` contains every host and instance that the file names, including those without facts.
    """

    by_subject: Mapping[Subject, Mapping[str, float]] = field(default_factory=dict[Subject, Mapping[str, float]])

    @cached_property
    def by_place(self) -> RecordedFacts:
        """The same facts under case-folded names."""
        return {subject.key: facts for subject, facts in self.by_subject.items()}


class UnknownFact(LookupError):
    """A rule needs a fact that is neither in the log nor in plimsoll.toml, and that has no documented default."""

    def __init__(self, fact: str, host: str) -> None:
        self.fact = fact
        super().__init__(f"{fact} of {host} is not known: give it in plimsoll.toml")


@dataclass(frozen=True)
class Facts:
    """Looks up facts of hosts and instances.

    plimsoll.toml (`given`) takes precedence over the log (`recorded`), and an instance over its host.
    """

    given: GivenFacts = field(default_factory=GivenFacts)
    recorded: RecordedFacts = field(default_factory=dict[Place, Mapping[str, float]])

    def __call__(self, subject: Subject, fact: Fact) -> float:
        """Return the value of a fact, else its documented default. Raises UnknownFact if there is neither."""
        return self._value(subject, fact)[0]

    def find(self, subject: Subject, fact: AnyFact) -> float | None:
        """Return the value of a fact from plimsoll.toml or the log, else None. Defaults are not used."""
        entry = self._find(subject, fact)
        return entry[0] if entry else None

    def explain(self, subject: Subject, fact: Fact) -> str:
        """Return the value and its origin: `4 spindles (plimsoll.toml)`."""
        value, origin = self._value(subject, fact)
        return f"{_in_words(fact, value)} ({origin})"

    def of_host(self, host: str) -> tuple[str, ...]:
        """Return all facts of a host and its instances, such as `E: 6 spindles (plimsoll.toml)`."""
        texts: dict[tuple[str, str], str] = {}
        for facts in (self.given.by_place, self.recorded):
            for (name, instance), values in facts.items():
                if name == host_key(host):
                    for fact, value in values.items():
                        place = f"{instance.upper()} " if instance else ""
                        text = f"{place}{_in_words(fact, value)} ({self._origin(facts, (name, instance), fact)})"
                        texts.setdefault((instance or "", fact), text)
        return tuple(texts.values())

    def _value(self, subject: Subject, fact: Fact) -> tuple[float, str]:
        if entry := self._find(subject, fact):
            return entry
        if fact not in DEFAULTS:
            raise UnknownFact(fact, subject.host)
        return DEFAULTS[fact], "documented default"

    def _find(self, subject: Subject, fact: AnyFact) -> tuple[float, str] | None:
        host, instance = subject.key
        for facts in (self.given.by_place, self.recorded):
            for place in ((host, instance), (host, None)):
                if fact in facts.get(place, {}):
                    return facts[place][fact], self._origin(facts, place, fact)
        return None

    def _origin(self, facts: RecordedFacts, place: Place, fact: str) -> str:
        """Return where a fact is from, with the value in the log where it differs from plimsoll.toml."""
        if facts is self.recorded:
            return "from the log"
        recorded = self.recorded.get(place, {}).get(fact)
        differs = recorded not in (None, facts[place][fact])
        return f"plimsoll.toml; the log shows {recorded:g}" if differs else "plimsoll.toml"


def _in_words(fact: str, value: float) -> str:
    """`4 processors`, `1 spindle`, `4,096 MB of memory`, `RAID 5`."""
    if fact == "raid":
        return f"RAID {value:g}"
    name = _NAMES.get(fact, fact)
    if fact == "memory_mb":
        return f"{value:,.0f} {name}"
    return f"{value:g} {name.removesuffix('s') if fact in DEFAULTS and value == 1 else name}"
