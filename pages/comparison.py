"""Two runs side by side: which hosts and signals belong together, what only one crossed, and how far they are apart."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from comparison.hosts import Hosts
from pages.chart_spec import Spec
from pages.kept_reviews import Crossed, KeptReview, Levels, Recorded, SignalLevels
from review.statistics import WHOLE_RUN

Key = tuple[str, str, str | None]  # signal, host of the first run, and instance; hosts and instances case-folded


@dataclass(frozen=True)
class Side:
    """One of the runs: its name, its review, and what it recorded."""

    name: str
    kept: KeptReview
    recorded: Recorded


@dataclass(frozen=True)
class Row:
    """A signal of one subject in both runs, or in one of them. `severities` are those with which it was crossed."""

    signal: SignalLevels
    levels: tuple[Levels | None, Levels | None]
    severities: tuple[str, str]
    specs: tuple[Spec | None, Spec | None]

    @property
    def place(self) -> str:
        """`DB1` or `DB1, C:`."""
        return ", ".join(part for part in (self.signal.host, self.signal.instance) if part)

    @property
    def chart(self) -> str:
        """The lines of both runs, as the address of a chart names them."""
        return ";".join(str(spec) for spec in self.specs if spec)

    @property
    def apart(self) -> float:
        """How far the means are apart, as a share of the range of the values of both runs."""
        first, second = self.levels
        if first is None or second is None:
            return 0.0
        extent = max(first.highest, second.highest) - min(first.lowest, second.lowest)
        return abs(first.mean - second.mean) / extent if extent else 0.0

    @property
    def change(self) -> float | None:
        """The mean of the second run in relation to that of the first; None where that has no meaning."""
        first, second = self.levels
        return second.mean / first.mean - 1 if first and second and first.mean > 0 and second.mean >= 0 else None


@dataclass(frozen=True)
class Comparison:
    """Two runs in one phase."""

    first: Side
    second: Side
    hosts: Hosts
    phase: str

    @property
    def phases(self) -> list[str]:
        """The phases that both have, and the whole run."""
        return [WHOLE_RUN, *common_phases(self.first.recorded, self.second.recorded)]

    @cached_property
    def crossed(self) -> tuple[list[Crossed], list[Crossed], list[tuple[Crossed, Crossed]]]:
        """What was crossed only in the first run, only in the second, and in both."""
        here = {self._key(one, 0): one for one in self.first.kept.crossed}
        there = {self._key(one, 1): one for one in self.second.kept.crossed}
        return (
            [one for key, one in here.items() if key not in there],
            [one for key, one in there.items() if key not in here],
            [(one, there[key]) for key, one in here.items() if key in there],
        )

    @cached_property
    def rows(self) -> list[Row]:
        """Every signal: first what only one run crossed, then what both did; the most different ones first."""
        return sorted(self._rows(), key=_rank)

    def _rows(self) -> Iterator[Row]:
        sides = [{self._key(one, at): one for one in side.recorded.signals} for at, side in enumerate(self._sides)]
        severities = [
            {self._key(one, at): one.severity for one in reversed(side.kept.crossed)}
            for at, side in enumerate(self._sides)
        ]
        for key in dict.fromkeys((*sides[0], *sides[1])):
            both = [side.get(key) for side in sides]
            levels = [one.phases.get(self.phase) if one else None for one in both]
            specs = [
                Spec(one.signal, (one.host,), one.instance, side.name) if one else None
                for one, side in zip(both, self._sides, strict=True)
            ]
            signal = both[0] or both[1]
            if signal and any(levels):
                found = severities[0].get(key, ""), severities[1].get(key, "")
                yield Row(signal, (levels[0], levels[1]), found, (specs[0], specs[1]))

    @property
    def _sides(self) -> tuple[Side, Side]:
        return self.first, self.second

    def _key(self, one: Crossed | SignalLevels, side: int) -> Key:
        host = one.host.casefold()
        instance = one.instance.casefold() if one.instance is not None else None
        return one.signal, self.hosts.first_of.get(host, f"{host}\0") if side else host, instance


def common_phases(first: Recorded, second: Recorded) -> list[str]:
    """The phases that both runs have, the longest first."""
    lengths = {name: end - start for name, start, end in second.phases}
    shared = {name: min(end - start, lengths[name]) for name, start, end in first.phases if name in lengths}
    return sorted(shared, key=lambda name: -shared[name])


def _rank(row: Row) -> tuple[bool, bool, bool, float]:
    crossed = [bool(severity and severity != "info") for severity in row.severities]
    return crossed[0] == crossed[1], not any(crossed), None in row.levels, -row.apart
