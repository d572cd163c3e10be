"""The settings for comparing each signal, from plimsoll.toml, defaults.yaml and run_to_run.yaml."""

from collections.abc import Mapping
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from plimsoll.hosts.settings import Amount, CompareSettings, SignalSettings, Tolerance
from plimsoll.model.errors import Unusable, limit_mistakes, suggest
from plimsoll.model.file_models import entry, file_model
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.schema.units import convert_limit

_BUSIEST = 0.99
_OFTEN = 0.9  # quantile of the utilisation that must not come to 1; our choice
LEAST_GROWTH = 0.5  # of a load's exponent, where more was not measured: the rest is done when idle, too; our choice
_UNKNOWN_BUSY = np.array([0.7])  # our choice, where no utilisation was recorded
_EXPONENTS = np.linspace(1, 12, 45)[:, np.newaxis]  # of queues from one server to seventy


@dataclass(frozen=True, slots=True)
class Band:
    """The expected range of a signal: the baseline's distance from `whole`, multiplied by `low` to `high`.

    `whole` is 0, or 100 for signals that measure what is free: with a fifth more load, 90 % idle time may fall to 88 %.
    `is_measured`: samples show how much the signal follows the load.
    """

    low: float = 1.0
    high: float = 1.0
    whole: float = 0.0
    is_measured: bool = False

    @property
    def explains(self) -> bool:
        """Whether the load explains any difference at all."""
        return (self.low, self.high) != (1.0, 1.0)

    def widen(self, factor: float) -> "Band":
        """Return the range that also has the levels `factor` times as high."""
        if factor == 1:
            return self
        return replace(self, low=self.low * min(factor, 1.0), high=self.high * max(factor, 1.0))

    def ends(self, baseline: float) -> tuple[float, float]:
        """Return the values expected from a baseline value if the signal follows the load least, and if most."""
        weaker, stronger = sorted((self.low, self.high), key=lambda factor: abs(factor - 1))
        return self.whole + weaker * (baseline - self.whole), self.whole + stronger * (baseline - self.whole)


SAME = Band()  # a band that explains no difference
SubjectKey = tuple[str, str | None]
Growth = Literal["proportion", "waiting", "queue", "partly", "none"]


@dataclass(frozen=True, eq=False)
class LoadEffect:
    """The lowest and the highest factor by which the load of the second run may differ from that of the baseline.

    `utilisations` has the samples of each resource's use in the baseline (0 to 1), by the subject in the second run.
    `of_hosts` has `low` and `high` of hosts that recorded operations of their own.

    A resource also has work when idle, so its use grows by a factor between the square root of the load's factor and
    the load's factor. Times grow at most as 1 / (1 - utilisation), as with one server (Kleinrock, "Queueing systems",
    1975). A queue of c servers is about u^e / (1 - u) long, e = sqrt(2 (c + 1)) (Sakasegawa, "An approximation
    formula", 1977); `e` is taken from the measured queue.
    """

    low: float = 1.0
    high: float = 1.0
    utilisations: Mapping[SubjectKey, Values] = field(default_factory=dict[SubjectKey, Values])
    of_hosts: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    @property
    def saturated(self) -> list[SubjectKey]:
        """The resources that can do less than the load of the second run asks for a tenth of the time or more."""
        return [key for key, busy in self.utilisations.items() if self.high * float(np.quantile(busy, _OFTEN)) >= 1]

    def band(
        self,
        growth: Growth,
        whole: float = 0.0,
        level: float = 0.0,
        subject: SubjectKey | None = None,
        smallest_growth: float = LEAST_GROWTH,
    ) -> Band:
        """Return the range expected of a signal that follows the load as `growth` says.

        `level` is the signal's mean in the baseline. A queue is taken to be that of the resource `subject`, else of the
        busiest resource. A signal in proportion to the load grows by the load's factor to the power of
        `smallest_growth` or more.
        """
        low, high = self.of_hosts.get(subject[0] if subject else "", (self.low, self.high))
        if growth == "none" or low == high == 1:
            return Band(whole=whole)
        if growth == "partly":
            edges = [edge for factor in (low, high) for edge in (factor, 1 / factor)]
        elif growth == "proportion":
            edges = [edge for factor in (low, high) for edge in (factor**smallest_growth, factor)]
        else:
            resource = subject if growth == "queue" and subject in self.utilisations else None
            edges = [1.0, *(self._predict_longer(growth, factor, resource, level) for factor in (low, high))]
        return Band(
            min(edges), max(edges), whole, is_measured=growth == "proportion" and smallest_growth > LEAST_GROWTH
        )

    def _predict_longer(self, growth: Growth, factor: float, resource: SubjectKey | None, level: float) -> float:
        """Return the factor by which waiting times, or a queue of length `level`, grow if the load grows by `factor`.

        The resource is the busiest if `resource` is None.
        """
        key = growth, factor, resource
        if key not in self._lengths:
            busy = self.utilisations[resource] if resource else self._busiest
            exponents = _EXPONENTS if growth == "queue" else np.zeros((1, 1))
            shares = (np.clip(times * busy, 0.0, _BUSIEST) for times in (1.0, factor))
            self._lengths[key] = [(share**exponents / (1 - share)).mean(axis=1) for share in shares]
        before, after = self._lengths[key]
        nearest = np.abs(before - level).argmin()
        return float(after[nearest] / before[nearest]) if before[nearest] else factor

    @cached_property
    def _busiest(self) -> Values:
        return max(self.utilisations.values(), key=lambda values: float(values.mean()), default=_UNKNOWN_BUSY)

    @cached_property
    def _lengths(self) -> dict[tuple[Growth, float, SubjectKey | None], list[Values]]:
        """The mean lengths at each exponent, before and after, by what `_predict_longer` needs beside the level."""
        return {}


