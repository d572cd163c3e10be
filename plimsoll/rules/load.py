"""Loads the shipped signals and packs, and the user's own packs."""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from plimsoll.model import user_files
from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.kept import cache_folder, cache_result, hash_folders
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import Parameter
from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.model.strict_yaml import Mistakes, Place, StrictDocument, read, validate
from plimsoll.rules.schema.pack import Condition, Pack, Rule
from plimsoll.rules.schema.signal import Signal, Signals
from plimsoll.rules.schema.units import convert_limits

_INSTEAD = {
    "pack": f"give this one another name, or judge by one of the two with {Parameter.ONLY}",
    "rule": f"give this one another id, or judge by one of the two with {Parameter.ONLY}",
    "signal": "use that one, or choose another name",
}


class UniqueNames:
    """A check that names of one kind, such as rule ids, are unique; `places` says where each name is defined."""

    def __init__(self, kind: str, places: Mapping[str, str] | None = None) -> None:
        self._kind = kind
        self.places = dict(places or {})

    def mistakes(self, document: StrictDocument, place: Place, name: str) -> Iterator[str]:
        """Yield a message if the name is already defined; else remember its place."""
        if name in self.places:
            first = self.places[name]
            text = f"{first} has a {self._kind} of that {'id' if self._kind == 'rule' else 'name'} already"
            elsewhere = not first.startswith(f"{document.file}:")
            yield document.mistake(place, f"{text}; {_INSTEAD[self._kind]}" if elsewhere else text)
        self.places.setdefault(name, document.where(place))


YAML = (".yaml", ".yml")
_HERE = Path(__file__).parent
_TEMPLATE_HINT = "; `plimsoll rules new FILE` writes one to begin with"
_Signals = tuple[Mapping[str, Signal], Mapping[str, str]]
_Checked = tuple[StrictDocument, Pack]  # of each document, only the places of its names


@dataclass(frozen=True)
class Catalogue:
    """Packs, and all signals that their rules may use.

    `by_hand` contains the names of packs that the user chose, `files` the file of each pack by the pack's name.
    """

    packs: tuple[Pack, ...]
    signals: Mapping[str, Signal]
    by_hand: frozenset[str]
    files: Mapping[str, str]

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """All rules by their id."""
        return {rule.id: rule for pack in self.packs for rule in pack.rules}

    @cached_property
    def digest(self) -> str:
        """A hash of the content of all rules and signals."""
        return hashlib.sha256(repr((self.packs, self.signals)).encode()).hexdigest()[:32]

    @property
    def chosen(self) -> bool:
        """Whether all packs were chosen by the user."""
        return all(pack.pack in self.by_hand for pack in self.packs)

    @property
    def named(self) -> tuple[Pack, ...]:
        """The packs that the user chose; all packs if the user chose none."""
        return tuple(pack for pack in self.packs if pack.pack in self.by_hand) or self.packs


def load(added: Sequence[str] = (), only: Sequence[str] = ()) -> Catalogue:
    """Return the shipped packs (or instead the packs `only`) and the packs `added`, given by name or file path.

    Raises:
        Unusable: A pack does not exist.
        Mistakes: A file has mistakes; lists all of them.
    """
    if not added and not only:
        return _load_shipped()[0]
    ours = _read_yaml_files("packs")
    by_hand = [_read_pack(name, ours) for name in (*only, *added)]
    texts = dict(by_hand if only else [*ours.values(), *by_hand])
    _, signals, checked = _load_shipped()
    # A file of the user may have the display name of a shipped file.
    unchanged = {file: checked[file] for file, text in ours.values() if texts.get(file) == text}
    return _PackLoader(*signals, unchanged).catalogue(texts, frozenset(file for file, _ in by_hand))


def load_signals() -> Mapping[str, Signal]:
    """Return the shipped signals by name. Raise Mistakes if a file in rules/signals is wrong."""
    return _load_shipped()[1][0]


