"""Converts limits to the units of their signals: `< 25 ms` for a signal in seconds, `>= 4 GB` for one in bytes.

The multiples are as in reports (model/value_text.py): powers of two for memory, powers of ten for throughput.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isfinite

from plimsoll.model.errors import suggest
from plimsoll.model.strict_yaml import Place
from plimsoll.model.value_text import MULTIPLES, format_exact, format_value
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.pack import Condition, Rule
from plimsoll.rules.schema.signal import Signal

Kind = Mapping[str, Fraction]
_TIME: Kind = {
    "s": Fraction(1),
    "ms": Fraction(1, 1000),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "min": Fraction(60),
    "h": Fraction(3600),
}
# Groups of units that can be converted into each other, each as a multiple of the first.
KINDS: tuple[Kind, ...] = (
    _TIME,
    *({base: Fraction(1)} | {name: Fraction(size) for size, name in reversed(of)} for base, of in MULTIPLES.items()),
)
_NO_UNIT = ("", "ratio", "share")
_SAMPLES = "samples"


def convert_limit(healthy: Healthy, unit: str) -> Healthy:
    """Return a limit converted to the unit of its signal.

    The unit may be missing only if the limit is 0, or if the signal's unit cannot be converted (counts, %). Raise
    ValueError, with what to write, if the unit is missing or does not fit.
    """
    if not isfinite(healthy.limit):
        raise ValueError(f'"{healthy}" is no limit')
    kind, unit_text = _find_kind(unit), healthy.unit
    if unit == "share" and unit_text == "%":
        return replace(healthy, limit=float(Fraction(repr(healthy.limit)) / 100), unit=None)
    if unit_text is None:
        if not is_named(unit) or healthy.limit == 0:
            return healthy
        texts = dict.fromkeys((str(replace(healthy, unit=unit)), format_healthy(healthy, unit)))
        options = " or ".join(f'"{text}"' for text in texts)
        raise ValueError(f'"{healthy}" does not name its unit; write {options} ({_list_names(kind)} fit)')
    unit_name = next((name for name in (unit_text, f"{unit_text}s") if name in kind), None)  # 1 byte
    if unit_name is None:
        bare = replace(healthy, unit=None)
        if unit in _NO_UNIT:
            raise ValueError(f'"{healthy}": the signal has no unit; write "{bare}"')
        alike = next((name for name in kind if name.casefold() == unit_text.casefold()), None)
        near = f' (did you mean "{alike}"?)' if alike else suggest(unit_text, list(kind))
        fitting = f"{_list_names(kind)} fit" if is_named(unit) else f'write "{bare}" or "{bare} {unit}"'
        raise ValueError(f'"{healthy}": the signal is in {unit}, and "{unit_text}" is no unit of that{near}; {fitting}')
    # Convert the decimal as written, not the nearest float: 35 ms is exactly 0.035 s.
    return replace(healthy, limit=float(Fraction(repr(healthy.limit)) * kind[unit_name] / kind[unit]), unit=None)


def format_healthy(healthy: Healthy, unit: str) -> str:
    """Return a limit as text in the unit that reads best, `< 25 ms`; `convert_limit` restores exactly this limit."""
    base, factor = next(iter(_find_kind(unit))), _find_kind(unit)[unit]
    in_base = float(Fraction(repr(healthy.limit)) * factor)
    text = f"{healthy.operator} {format_value(in_base, base, format_exact).replace(',', '')}"
    back = convert_limit(Healthy.parse(text), unit)
    return text if back == replace(healthy, unit=None) else f"{healthy.operator} {healthy.limit!r} {unit}".rstrip()


def find_unit(condition: Condition, signals: Mapping[str, Signal]) -> str:
    """Return the unit of a condition's limit: the unit of its signal, or samples if it counts samples."""
    return _SAMPLES if condition.reduce == "count" else signals[condition.signal].unit


def convert_limits(rule: Rule, signals: Mapping[str, Signal]) -> tuple[Rule, list[tuple[Place, str]]]:
    """Return a rule with its limits in the units of their signals, and the mistakes (place and text) in limits."""
    mistakes: list[tuple[Place, str]] = []

    def fitted(healthy: Healthy, condition: Condition, place: Place) -> Healthy:
        try:
            return convert_limit(healthy, find_unit(condition, signals))
        except ValueError as error:
            mistakes.append((place, f"{place[-1]} {error}"))
            return healthy

    def all_of(conditions: tuple[Condition, ...], field: str) -> tuple[Condition, ...]:
        return tuple(
            replace(condition, healthy=fitted(condition.healthy, condition, (field, at, "healthy")))
            for at, condition in enumerate(conditions)
        )

    update = {
        "healthy": fitted(rule.healthy, rule, ("healthy",)),
        "recover": rule.recover and fitted(rule.recover, rule, ("recover",)),
        "and_": all_of(rule.and_, "and"),
        "when_phase_unknown": all_of(rule.when_phase_unknown, "when_phase_unknown"),
    }
    return replace(rule, **update), mistakes


def is_named(unit: str) -> bool:
    """Return whether limits in this unit must name their unit, because another unit of the same kind could be meant."""
    return len(_find_kind(unit)) > 1


def _find_kind(unit: str) -> Kind:
    return next((kind for kind in KINDS if unit in kind), {unit: Fraction(1)})


def _list_names(kind: Kind) -> str:
    *names, last = kind
    return f"{', '.join(names)} and {last}" if names else last
