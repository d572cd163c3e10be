"""The settings for comparing each signal, from plimsoll.toml, defaults.yaml and run_to_run.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.hosts.settings import Amount, CompareSettings, SignalSettings, Tolerance
from plimsoll.model.errors import Unusable, first_of, suggest
from plimsoll.model.shipped_tables import shipped_table
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.schema.units import convert_limit

_BUSIEST = 0.95
UNKNOWN_BUSY = 0.7  # our choice, where no utilisation was recorded


@dataclass(frozen=True, slots=True)
class Band:
    """The range in which a signal is expected: its distance from `whole` in the baseline, times `low` to `high`.

    `whole` is 0, or 100 for signals that measure what is free: with a fifth more load, 90 % idle time may fall to 88 %.
    """

    low: float = 1.0
    high: float = 1.0
    whole: float = 0.0

    @property
    def explains(self) -> bool:
        """Whether the load explains a difference of any size."""
        return (self.low, self.high) != (1.0, 1.0)

    def ends(self, baseline: float) -> tuple[float, float]:
        """Return the lowest and the highest expected value for a baseline value."""
        low, high = sorted(self.whole + factor * (baseline - self.whole) for factor in (self.low, self.high))
        return low, high


SAME = Band()  # a band that explains no difference
Growth = Literal["proportion", "waiting", "queue", "partly", "none"]


@dataclass(frozen=True, slots=True)
class LoadEffect:
    """The lowest and the highest factor by which the load of the second run differs.

    `busy` is the utilisation (0 to 1) of the baseline's busiest resource. A resource also has work without load, so its
    use grows by a factor between the square root of the load's and the load's. The waiting time at one server grows as
    1 / (1 - utilisation), at several servers faster; the square of that, and for a queue its cube, are upper bounds
    (Kleinrock, "Queueing systems", 1975).
    """

    low: float = 1.0
    high: float = 1.0
    busy: float = UNKNOWN_BUSY

    def band(self, growth: Growth, whole: float = 0.0) -> Band:
        """Return the band expected of a signal that grows with the load in the way `growth`."""
        edges = [edge for factor in (self.low, self.high) for edge in self._edges(growth, factor)]
        return Band(min(edges), max(edges), whole)

    def _edges(self, growth: Growth, factor: float) -> tuple[float, float]:
        if growth == "none" or factor == 1:
            return 1.0, 1.0
        if growth == "proportion":
            return factor**0.5, factor
        if growth == "partly":
            return factor, 1 / factor
        waiting = (1 - self.busy) / (1 - min(_BUSIEST, self.busy * factor))
        return 1.0, (waiting if growth == "waiting" else (factor * waiting) ** 1.5) ** 2


Shapes = Literal["all", "noise", "failures", "sustained"]
Of = Literal["the level", "what is missing", "what is held"]


class SpreadKind(BaseModel):
    """A kind of signal, with its spread between runs; run_to_run.yaml describes the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    signals: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    spread: Tolerance
    of: Of = "the level"
    tolerance: Tolerance | None = None
    load: Growth
    shape: Shapes | None = None


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float = Field(gt=0)
    kinds: tuple[SpreadKind, ...]


_WHOLE = 100.0  # %
_MOST_OF_AVAILABLE = 0.2  # our choice: what is available differs by no more, however much is held
Direction = Literal["higher", "lower", "either"]
T = TypeVar("T")


