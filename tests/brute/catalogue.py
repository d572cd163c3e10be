"""The signals and the packs, read from their YAML files as data; durations become ms, limits an operator and a number."""

import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_NEVER_BELOW_ZERO = [
    "%",
    "ratio",
    "/s",
    "s",
    "ms",
    "ms/s",
    "bytes",
    "MB",
    "bytes/s",
    "connections",
    "failures",
    "machines",
    "messages",
    "packets",
    "processes",
    "requests",
    "sessions",
    "tasks",
    "threads",
]
PACKS = Path(__file__).parents[2] / "rules" / "packs"
SIGNALS = PACKS.parent / "signals"

_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000}
_LIMIT = re.compile(r"(<=|>=|<|>|=)\s*(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(\S*)")
# How many of the smallest unit of its kind each is, in decimals. Memory in powers of two, throughput in powers of ten.
_SIZES = (
    {"us": 1, "µs": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6},
    {"bytes": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40},
    {"bytes/s": 1, "KB/s": 10**3, "MB/s": 10**6, "GB/s": 10**9, "TB/s": 10**12},
)


@dataclass(frozen=True)
class Limit:
    """The healthy side: `< 80`."""

    operator: str
    number: float

    def healthy(self, value: float) -> bool:
        """Whether a value is on the healthy side."""
        match self.operator:
            case "<":
                return value < self.number
            case "<=":
                return value <= self.number
            case ">":
                return value > self.number
            case ">=":
                return value >= self.number
            case _:
                return value == self.number

    def badness(self, value: float) -> float:
        """The larger, the worse."""
        match self.operator[0]:
            case "<":
                return value
            case ">":
                return -value
            case _:
                return abs(value - self.number)

    def times(self, factor: float) -> "Limit":
        """The limit multiplied by a host fact."""
        return replace(self, number=self.number * factor)


@dataclass(frozen=True)
class Condition:
    """A signal, reduced over a window, and the side on which it is healthy."""

    signal: str
    limit: Limit
    over: int
    reduce: str
    scale: str | None
    can_be: tuple[float, float] = (-math.inf, math.inf)  # both excluded
    counts_unrecorded: bool = False
    is_constant: bool = False  # its last value counts where it has none, else its next


@dataclass(frozen=True)
class Rule:
    """A rule of a pack; `conditions` begins with its own."""

    id: str
    conditions: tuple[Condition, ...]
    when_phase_unknown: tuple[Condition, ...]
    for_: int
    recover: Limit | None
    phase: str | None
    often: float


def duration(text: str | float) -> int:
    """Milliseconds of `90s`, `5m` or `1h30m`, or of a number of seconds."""
    if isinstance(text, int | float):
        return round(text * 1000)
    return sum(round(float(number) * _UNITS[unit]) for number, unit in re.findall(r"([0-9.]+)([smh])", text))


def limit(text: str, unit: str = "") -> Limit:
    """The limit of `<= 3`, or of `<= 3 ms` in a unit that may be another."""
    match = _LIMIT.fullmatch(text.strip())
    assert match, text
    operator, number, written = match.groups()
    if written in ("", unit):
        return Limit(operator, float(number))
    (sizes,) = [sizes for sizes in _SIZES if unit in sizes]
    return Limit(operator, float(Decimal(number) * sizes[written] / sizes[unit]))


def share(text: str | float) -> float:
    """A share of time: `10 %` or 0.1."""
    if isinstance(text, int | float):
        return float(text)
    return float(text.replace("%", "")) / 100


@cache
def read_pack(path: Path) -> tuple[dict[str, Rule], dict[str, Any]]:
    """Return the rules of a pack's file by id, and all signals with those of the pack."""
    data: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    catalogue = signals() | data.get("signals", {})
    units = {name: signal["unit"] for name, signal in catalogue.items()}
    return {rule["id"]: _rule(rule, units) for rule in data["rules"]}, catalogue


@cache
def signals() -> dict[str, dict[str, Any]]:
    """Every signal, as the files have it."""
    parts = [yaml.load(path.read_bytes(), yaml.CSafeLoader)["signals"] for path in sorted(SIGNALS.glob("*.yaml"))]
    return {name: signal for part in parts for name, signal in part.items()}


def can_be(signal: dict[str, Any], reduce: str) -> tuple[float, float]:
    """Between which values one of a signal must be."""
    if reduce not in ("mean", "min", "max", "last", "median"):
        return -math.inf, math.inf
    low = {"s": -1e-5, "ms": -0.01, "ratio": -0.01}.get(signal["unit"], -1.0)
    if signal.get("negative") or signal["unit"] not in _NEVER_BELOW_ZERO:
        low = -math.inf
    return low, math.nextafter(1.1 * signal.get("highest", math.inf), math.inf)


def _rule(data: dict[str, Any], units: dict[str, str]) -> Rule:
    return Rule(
        id=data["id"],
        conditions=tuple(_condition(datum, units) for datum in (data, *data.get("and", ()))),
        when_phase_unknown=tuple(_condition(datum, units) for datum in data.get("when_phase_unknown", ())),
        for_=duration(data.get("for", 0)),
        recover=limit(data["recover"], units[data["signal"]]) if "recover" in data else None,
        phase=data.get("phase"),
        often=share(data.get("often", 0.1)),
    )


def _condition(data: dict[str, Any], units: dict[str, str]) -> Condition:
    return Condition(
        data["signal"],
        limit(data["healthy"], "" if data.get("reduce") == "count" else units[data["signal"]]),
        duration(data.get("over", "1m")),
        data.get("reduce", "mean"),
        data.get("scale"),
        counts_unrecorded=data.get("if_not_recorded") == "crossed",
        is_constant=bool(signals().get(data["signal"], {}).get("constant")),
    )
