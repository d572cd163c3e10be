"""Which hosts have which signals in a range of time, and which limits apply to them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np

from hosts.facts import Facts, GivenFacts, UnknownFact
from hosts.overrides import Overrides
from hosts.recorded_facts import facts_shown_by, shows_in_values
from hosts.settings import parse
from live.planning import Planned, Site, plan
from live.watched import Watched
from model.log import Values
from model.run import Phase
from model.series import Series
from model.times import SECOND
from pages.chart_spec import Spec
from rules.origins import Origin
from rules.pack_schema import Rule
from rules.signal_finder import Finder
from rules.signal_schema import Signal
from rules.subjects import Subject, host_tags, hosts_of
from store.protocol import RunSummary, Store

_GRAIN = 60 * SECOND  # ranges within the same minutes share a scene
_KEPT_S = 30.0
_MOST_KEPT = 8
_TELLING = 1800 * SECOND  # facts are read from so much at the end of a range
_HOUR = 3600 * SECOND
Place = tuple[str, str | None]


@dataclass(frozen=True, eq=False)
class Found:
    """A subject that has a signal, where the samples come from, and the rules as they apply to it."""

    subject: Subject
    origin: Origin
    rules: Sequence[Rule]


@dataclass(frozen=True, eq=False)
class Scene:
    """The series with samples in a range (UTC ns), and what is known of their hosts.

    `phases` are those of a run.
    """

    store: Store
    site: Site
    given: GivenFacts
    series: Sequence[Series]
    start: int
    end: int
    phases: Sequence[Phase] = ()

    @cached_property
    def hosts(self) -> Sequence[str]:
        """The hosts, sorted."""
        names = hosts_of(self.series, host_tags(self.signals)).values()
        return sorted(names, key=str.casefold)

    @property
    def signals(self) -> Mapping[str, Signal]:
        """All signals that are known."""
        return self.site.catalogue.signals

    def find(self, spec: Spec) -> list[Found]:
        """The subjects of a spec, in order of their names, with the rules as they apply to each."""
        found = self._finder.find(spec.signal).values()
        hosts = {host.casefold() for host in spec.hosts}
        instance = None if spec.instance is None else spec.instance.casefold()
        chosen = [
            (subject, origin)
            for subject, origin in found
            if (not hosts or subject.key[0] in hosts)
            and (instance is None or subject.key[1] == instance)
            and (spec.drive is None or self._drives.get(subject.key) == spec.drive)
        ]
        rules = self._rules_of(spec.signal) if chosen else {}
        held = {key: [rule for rule in known if rule.drive == spec.drive] for key, known in rules.items()}
        return [
            Found(subject, origin, held.get(subject.key, []))
            for subject, origin in sorted(chosen, key=lambda one: (one[0].key[0], one[0].key[1] or ""))
        ]

    def has(self, spec: Spec) -> bool:
        """Whether any host of a spec has its signal."""
        hosts = {host.casefold() for host in spec.hosts}
        return any(
            (not hosts or key[0] in hosts) and (spec.drive is None or self._drives.get(key) == spec.drive)
            for key in self._finder.find(spec.signal)
        )

    @cached_property
    def _drives(self) -> Mapping[Place, str]:
        return {subject.key: holds for subject, holds in self.site.drives.items()}

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self.signals, self.series, lambda _: True, self.facts.known)

    @cached_property
    def _rules(self) -> dict[str, Mapping[Place, list[Rule]]]:
        return {}

    def _rules_of(self, signal: str) -> Mapping[Place, list[Rule]]:
        """The rules on a signal as they apply to each subject, their limits scaled by its facts."""
        if signal not in self._rules:
            applied: dict[Place, list[Rule]] = {}
            for one in plan(_only(self.site, signal), self.series, self.facts)[0]:
                rule = self._scaled(one)
                if rule is not None and rule.signal == signal:
                    applied.setdefault(one.subject.key, []).append(rule)
            self._rules[signal] = applied
        return self._rules[signal]

    def _scaled(self, planned: Planned) -> Rule | None:
        rule = planned.rule
        if rule.scale is None:
            return rule
        try:
            factor = self.facts(planned.subject, rule.scale)
        except UnknownFact:
            return None
        return rule.model_copy(update={"healthy": rule.healthy.scaled(factor), "scale": None})

    @cached_property
    def facts(self) -> Facts:
        """The facts of the hosts: given, else as the end of the range shows them."""
        telling = [one for one in self.series if shows_in_values(one)]
        read = self.store.read(telling, max(self.start, self.end - _TELLING), self.end)
        shown: dict[Series, Values] = {one: found.values for one, found in zip(telling, read, strict=True)}
        older = [one for one, values in shown.items() if not len(values)]
        if older:
            buckets = self.store.buckets(older, self.start, self.end, _HOUR)
            shown |= {one: found.maximum for one, found in zip(older, buckets, strict=True)}

        def values(series: Series) -> Callable[[], Values]:
            return lambda: shown.get(series, np.empty(0))

        return Facts(self.given, facts_shown_by([(one, values(one)) for one in self.series]))


class Scenes:
    """Makes scenes, and keeps the latest for some seconds."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._lock = Lock()
        self._kept: dict[object, tuple[float, Scene]] = {}

    @property
    def store(self) -> Store:
        """The store that is read."""
        return self._watched.store

    @property
    def signals(self) -> Mapping[str, Signal]:
        """All signals that are known."""
        return self._watched.site.catalogue.signals

    def live(self, start: int, end: int) -> Scene:
        """What is there in a range, to whole minutes."""
        first, last = start // _GRAIN * _GRAIN, -(-end // _GRAIN) * _GRAIN

        def make() -> Scene:
            series = self.store.series(first, last).series
            return Scene(self.store, self._watched.site, self._watched.given, series, first, last)

        return self._held((first, last), make)

    def run(self, name: str) -> Scene | None:
        """What a run recorded, with the settings that were beside its logs; None if there is no such run."""
        listed = next((one for one in self.store.runs() if one.name == name), None)
        return self._held((name, listed.generation), lambda: self._of_run(listed)) if listed else None

    def _of_run(self, listed: RunSummary) -> Scene:
        stored = self.store.run(listed.name)
        recorded = [series for one in stored.recordings for series in one.series] if stored else []
        series = [*{one.key: one for one in recorded}.values()]
        source, catalogue = Path(listed.name), self._watched.site.catalogue
        settings = parse(stored.settings or "" if stored else "", source)
        sets_rules = settings.sets_rules
        overrides = settings.overrides(source, catalogue.rules, catalogue.signals) if sets_rules else Overrides()
        site = Site(catalogue, overrides, settings.drives())
        phases = stored.run.phases if stored else ()
        return Scene(self.store, site, settings.facts(), series, listed.start, listed.end, phases)

    def _held(self, key: object, make: Callable[[], Scene]) -> Scene:
        now = time.monotonic()
        with self._lock:
            known = self._kept.get(key)
            if known and now - known[0] < _KEPT_S:
                return known[1]
        made = make()
        with self._lock:
            self._kept = {other: one for other, one in self._kept.items() if now - one[0] < _KEPT_S}
            while len(self._kept) >= _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = now, made
        return made


def _only(site: Site, signal: str) -> Site:
    """The site with the rules on one signal, and those that supersede them."""
    catalogue = site.catalogue
    wanted = {rule.id for rule in catalogue.rules.values() if rule.signal == signal}
    wanted |= {name for rule in catalogue.rules.values() if rule.id in wanted for name in rule.superseded_by}
    packs = [
        pack.model_copy(update={"rules": kept})
        for pack in catalogue.packs
        if (kept := tuple(rule for rule in pack.rules if rule.id in wanted))
    ]
    return replace(site, catalogue=replace(catalogue, packs=tuple(packs)))