class _Defaults(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    tolerance: Tolerance
    load: Tolerance
    least: dict[str, Amount]
    signals: dict[str, SignalSettings]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Treatment:
    """The settings for comparing one signal; run_to_run.yaml describes `spread`, `of`, `load` and `shape`.

    `smallest` is the smallest difference that matters, in the signal's unit. If the signal `integrates` (adds up over
    time), means are not compared. `place` is the rank of its kind; rank 0 is reported first.
    """

    worse: Direction
    tolerance: float
    smallest: float
    needed: bool
    critical: bool
    spread: float = 0.0
    of: Of = "the level"
    load: Growth = "none"
    integrates: bool = False
    place: int = 0
    shape: Shapes | None = None

    def tolerated(self, baseline: float) -> float:
        """Return the largest change from a baseline that does not matter."""
        return max(self.tolerance * abs(baseline), self.smallest)

    @property
    def whole(self) -> float:
        """100 for a signal that measures what is free (such as idle time), else 0."""
        return _WHOLE if self.of == "what is missing" else 0.0

    def between_runs(self, level: float, in_use: float | None = None) -> float:
        """Return the standard deviation of means between runs at a level; `in_use` is the memory in use if known."""
        if self.of == "what is missing":
            return self.spread * max(0.0, _WHOLE - level)
        if self.of == "what is held":
            return min(_MOST_OF_AVAILABLE * abs(level), self.spread * (2 * abs(level) if in_use is None else in_use))
        return self.spread * abs(level)


class Treatments:
    """The settings for comparing all signals; `load` is the share by which equal loads may differ.

    `renamed` maps the names of hosts and instances in the baseline to their new names.
    """

    def __init__(self, settings: CompareSettings | None = None) -> None:
        self._settings = settings or CompareSettings()
        self._cache: dict[str, Treatment] = {}
        self.renamed: Mapping[str, str] = self._settings.renamed
        self.load = _defaults().load if self._settings.load is None else self._settings.load

    def of(self, name: str, signal: Signal) -> Treatment:
        """Return the settings of a signal: from plimsoll.toml, else defaults.yaml, else the kind of the signal."""
        if name not in self._cache:
            self._cache[name] = self._treatment(name, signal)
        return self._cache[name]

    def _treatment(self, name: str, signal: Signal) -> Treatment:
        """Return the settings of a signal; see `of`."""
        defaults, signal_settings = _defaults(), self._settings.signals.get(name, SignalSettings())
        shipped = defaults.signals.get(name, SignalSettings())
        worse = signal_settings.worse or shipped.worse or ("either" if signal.load else signal.worse)
        place, kind = kind_of(name, signal.unit)
        tolerance = _first(
            signal_settings.tolerance, self._settings.tolerance, shipped.tolerance, kind.tolerance, defaults.tolerance
        )
        amount = signal_settings.least or shipped.least or defaults.least.get(signal.unit, "0")
        return Treatment(
            worse,
            tolerance,
            _amount(amount, signal.unit),
            needed=_first(signal_settings.needed, shipped.needed, False),
            critical=_first(signal_settings.critical, shipped.critical, worse != "either"),
            spread=_first(signal_settings.spread, shipped.spread, kind.spread),
            of="the level" if signal_settings.spread is not None else kind.of,
            load=kind.load,
            integrates=_first(signal_settings.integrates, shipped.integrates, False),
            place=place,
            shape=kind.shape,
        )

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the signals that both runs must have for an answer."""
        shipped, signal_settings, none = _defaults().signals, self._settings.signals, SignalSettings()
        return tuple(
            name
            for name in dict.fromkeys((*shipped, *signal_settings))
            if _first(signal_settings.get(name, none).needed, shipped.get(name, none).needed, False)
        )


def resources() -> tuple[str, ...]:
    """Return the names of the signals that measure the use of a host's resources, in the order of reports."""
    return _defaults().resources


def checked(settings: CompareSettings, path: Path | None, signals: Mapping[str, Signal]) -> Treatments:
    """Return the settings for comparing signals. Raise Unusable, naming a setting that does not fit its signal."""
    wrong: list[str] = []
    for name, signal in settings.signals.items():
        place = f'compare.signals."{name}"'
        if name not in signals:
            near = suggest(name, list(signals)) or "; docs/signals.md lists them"
            wrong.append(f"{path}: {place}: there is no signal of this name{near}")
        elif signal.least is not None:
            try:
                _amount(signal.least, signals[name].unit)
            except ValueError as error:
                wrong.append(f"{path}: {place}.least: {error}")
    if wrong:
        raise Unusable(*first_of(wrong))
    return Treatments(settings)


def _amount(text: str, unit: str) -> float:
    """Return the number of an amount (`5 ms`), converted to a unit. Raise ValueError if the units do not fit."""
    try:
        return convert_limit(Healthy.parse(f">= {text}"), unit).limit
    except ValueError as error:
        raise ValueError(str(error).replace(">= ", "")) from None


def _first(*options: T | None) -> T:
    return next(option for option in options if option is not None)


@cache
def _defaults() -> _Defaults:
    return shipped_table("plimsoll.comparison", "defaults.yaml", _Defaults)


def weight() -> float:
    """Return the weight of the spread in run_to_run.yaml against that of the baselines, as a number of runs."""
    return _table().weight


@cache
def kind_of(name: str, unit: str) -> tuple[int, SpreadKind]:
    """Return the rank of a signal's kind (0 is the most important), and the kind."""
    kinds = _table().kinds
    named = next(
        (at for at, kind in enumerate(kinds) if any(fnmatchcase(name, signal) for signal in kind.signals)), None
    )
    of_unit = (at for at, kind in enumerate(kinds) if unit in kind.units)
    at = named if named is not None else next(of_unit, len(kinds) - 1)
    return at, kinds[at]


@cache
def _table() -> _Table:
    return shipped_table("plimsoll.comparison", "run_to_run.yaml", _Table)
