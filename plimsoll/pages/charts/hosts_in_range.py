"""Which hosts have which signals in a range of time, and which limits apply to them."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from plimsoll.alerting.rule_targets import Site, is_for, plan
from plimsoll.hosts.facts import Facts, GivenFacts, UnknownFact
from plimsoll.hosts.recorded_facts import facts_shown_by, shows_in_values
from plimsoll.model.log import Values
from plimsoll.model.series import Series, host_key
from plimsoll.model.times import SECOND
from plimsoll.pages.charts.chart_spec import Spec, raw_instance, raw_series
from plimsoll.rules.load import Catalogue
from plimsoll.rules.origins import Origin, Origins, SeriesOrigin
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal, Transform
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.subjects import Subject, host_of, host_tags
from plimsoll.store.protocol import SampleReader
from plimsoll.up.watched import Watched

_GRAIN = 60 * SECOND  # ranges within the same minutes share a scene
_DAY = 86_400 * SECOND
_SCENES_S, _MOST_SCENES = 30.0, 8
# What is found among the series of a host does not change until these do; its facts may.
_HOSTS_S, _MOST_HOSTS = 600.0, 2000
_TELLING = 1800 * SECOND  # facts are read from so much at the end of a range
_HOUR = 3600 * SECOND
_Kept = TypeVar("_Kept")


@dataclass(frozen=True, eq=False)
class SignalSource:
    """A subject that has a signal, where the samples come from, and the rules as they apply to it."""

    subject: Subject
    origin: Origin
    rules: Sequence[Rule]


class HostSignals:
    """Finds the signals of a host among its series; what was found is kept.

    `everywhere` are the packs that the user named and that are for no kind of host there is: they are for all.
    """

    def __init__(self, site: Site, series: Sequence[Series], facts: Facts, everywhere: Sequence[Pack]) -> None:
        packs = [pack for pack in site.catalogue.packs if pack in everywhere or is_for(pack, series)]
        self._site = _with_packs(site, packs)
        self._series = series
        self.facts = facts
        self._rules: dict[str, Mapping[str | None, list[Rule]]] = {}

    def origins(self, signal: str) -> Origins:
        """The subjects of a signal, and the origins of their samples."""
        return self._finder.find(signal)

    def find(self, signal: str, drive: str | None) -> list[SignalSource]:
        """The subjects of a signal in order of their names; those of disks that are marked as such a `drive`."""
        origins = self.origins(signal)
        rules = self._rules_of(signal) if origins else {}
        return [
            SignalSource(subject, origin, [rule for rule in rules.get(subject.key[1], ()) if rule.drive == drive])
            for subject, origin in sorted(origins.values(), key=lambda one: one[0].key[1] or "")
        ]

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self._site.catalogue.signals, self._series, lambda _: True, self.facts.known)

    def _rules_of(self, signal: str) -> Mapping[str | None, list[Rule]]:
        """Return the rules on a signal as they apply to each instance, their limits scaled by its facts."""
        if signal not in self._rules:
            rules: dict[str | None, list[Rule]] = {}
            site = _with_packs(self._site, _packs_on(self._site.catalogue, signal))
            for target in plan(site, self._series, self.facts)[0]:
                rule = self._scale(target.rule, target.subject)
                if rule is not None and rule.signal == signal:
                    rules.setdefault(target.subject.key[1], []).append(rule)
            self._rules[signal] = rules
        return self._rules[signal]

    def _scale(self, rule: Rule, subject: Subject) -> Rule | None:
        if rule.scale is None:
            return rule
        try:
            factor = self.facts(subject, rule.scale)
        except UnknownFact:
            return None
        return rule.model_copy(update={"healthy": rule.healthy.scaled(factor), "scale": None})


def _with_packs(site: Site, packs: Sequence[Pack]) -> Site:
    return replace(site, catalogue=replace(site.catalogue, packs=tuple(packs)))


def _packs_on(catalogue: Catalogue, signal: str) -> list[Pack]:
    """Return the packs with their rules on one signal, and those that supersede these."""
    ids = {rule.id for rule in catalogue.rules.values() if rule.signal == signal}
    ids |= {name for rule in catalogue.rules.values() if rule.id in ids for name in rule.superseded_by}
    packs = [(pack, tuple(rule for rule in pack.rules if rule.id in ids)) for pack in catalogue.packs]
    return [pack.model_copy(update={"rules": rules}) for pack, rules in packs if rules]


class Cache(Generic[_Kept]):
    """Keeps what was made for some seconds, and not more than so many."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._lock = Lock()
        self._kept: dict[object, tuple[float, _Kept]] = {}

    def get(self, key: object) -> _Kept | None:
        """What is kept for a key."""
        with self._lock:
            known = self._kept.get(key)
        return known[1] if known and time.monotonic() - known[0] < self._seconds else None

    def put(self, key: object, made: _Kept) -> _Kept:
        """Keep what was made; the oldest goes if there are too many."""
        with self._lock:
            self._kept.pop(key, None)
            while len(self._kept) >= self._most:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = time.monotonic(), made
        return made


