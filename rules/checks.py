"""What is wrong with a pack that it cannot tell by itself: names that are not known, or given a second time."""

from collections.abc import Iterable, Iterator, Mapping

from rules.pack_schema import Condition, Rule
from rules.signal_schema import Signal
from rules.strict_yaml import Document, Place, suggest

_INSTEAD = {
    "pack": "give this one another name, or judge by one of the two with --only",
    "rule": "give this one another id, or judge by one of the two with --only",
    "signal": "use that one, or choose another name",
}


class UniqueNames:
    """Names of one kind, each of which may be given once; `places` says where each is."""

    def __init__(self, kind: str, places: Mapping[str, str] | None = None) -> None:
        self._kind = kind
        self.places = dict(places or {})

    def mistakes(self, document: Document, place: Place, name: str) -> Iterator[str]:
        """A line if the name has been given before."""
        if name in self.places:
            first = self.places[name]
            said = f"{first} has a {self._kind} of that {'id' if self._kind == 'rule' else 'name'} already"
            elsewhere = not first.startswith(f"{document.file}:")
            yield document.mistake(place, f"{said}; {_INSTEAD[self._kind]}" if elsewhere else said)
        self.places.setdefault(name, document.where(place))


def check_signals(document: Document, own: Mapping[str, Signal], known: Mapping[str, Signal]) -> Iterator[str]:
    """What is wrong with the derived signals of a file."""
    for name, signal in own.items():
        operands = signal.derived.operands if signal.derived else ()
        place = ("signals", name, "derived")
        unknown = [operand for operand in operands if operand not in known]
        for operand in unknown:
            yield document.mistake(place, _unknown(operand, known))
        if not unknown and name in _below(operands, known):
            yield document.mistake(place, "it is derived from itself")


def check_rule(document: Document, place: Place, rule: Rule, known: Mapping[str, Signal]) -> list[str]:
    """Everything about one rule that only the signals can tell."""
    named: list[tuple[Place, str]] = [((*place, "signal"), rule.signal)]
    conditions: list[tuple[Place, Condition]] = []
    for field, extra in (("and", rule.and_), ("when_phase_unknown", rule.when_phase_unknown)):
        conditions += [((*place, field, at, "signal"), condition) for at, condition in enumerate(extra)]
    named += [(where, condition.signal) for where, condition in conditions]
    named += [((*place, "look_at", at), name) for at, name in enumerate(rule.look_at)]
    mistakes = [document.mistake(where, _unknown(name, known)) for where, name in named if name not in known]
    if mistakes:
        return mistakes
    return [
        document.mistake(where, f"{condition.signal} has instances and {rule.signal} has none: which one is meant?")
        for where, condition in conditions
        if known[condition.signal].instances == "each" and known[rule.signal].instances == "none"
    ]


def _below(operands: Iterable[str], known: Mapping[str, Signal]) -> set[str]:
    """All signals that some are computed from, themselves among them."""
    found: set[str] = set()
    left = list(operands)
    while left:
        name = left.pop()
        signal = known.get(name)
        if name not in found and signal:
            left += signal.derived.operands if signal.derived else ()
        found.add(name)
    return found


def _unknown(name: str, known: Mapping[str, Signal]) -> str:
    near = suggest(name, list(known)) or "; a pack may define its own under signals:"
    return f'signal "{name}" is not known{near}'