Shapes = Literal["all", "noise", "failures", "sustained"]
Of = Literal["the level", "what is missing", "what is held"]


@file_model
class SpreadKind:
    """A kind of signal, with its spread between runs; run_to_run.yaml describes the fields."""

    kind: str
    signals: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    spread: Tolerance
    of: Of = "the level"
    tolerance: Tolerance | None = None
    load: Growth
    shape: Shapes | None = None
    primary: bool = False


@file_model
class _Table:
    weight: float = entry(gt=0)
    smallest: dict[str, Amount]
    kinds: tuple[SpreadKind, ...]


_WHOLE = 100.0  # %
_MOST_OF_AVAILABLE = 0.2  # our choice: what is available differs by no more, however much is held
Direction = Literal["higher", "lower", "either"]
T = TypeVar("T")


@file_model
class _Defaults:
    tolerance: Tolerance
    load: Tolerance
    signals: dict[str, SignalSettings]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Treatment:
    """The settings for comparing one signal; run_to_run.yaml describes `spread`, `of`, `load` and `shape`.

    `smallest` is the smallest difference that matters, in the unit of the signal. `integrates`: the signal adds up over
    time, so means are not compared. `place` is the rank of the signal's kind; rank 0 is reported first. `primary`: an
    answer rests on this kind. `tolerance_of_series` is the tolerance for a series of runs, which itself shows how much
    runs differ.
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
    primary: bool = False
    tolerance_of_series: float = 0.0

    @property
    def primary_kind(self) -> int | None:
        """The rank of the signal's kind if an answer rests on that kind; else None."""
        return self.place if self.primary else None

    @property
    def is_cost(self) -> bool:
        """Whether every operation adds to the signal and an answer rests on the signal, as for processor time."""
        return self.primary and self.critical and self.load == "proportion"

    def tolerated(self, baseline: float) -> float:
        """Return the largest change that does not matter for a signal with the mean `baseline`."""
        return max(self.tolerance * abs(baseline), self.smallest)

    def tolerated_in_series(self, level: float) -> float:
        """Return the largest change that does not matter in a series of runs with the mean `level`."""
        return max(self.tolerance_of_series * abs(level), self.smallest)

    @property
    def whole(self) -> float:
        """100 for a signal that measures what is free (such as idle time), else 0."""
        return _WHOLE if self.of == "what is missing" else 0.0

    def between_runs(self, level: float, in_use: float | None = None) -> float:
        """Return the standard deviation of means between runs; `in_use` is the memory in use, None if unknown."""
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
        self.load = _load_defaults().load if self._settings.load is None else self._settings.load

    def of(self, name: str, signal: Signal) -> Treatment:
        """Return the settings of a signal: from plimsoll.toml, else defaults.yaml, else the kind of the signal."""
        if name not in self._cache:
            self._cache[name] = self._make_treatment(name, signal)
        return self._cache[name]

    def _make_treatment(self, name: str, signal: Signal) -> Treatment:
        """Return the settings of a signal, which `of` caches."""
        defaults, signal_settings = _load_defaults(), self._settings.signals.get(name, SignalSettings())
        shipped = defaults.signals.get(name, SignalSettings())
        worse = signal_settings.worse or shipped.worse or ("either" if signal.load else signal.worse)
        place, kind = find_kind(name, signal.unit)
        tolerances = signal_settings.tolerance, self._settings.tolerance, shipped.tolerance
        smallest_by_unit = _load_table().smallest
        usual = smallest_by_unit.get(signal.unit, f"{smallest_by_unit['others']} {signal.unit}")
        return Treatment(
            worse,
            _require_default(*tolerances, kind.tolerance, defaults.tolerance),
            _parse_amount(signal_settings.least or shipped.least or usual, signal.unit),
            needed=_require_default(signal_settings.needed, shipped.needed, False),
            critical=_require_default(signal_settings.critical, shipped.critical, worse != "either"),
            spread=_require_default(signal_settings.spread, shipped.spread, kind.spread),
            of="the level" if signal_settings.spread is not None else kind.of,
            load=kind.load,
            integrates=_require_default(signal_settings.integrates, shipped.integrates, False),
            place=place,
            shape=kind.shape,
            primary=kind.primary,
            tolerance_of_series=_require_default(*tolerances, defaults.tolerance),
        )

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the signals that both runs must have for an answer."""
        shipped, signal_settings, none = _load_defaults().signals, self._settings.signals, SignalSettings()
        return tuple(
            name
            for name in dict.fromkeys((*shipped, *signal_settings))
            if _require_default(signal_settings.get(name, none).needed, shipped.get(name, none).needed, False)
        )


def list_resources() -> tuple[str, ...]:
    """Return the names of the signals that measure the use of a host's resources, in the order of reports."""
    return _load_defaults().resources


