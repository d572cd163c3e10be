"""The units that limits are written in: `< 25 ms` for a signal in seconds, `>= 4 GB` for one in bytes.

The multiples are those in which values are shown (model/numbers.py), so that what is read in a report can be written in
a pack: memory counts in powers of two, throughput in powers of ten.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isfinite

from model.value_text import MULTIPLES, exact, quantity
from rules.healthy import Healthy
from rules.pack_schema import Condition, Rule
from rules.signal_schema import Signal
from rules.strict_yaml import Place, suggest

Kind = Mapping[str, Fraction]

_TIME: Kind = {
    "s": Fraction(1),
    "ms": Fraction(1, 1000),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "min": Fraction(60),
    "h": Fraction(3600),
}
# Units that can be written for one another, each by what it is of the first of its kind.
KINDS: tuple[Kind, ...] = (
    _TIME,
    *({base: Fraction(1)} | {name: Fraction(size) for size, name in reversed(of)} for base, of in MULTIPLES.items()),
)
_NO_UNIT = ("", "ratio")
_SAMPLES = "samples"


def convert_limit(healthy: Healthy, unit: str) -> Healthy:
    """A limit as it is written, in the unit of its signal. ValueError, saying what to write, if that cannot be told.

    Only where nobody would guess another unit may it be left out: for counts and %, and for 0.
    """
    if not isfinite(healthy.limit):
        raise ValueError(f'"{healthy}" is no limit')
    kind, given = _kind(unit), healthy.unit
    if given is None:
        if not is_named(unit) or healthy.limit == 0:
            return healthy
        texts = dict.fromkeys((str(replace(healthy, unit=unit)), written(healthy, unit)))
        options = " or ".join(f'"{text}"' for text in texts)
        raise ValueError(f'"{healthy}" does not name its unit; write {options} ({_names(kind)} fit)')
    found = next((name for name in (given, f"{given}s") if name in kind), None)  # 1 byte
    if found is None:
        bare = replace(healthy, unit=None)
        if unit in _NO_UNIT:
            raise ValueError(f'"{healthy}": the signal has no unit; write "{bare}"')
        alike = next((name for name in kind if name.casefold() == given.casefold()), None)
        near = f' (did you mean "{alike}"?)' if alike else suggest(given, list(kind))
        fitting = f"{_names(kind)} fit" if is_named(unit) else f'write "{bare}" or "{bare} {unit}"'
        raise ValueError(f'"{healthy}": the signal is in {unit}, and "{given}" is no unit of that{near}; {fitting}')
    # Of the decimal as written, not of the nearest float: 35 ms are 0.035 s to the last digit.
    return replace(healthy, limit=float(Fraction(repr(healthy.limit)) * kind[found] / kind[unit]), unit=None)


def written(healthy: Healthy, unit: str) -> str:
    """A limit that is in a signal's unit as people read it best: `< 25 ms`. `in_unit` makes the same limit of it."""
    base, factor = next(iter(_kind(unit))), _kind(unit)[unit]
    in_base = float(Fraction(repr(healthy.limit)) * factor)
    text = f"{healthy.operator} {quantity(in_base, base, exact).replace(',', '')}"
    back = convert_limit(Healthy.parse(text), unit)
    return text if back == replace(healthy, unit=None) else f"{healthy.operator} {healthy.limit!r} {unit}".rstrip()


def unit_of(condition: Condition, signals: Mapping[str, Signal]) -> str:
    """The unit that the limit of a condition is in: that of its signal, or samples where those are counted."""
    return _SAMPLES if condition.reduce == "count" else signals[condition.signal].unit


def convert_limits(rule: Rule, signals: Mapping[str, Signal]) -> tuple[Rule, list[tuple[Place, str]]]:
    """A rule with its limits in the units of their signals, and what is wrong with those that cannot be."""
    mistakes: list[tuple[Place, str]] = []

    def fitted(healthy: Healthy, condition: Condition, place: Place) -> Healthy:
        try:
            return convert_limit(healthy, unit_of(condition, signals))
        except ValueError as error:
            mistakes.append((place, f"{place[-1]} {error}"))
            return healthy

    def all_of(conditions: tuple[Condition, ...], field: str) -> tuple[Condition, ...]:
        return tuple(
            one.model_copy(update={"healthy": fitted(one.healthy, one, (field, at, "healthy"))})
            for at, one in enumerate(conditions)
        )

    update = {
        "healthy": fitted(rule.healthy, rule, ("healthy",)),
        "recover": rule.recover and fitted(rule.recover, rule, ("recover",)),
        "and_": all_of(rule.and_, "and"),
        "when_phase_unknown": all_of(rule.when_phase_unknown, "when_phase_unknown"),
    }
    return rule.model_copy(update=update), mistakes


def is_named(unit: str) -> bool:
    """Whether a limit in this unit has to name it, as a person might take the number for one in another."""
    return len(_kind(unit)) > 1


def _kind(unit: str) -> Kind:
    return next((kind for kind in KINDS if unit in kind), {unit: Fraction(1)})


def _names(kind: Kind) -> str:
    *names, last = kind
    return f"{', '.join(names)} and {last}" if names else last
