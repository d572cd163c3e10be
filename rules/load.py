"""Loads the signals and packs that ship with Plimsoll, and packs of one's own."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from model.errors import Unusable
from rules.schema import Condition, Pack, Rule, Signal, Signals
from rules.source import Document, Mistakes, Place, read, suggest, validate


def load_signals() -> Mapping[str, Signal]:
    """The shipped signals by name. Mistakes if the files in rules/signals are not right."""
    return _signals()


def load_packs(chosen: Sequence[str] = ()) -> tuple[Pack, ...]:
    """The shipped packs, or those chosen by name or by the path of a file of one's own.

    Unusable names a pack that is not known, with the nearest name; Mistakes tells everything
    that is wrong with the files.
    """
    if not chosen:
        return _every()
    shipped = _shipped()
    texts = []
    for name in chosen:
        if name in shipped:
            texts.append(shipped[name])
        elif Path(name).suffix in (".yaml", ".yml"):
            texts.append((name, _text(Path(name))))
        else:
            raise Unusable(
                f'pack "{name}" is not known{suggest(name, list(shipped))}; '
                f"choose from {', '.join(shipped)}, or give the path of a .yaml file"
            )
    return _parse(texts)


@cache
def _signals() -> Mapping[str, Signal]:
    documents = [read(*named) for named in _yaml_files("signals").values()]
    parts = [validate(document, Signals).signals for document in documents]
    signals = {name: signal for part in parts for name, signal in part.items()}
    mistakes: list[str] = []
    seen: dict[str, str] = {}
    for document, part in zip(documents, parts, strict=True):
        for name, signal in part.items():
            if name in seen:
                mistakes.append(document.mistake(("signals", name), f"{seen[name]} has a signal of that name already"))
            seen[name] = document.where(("signals", name))
            mistakes += [
                document.mistake(("signals", name, "derived"), _unknown_signal(operand, signals))
                for operand in (signal.derived.operands if signal.derived else ())
                if operand not in signals
            ]
    if mistakes:
        raise Mistakes(mistakes)
    return signals


@cache
def _every() -> tuple[Pack, ...]:
    return _parse(list(_shipped().values()))


def _shipped() -> dict[str, tuple[str, bytes]]:
    return _yaml_files("packs")


def _yaml_files(name: str) -> dict[str, tuple[str, bytes]]:
    """The YAML files of a folder of rules/ by their names without ending: what to call each, and its text."""
    folder = files("rules").joinpath(name)
    return {
        entry.name.removesuffix(".yaml"): (f"{name}/{entry.name}", entry.read_bytes())
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".yaml")
    }


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unusable(f"{path}: cannot be read: {error.strerror}; give the path of a pack") from None


def _parse(texts: Sequence[tuple[str, bytes]]) -> tuple[Pack, ...]:
    signals = load_signals()
    packs: list[Pack] = []
    mistakes: list[str] = []
    seen: dict[str, str] = {}
    for file, text in texts:
        try:
            document = read(file, text)
            pack = validate(document, Pack)
        except Mistakes as error:
            mistakes += error.lines
            continue
        packs.append(pack)
        for at, rule in enumerate(pack.rules):
            mistakes += _check(document, ("rules", at), rule, signals)
            if rule.id in seen:
                mistakes.append(document.mistake(("rules", at, "id"), f"{seen[rule.id]} has a rule of that id already"))
            seen[rule.id] = document.where(("rules", at, "id"))
    if mistakes:
        raise Mistakes(mistakes)
    return tuple(packs)


def _check(document: Document, place: Place, rule: Rule, signals: Mapping[str, Signal]) -> list[str]:
    """Everything about one rule that only the signals can tell."""
    named: list[tuple[Place, str]] = [((*place, "signal"), rule.signal)]
    conditions: list[tuple[Place, Condition]] = []
    for field, extra in (("and", rule.and_), ("when_phase_unknown", rule.when_phase_unknown)):
        conditions += [((*place, field, at, "signal"), condition) for at, condition in enumerate(extra)]
    named += [(where, condition.signal) for where, condition in conditions]
    named += [((*place, "look_at", at), name) for at, name in enumerate(rule.look_at)]
    mistakes = [document.mistake(where, _unknown_signal(name, signals)) for where, name in named if name not in signals]
    if mistakes:
        return mistakes
    return [
        document.mistake(where, f"{condition.signal} has instances and {rule.signal} has none: which one is meant?")
        for where, condition in conditions
        if signals[condition.signal].instances == "each" and signals[rule.signal].instances == "none"
    ]


def _unknown_signal(name: str, signals: Mapping[str, Signal]) -> str:
    return f'signal "{name}" is not known{suggest(name, list(signals))}'