def check_settings(settings: CompareSettings, path: Path | None, signals: Mapping[str, Signal]) -> Treatments:
    """Return the settings for comparing signals. Raise Unusable if a setting's signal is unknown or its unit unfit."""
    wrong: list[str] = []
    for name, signal in settings.signals.items():
        place = f'compare.signals."{name}"'
        if name not in signals:
            near = suggest(name, list(signals)) or "; docs/signals.md lists them"
            wrong.append(f"{path}: {place}: there is no signal of this name{near}")
        elif signal.least is not None:
            try:
                _parse_amount(signal.least, signals[name].unit)
            except ValueError as error:
                wrong.append(f"{path}: {place}.least: {error}")
    if wrong:
        raise Unusable(*limit_mistakes(wrong))
    return Treatments(settings)


def _parse_amount(text: str, unit: str) -> float:
    """Return the number of an amount (`5 ms`), converted to a unit. Raise ValueError if the units do not fit."""
    try:
        return convert_limit(Healthy.parse(f">= {text}"), unit).limit
    except ValueError as error:
        raise ValueError(str(error).replace(">= ", "")) from None


def _require_default(*options: T | None) -> T:
    return next(option for option in options if option is not None)


@cache
def _load_defaults() -> _Defaults:
    return load_shipped_table("plimsoll.comparison", "defaults.yaml", _Defaults)


def load_weight() -> float:
    """Return the number of baseline runs that the spread in run_to_run.yaml counts as."""
    return _load_table().weight


@cache
def find_kind(name: str, unit: str) -> tuple[int, SpreadKind]:
    """Return the rank of a signal's kind (0 is the most important), and the kind."""
    kinds = list(enumerate(_load_table().kinds))
    named = [(len(pattern), place) for place in kinds for pattern in place[1].signals if fnmatchcase(name, pattern)]
    if named:
        return max(named, key=lambda match: match[0])[1]
    return next((place for place in kinds if unit in place[1].units), kinds[-1])


@cache
def _load_table() -> _Table:
    return load_shipped_table("plimsoll.comparison", "run_to_run.yaml", _Table)