@cache
def _load_shipped() -> tuple[Catalogue, _Signals, Mapping[str, _Checked]]:
    """Return the shipped packs, signals with places, and checked documents; cached until a file or Plimsoll changes."""
    texts = [_read_yaml_files("packs"), _read_yaml_files("signals")]
    program = hash_folders([_HERE, _HERE.parent / "model"])
    key = repr((texts, sys.version)).encode() + program
    return cache_result(cache_folder() / "parsed", "catalogue", key, _parse_shipped)


def _parse_shipped() -> tuple[Catalogue, _Signals, Mapping[str, _Checked]]:
    signals = _parse_signals()
    loader = _PackLoader(*signals)
    return loader.catalogue(dict(_read_yaml_files("packs").values()), frozenset()), signals, loader.checked


class _PackLoader:
    """Reads packs one by one and collects their signals, names and mistakes."""

    def __init__(
        self, shipped: Mapping[str, Signal], places: Mapping[str, str], parsed: Mapping[str, _Checked] | None = None
    ) -> None:
        self._shipped = shipped
        self._parsed = parsed or {}
        self._mistakes: list[str] = []
        self._signals = dict(shipped)
        self._names = UniqueNames("pack"), UniqueNames("rule"), UniqueNames("signal", places)
        self.checked: dict[str, _Checked] = {}

    def catalogue(self, texts: Mapping[str, bytes], by_hand: frozenset[str]) -> Catalogue:
        """Return the catalogue of packs from files, by display name. Raise Mistakes with the mistakes of all files."""
        packs = {file: pack for file, text in texts.items() if (pack := self._pack(file, text))}
        if self._mistakes:
            raise Mistakes(self._mistakes)
        named = frozenset(packs[file].pack for file in by_hand)
        return Catalogue(tuple(packs.values()), self._signals, named, {pack.pack: file for file, pack in packs.items()})

    def _pack(self, file: str, text: bytes) -> Pack | None:
        """Return a file's pack, with limits in the units of their signals; None if parsing fails. Collect mistakes."""
        if file in self._parsed:
            document, pack = self._parsed[file]
            self._add(document, pack)
            return pack
        try:
            document = read(file, text, _TEMPLATE_HINT)
            pack = validate(document, Pack)
        except Mistakes as error:
            self._mistakes += error.lines
            return None
        places = self._add(document, pack)
        # A pack may use its own signals and the shipped ones, so that it does not depend on other packs.
        signals = {**pack.signals, **self._shipped}
        self._mistakes += check_signals(document, pack.signals, signals)
        rules = tuple(self._check_rule(document, at, rule, signals) for at, rule in enumerate(pack.rules))
        pack = replace(pack, rules=rules)
        self.checked[file] = document.only(places), pack
        return pack

    def _add(self, document: StrictDocument, pack: Pack) -> list[Place]:
        """Register a pack's names and signals, collect duplicates as mistakes, and return the places of the names."""
        packs, rules, signals = self._names
        named: list[tuple[UniqueNames, Place, str]] = [
            (packs, ("pack",), pack.pack),
            *((rules, ("rules", at, "id"), rule.id) for at, rule in enumerate(pack.rules)),
            *((signals, ("signals", name), name) for name in pack.signals),
        ]
        for names, place, name in named:
            self._mistakes += names.mistakes(document, place, name)
        self._signals = {**pack.signals, **self._signals}
        return [place for _, place, _ in named]

    def _check_rule(self, document: StrictDocument, at: int, rule: Rule, signals: Mapping[str, Signal]) -> Rule:
        if wrong := check_rule(document, ("rules", at), rule, signals):
            self._mistakes += wrong
            return rule
        rule, mistakes = convert_limits(rule, signals)
        self._mistakes += [document.mistake(("rules", at, *place), text) for place, text in mistakes]
        return rule


