"""Host facts that limits scale by: from the log, else from plimsoll.toml, else the documented default."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from model.log import Log
from model.names import measurement
from rules.finder import Subject, host_of, is_total
from rules.schema import Fact, Known, Rule
from rules.where import fits

_DEFAULTS: Mapping[str, float] = {"processors": 1, "spindles": 1}
_NAMES = {
    "processors": "processors",
    "spindles": "spindles",
    "clock_mhz": "MHz",
    "memory_mb": "MB",
    "link_bits": "bit/s",
}
# What shows processors one by one: an object of Performance Monitor, or a measurement of Telegraf or sysstat.
_QUEUES = "Server Work Queues"  # one for each processor, and the Blocking Queue
_PROCESSORS = ("Processor", "Processor Information", _QUEUES, "cpu", "per_cpu")
_PROCESSOR_TAGS = {
    **{measurement(name): "instance" for name in _PROCESSORS[:3]},
    "cpu": "cpu",
    "per_cpu": "device",
}
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

    def known(self, subject: Subject, fact: Known) -> float | None:
        """The value of a fact where the log or plimsoll.toml gives it; no default stands in for it."""
        found = self._said(subject, fact)
        return found[0] if found else None

    def fits(self, rule: Rule, host: str) -> bool:
        """Whether the facts of a host are those a rule is for. UnknownFact if it needs one that nobody knows."""
        found = fits(rule, lambda fact: self.known(Subject(host), fact))
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
        for facts, origin in ((self.seen, "from the log"), (self.given, "plimsoll.toml")):
            for (name, instance), values in facts.items():
                if name == host.casefold():
                    for fact, value in values.items():
                        place = f"{instance.upper()} " if instance else ""
                        known.setdefault((instance or "", fact), f"{place}{_valued(fact, value)} ({origin})")
        return tuple(known.values())

    def _look_up(self, subject: Subject, fact: Fact) -> tuple[float, str]:
        if found := self._said(subject, fact):
            return found
        if fact not in _DEFAULTS:
            raise UnknownFact(fact, subject.host)
        return _DEFAULTS[fact], "documented default"

    def _said(self, subject: Subject, fact: Known) -> tuple[float, str] | None:
        host, instance = subject.key
        for facts, origin in ((self.seen, "from the log"), (self.given, "plimsoll.toml")):
            for place in ((host, instance), (host, None)):
                if fact in facts.get(place, {}):
                    return facts[place][fact], origin
        return None


def seen_in(logs: Sequence[Log]) -> SeenFacts:
    """What the logs themselves show: how many processors each host has, by the object that shows most of them."""
    found: dict[tuple[str, str], set[str]] = {}
    for log in logs:
        for series in log.series:
            tag = _PROCESSOR_TAGS.get(series.measurement)
            shown_by = series.tag("objectname") or series.measurement
            if tag is None or shown_by not in _PROCESSORS:
                continue
            instance = series.tag(tag)
            if instance is not None and not is_total(instance) and (shown_by != _QUEUES or instance.isdecimal()):
                found.setdefault((host_of(series).casefold(), shown_by), set()).add(instance)
    most: dict[tuple[str, str | None], Mapping[str, float]] = {}
    for (host, shown_by), instances in sorted(found.items(), key=lambda item: len(item[1])):
        if shown_by == _QUEUES and len(instances) == 1:
            continue  # one queue may have been chosen among many
        most[host, None] = {"processors": float(len(instances))}
    return most


def _valued(fact: str, value: float) -> str:
    """`4 processors`, `RAID 5`."""
    if fact == "raid":
        return f"RAID {value:g}"
    return f"{value:g} {fact.removesuffix('s') if fact in _DEFAULTS and value == 1 else _NAMES.get(fact, fact)}"
