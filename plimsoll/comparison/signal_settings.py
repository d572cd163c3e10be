"""How each signal is compared: defaults.yaml, and what plimsoll.toml changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from plimsoll.comparison.run_to_run import Growth, Of, Shapes, kind_of
from plimsoll.hosts.settings import Amount, CompareSettings, SignalSettings, Tolerance
from plimsoll.model.errors import Unusable, first_of, suggest
from plimsoll.model.shipped_tables import shipped_table
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.schema.units import convert_limit

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
    scaled: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Treatment:
    """How one signal is compared; `smallest` is in its unit. run_to_run.yaml says what `spread`, `of` and `load` are.

    `integrates`: its mean says nothing. `place`: that among the kinds; the first is told of first. `shape`: peaks
    and noise are compared.
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
        """What the shares of the load and of the spread lack to, of signals that tell what is missing; else 0."""
        return _WHOLE if self.of == "what is missing" else 0.0

    def between_runs(self, level: float, in_use: float | None = None) -> float:
        """Return the standard deviation of the means of runs at this level; `in_use`: memory in use, if known."""
        if self.of == "what is missing":
            return self.spread * max(0.0, _WHOLE - level)
        if self.of == "what is held":
            return min(_MOST_OF_AVAILABLE * abs(level), self.spread * (2 * abs(level) if in_use is None else in_use))
        return self.spread * abs(level)


class Treatments:
    """How signals are compared. `load`: loads that differ by a smaller share are the same.

    `renamed`: what hosts and instances of the baseline are called in the run.
    """

    def __init__(self, settings: CompareSettings | None = None) -> None:
        self._settings = settings or CompareSettings()
        self._cache: dict[str, Treatment] = {}
        self.renamed: Mapping[str, str] = self._settings.renamed
        self.load = _defaults().load if self._settings.load is None else self._settings.load

    def of(self, name: str, signal: Signal) -> Treatment:
        """Return how a signal is compared: by plimsoll.toml, else defaults.yaml, else the kind of the signal."""
        if name not in self._cache:
            self._cache[name] = self._treatment(name, signal)
        return self._cache[name]

    def _treatment(self, name: str, signal: Signal) -> Treatment:
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
        """The signals without which nothing can be said."""
        shipped, signal_settings, none = _defaults().signals, self._settings.signals, SignalSettings()
        return tuple(
            name
            for name in dict.fromkeys((*shipped, *signal_settings))
            if _first(signal_settings.get(name, none).needed, shipped.get(name, none).needed, False)
        )


def resources() -> tuple[str, ...]:
    """Return the signals that tell of a resource of a host, in the order in which they are told of."""
    return _defaults().resources


def scaled_labels() -> tuple[str, ...]:
    """Return the words in the names of labels that throughput should grow with."""
    return _defaults().scaled


def checked(settings: CompareSettings, path: Path | None, signals: Mapping[str, Signal]) -> Treatments:
    """How signals are compared with these settings. Unusable, naming the setting, if one does not fit the signals."""
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
    """Return an amount in a unit. ValueError if it has another one."""
    try:
        return convert_limit(Healthy.parse(f">= {text}"), unit).limit
    except ValueError as error:
        raise ValueError(str(error).replace(">= ", "")) from None


def _first(*options: T | None) -> T:
    return next(option for option in options if option is not None)


@cache
def _defaults() -> _Defaults:
    return shipped_table("plimsoll.comparison", "defaults.yaml", _Defaults)
