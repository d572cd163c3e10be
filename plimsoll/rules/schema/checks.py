"""Checks of a pack that need other files: unknown names, and names that are used twice."""

from collections.abc import Iterable, Iterator, Mapping

from plimsoll.model.errors import suggest
from plimsoll.model.parameters import Parameter
from plimsoll.model.strict_yaml import Document, Place
from plimsoll.rules.schema.pack import Condition, Rule
from plimsoll.rules.schema.signal import Signal

_INSTEAD = {
    "pack": f"give this one another name, or judge by one of the two with {Parameter.ONLY}",
    "rule": f"give this one another id, or judge by one of the two with {Parameter.ONLY}",
    "signal": "use that one, or choose another name",
}


class UniqueNames:
    """Checks that each name of one kind is used once; `places` says where each is defined."""

    def __init__(self, kind: str, places: Mapping[str, str] | None = None) -> None:
        self._kind = kind
        self.places = dict(places or {})

    def mistakes(self, document: Document, place: Place, name: str) -> Iterator[str]:
        """A message if the name was used before."""
        if name in self.places:
            first = self.places[name]
            text = f"{first} has a {self._kind} of that {'id' if self._kind == 'rule' else 'name'} already"
            elsewhere = not first.startswith(f"{document.file}:")
            yield document.mistake(place, f"{text}; {_INSTEAD[self._kind]}" if elsewhere else text)
        self.places.setdefault(name, document.where(place))


def check_signals(document: Document, own: Mapping[str, Signal], known: Mapping[str, Signal]) -> Iterator[str]:
    """Mistakes in the derived signals of a file: unknown operands and circles."""
    for name, signal in own.items():
        if signal.weight and (signal.weight.rate not in known or known[signal.weight.rate].weight):
            place = ("signals", name, "weight", "rate")
            rate = signal.weight.rate
            yield document.mistake(
                place, f"{rate} is a time per request itself" if rate in known else _unknown(rate, known)
            )
        operands = signal.derived.operands if signal.derived else ()
        place = ("signals", name, "derived")
        unknown = [operand for operand in operands if operand not in known]
        for operand in unknown:
            yield document.mistake(place, _unknown(operand, known))
        if not unknown and name in _below(operands, known):
            yield document.mistake(place, "it is derived from itself")


def check_rule(document: Document, place: Place, rule: Rule, known: Mapping[str, Signal]) -> list[str]:
    """Mistakes in a rule's use of signals: unknown names, and conditions with instances for a rule without them."""
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
    """The operands, and all signals that these are computed from."""
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