def _parse_signals() -> _Signals:
    """Return the shipped signals, and the place where each signal is defined. Raise Mistakes if a file is wrong."""
    documents = [read(*named) for named in _read_yaml_files("signals").values()]
    parts = [validate(document, Signals).signals for document in documents]
    signals = {name: signal for part in parts for name, signal in part.items()}
    once = UniqueNames("signal")
    mistakes: list[str] = []
    for document, part in zip(documents, parts, strict=True):
        for name in part:
            mistakes += once.mistakes(document, ("signals", name), name)
        mistakes += check_signals(document, part, signals)
    if mistakes:
        raise Mistakes(mistakes)
    return signals, once.places


def _read_yaml_files(name: str) -> dict[str, tuple[str, bytes]]:
    """Return the YAML files of a folder in rules/: display name and content, by file name without suffix."""
    folder = find_shipped_files("rules").joinpath(name)
    return {
        entry.name.removesuffix(".yaml"): (f"{name}/{entry.name}", entry.read_bytes())
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".yaml")
    }


def _read_pack(name: str, ours: Mapping[str, tuple[str, bytes]]) -> tuple[str, bytes]:
    """Return the display name and content of a pack, by name or path. Raise Unusable if the pack cannot be read."""
    if name in ours:
        return ours[name]
    if Path(name).suffix not in YAML:
        raise Unusable(
            f'pack "{name}" is not known{suggest(name, list(ours))}; '
            f"choose from {', '.join(ours)}, or give the path of a .yaml file"
        )
    return name, user_files.read(Path(name), f"; give the path of a pack{_TEMPLATE_HINT}")


def check_signals(
    document: StrictDocument, defined: Mapping[str, Signal], signals: Mapping[str, Signal]
) -> Iterator[str]:
    """Yield the mistakes in a file's derived and weighted signals: unknown signals, and circular definitions."""
    for name, signal in defined.items():
        if signal.weight and (signal.weight.rate not in signals or signals[signal.weight.rate].weight):
            place = ("signals", name, "weight", "rate")
            rate = signal.weight.rate
            yield document.mistake(
                place, f"{rate} is a time per request itself" if rate in signals else _explain_unknown(rate, signals)
            )
        operands = signal.derived.operands if signal.derived else ()
        place = ("signals", name, "derived")
        unknown = [operand for operand in operands if operand not in signals]
        for operand in unknown:
            yield document.mistake(place, _explain_unknown(operand, signals))
        if not unknown and name in _list_derived_from(operands, signals):
            yield document.mistake(place, "it is derived from itself")


def check_rule(document: StrictDocument, place: Place, rule: Rule, signals: Mapping[str, Signal]) -> list[str]:
    """Return mistakes: unknown signals of a rule, and conditions with instances where the rule's signal has none."""
    named: list[tuple[Place, str]] = [((*place, "signal"), rule.signal)]
    conditions: list[tuple[Place, Condition]] = []
    for field, extra in (("and", rule.and_), ("when_phase_unknown", rule.when_phase_unknown)):
        conditions += [((*place, field, at, "signal"), condition) for at, condition in enumerate(extra)]
    named += [(where, condition.signal) for where, condition in conditions]
    named += [((*place, "look_at", at), name) for at, name in enumerate(rule.look_at)]
    mistakes = [
        document.mistake(where, _explain_unknown(name, signals)) for where, name in named if name not in signals
    ]
    if mistakes:
        return mistakes
    return [
        document.mistake(where, f"{condition.signal} has instances and {rule.signal} has none: which one is meant?")
        for where, condition in conditions
        if signals[condition.signal].instances == "each" and signals[rule.signal].instances == "none"
    ]


def _list_derived_from(operands: Iterable[str], signals: Mapping[str, Signal]) -> set[str]:
    """Return the operands, and all signals from which the operands are derived."""
    names: set[str] = set()
    left = list(operands)
    while left:
        name = left.pop()
        signal = signals.get(name)
        if name not in names and signal:
            left += signal.derived.operands if signal.derived else ()
        names.add(name)
    return names


def _explain_unknown(name: str, signals: Mapping[str, Signal]) -> str:
    near = suggest(name, list(signals)) or "; a pack may define its own under signals:"
    return f'signal "{name}" is not known{near}'