@dataclass(frozen=True, eq=False)
class Scene:
    """The series with samples in a range (UTC ns), and what is known of their hosts."""

    store: SampleReader
    site: Site
    given: GivenFacts
    series: Sequence[Series]
    start: int
    end: int
    cache: Cache[HostSignals] = field(default_factory=lambda: Cache(_HOSTS_S, _MOST_HOSTS))

    @property
    def hosts(self) -> Sequence[str]:
        """The hosts, sorted."""
        return sorted((name for name, _ in self._by_host.values()), key=host_key)

    @property
    def signals(self) -> Mapping[str, Signal]:
        """All signals that are known."""
        return self.site.catalogue.signals

    def find(self, spec: Spec) -> list[SignalSource]:
        """The subjects of a spec, in order of their names, with the rules as they apply to each."""
        instance = None if spec.instance is None else spec.instance.casefold()
        if spec.is_raw:
            return [one for one in self._raw(spec) if instance is None or one.subject.key[1] == instance]
        return [
            one
            for host in self._known(spec.hosts)
            for one in host.find(spec.signal, spec.drive)
            if (instance is None or one.subject.key[1] == instance) and self._holds(one.subject.key, spec.drive)
        ]

    def has(self, spec: Spec) -> bool:
        """Whether any host of a spec has its signal."""
        if spec.is_raw:
            return bool(self._raw(spec))
        return any(
            self._holds(key, spec.drive) for host in self._known(spec.hosts) for key in host.origins(spec.signal)
        )

    def facts(self, host: str) -> Sequence[str]:
        """What is known of a host, in words."""
        return [line for one in self._known([host]) for line in one.facts.of_host(host)]

    def _holds(self, place: tuple[str, str | None], drive: str | None) -> bool:
        return drive is None or self._drives.get(place) == drive

    def _raw(self, spec: Spec) -> list[SignalSource]:
        """The series of a spec as they were sent."""
        hosts = [*map(host_key, spec.hosts)] or sorted(self._by_host)
        known = [self._by_host[host] for host in hosts if host in self._by_host]
        return [
            SignalSource(Subject(host, raw_instance(raw)), SeriesOrigin(raw, False, Transform()), ())
            for host, series in known
            for raw in raw_series(series, spec.signal)
        ]

    def _known(self, names: Sequence[str]) -> list[HostSignals]:
        """The signals of some hosts, or of all; facts of all that are not kept are read at once."""
        asked = sorted({host_key(name) for name in names} & self._by_host.keys() if names else self._by_host)
        keys = {host: (host, self._by_host[host][1], self.end // _DAY, self._everywhere[0]) for host in asked}
        found = {host: known for host, key in keys.items() if (known := self.cache.get(key)) is not None}
        new = [host for host in asked if host not in found]
        if new:
            facts = self._facts(one for host in new for one in self._by_host[host][1])
            for host in new:
                series = [*self._by_host[host][1]]
                made = HostSignals(self.site, series, facts, self._everywhere[1])
                found[host] = self.cache.put(keys[host], made)
        return [found[host] for host in asked]

    @cached_property
    def _by_host(self) -> Mapping[str, tuple[str, frozenset[Series]]]:
        """The hosts with their series, by case-folded name."""
        tags = host_tags(self.signals)
        names: dict[str, str] = {}
        series: dict[str, list[Series]] = {}
        for one in self.series:
            host = host_of(one, tags)
            names.setdefault(host_key(host), host)
            series.setdefault(host_key(host), []).append(one)
        return {host: (names[host], frozenset(found)) for host, found in series.items()}

    @cached_property
    def _everywhere(self) -> tuple[tuple[str, ...], list[Pack]]:
        """The packs that the user named and that are for none of the hosts, which are judged on all; their names."""
        by_hand = [pack for pack in self.site.catalogue.packs if pack.pack in self.site.catalogue.by_hand]
        packs = [pack for pack in by_hand if not is_for(pack, self.series)]
        return tuple(pack.pack for pack in packs), packs

    @cached_property
    def _drives(self) -> Mapping[tuple[str, str | None], str]:
        return {subject.key: holds for subject, holds in self.site.drives.items()}

    def _facts(self, of: Iterable[Series]) -> Facts:
        """The facts of the hosts of these series: given, else as the end of the range shows them."""
        series = [*of]
        telling = [one for one in series if shows_in_values(one)]
        read = self.store.read(telling, max(self.start, self.end - _TELLING), self.end) if telling else ()
        shown: dict[Series, Values] = {one: found.values for one, found in zip(telling, read, strict=True)}
        older = [one for one, values in shown.items() if not len(values)]
        if older:
            buckets = self.store.buckets(older, self.start, self.end, _HOUR)
            shown |= {one: found.maximum for one, found in zip(older, buckets, strict=True)}

        def values(series: Series) -> Callable[[], Values]:
            return lambda: shown.get(series, np.empty(0))

        return Facts(self.given, facts_shown_by([(one, values(one)) for one in series]))


class Scenes:
    """Makes scenes, and keeps the latest for some seconds."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._made_of = watched.site
        self._scenes: Cache[Scene] = Cache(_SCENES_S, _MOST_SCENES)
        self._hosts: Cache[HostSignals] = Cache(_HOSTS_S, _MOST_HOSTS)

    @property
    def store(self) -> SampleReader:
        """The store that is read."""
        return self._watched.store.samples

    @property
    def signals(self) -> Mapping[str, Signal]:
        """All signals that are known."""
        return self._watched.site.catalogue.signals

    def live(self, start: int, end: int) -> Scene:
        """What is there in a range, to whole minutes."""
        if self._watched.site is not self._made_of:  # the settings were read anew
            self._made_of = self._watched.site
            self._scenes, self._hosts = Cache(_SCENES_S, _MOST_SCENES), Cache(_HOSTS_S, _MOST_HOSTS)
        span = start // _GRAIN * _GRAIN, -(-end // _GRAIN) * _GRAIN
        known = self._scenes.get(span)
        if known is not None:
            return known
        series = self.store.series(*span).series
        site, given = self._watched.site, self._watched.given
        return self._scenes.put(span, Scene(self.store, site, given, series, *span, cache=self._hosts))
