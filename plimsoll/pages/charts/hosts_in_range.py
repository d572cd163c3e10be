"""Finds the hosts with each signal in a time range, and the limits that apply to them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from plimsoll.alerting.rule_targets import Site, is_for, plan
from plimsoll.alerting.usual_values import UsualValues
from plimsoll.hosts.facts import ConfiguredFacts, Facts, UnknownFact, find_facts, is_fact_in_values
from plimsoll.model.log import Values
from plimsoll.model.series import Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.pages.charts.chart_spec import Spec, name_raw_instance, name_raw_series
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal, Transform
from plimsoll.rules.signal_finder import Finder, ResolvedSeries, ResolvedSource
from plimsoll.rules.subjects import Subject, find_host, list_host_tags
from plimsoll.store.protocol import SampleReader
from plimsoll.up.watched import Watched

_GRAIN = 60 * SECOND  # ranges that round to the same minutes share a scene
_DAY = 86_400 * SECOND
_SCENES_S, _MOST_SCENES = 30.0, 8
# A host's signals change only with its series; its facts may change without that.
_HOSTS_S, _MOST_HOSTS = 600.0, 2000
_USUAL_S = 3600.0
_TELLING = 1800 * SECOND  # facts are read from this much at the end of a range
_HOUR = 3600 * SECOND
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class SignalSource:
    """A host or instance with a signal, the source of its samples, and the rules that apply to it."""

    subject: Subject
    origin: ResolvedSource
    rules: Sequence[Rule]


class HostSignals:
    """The signals of a host, with their sources and rules, computed on demand and cached.

    `everywhere` are the packs that the user named and that match no host, so that they apply to all hosts.
    """

    def __init__(self, site: Site, series: Sequence[Series], facts: Facts, everywhere: Sequence[Pack]) -> None:
        packs = [pack for pack in site.catalogue.packs if pack in everywhere or is_for(pack, series)]
        self._site = _add_packs(site, packs)
        self._series = series
        self.facts = facts
        self._rules: dict[str, Mapping[str | None, list[Rule]]] = {}
        # The hosts and instances that have a signal, each with the source of its samples.
        self.origins = Finder(self._site.catalogue.signals, series, lambda _: True, facts.find).find

    def find(self, signal: str, drive: str | None) -> list[SignalSource]:
        """Return the sources of a signal, ordered by instance, each with its rules.

        `drive` selects the rules for `database` or `log` disks (None: the rules for all disks).
        """
        origins = self.origins(signal)
        rules = self._find_rules(signal) if origins else {}
        return [
            SignalSource(subject, origin, [rule for rule in rules.get(subject.key[1], ()) if rule.drive == drive])
            for subject, origin in sorted(origins.values(), key=lambda pair: pair[0].key[1] or "")
        ]

    def _find_rules(self, signal: str) -> Mapping[str | None, list[Rule]]:
        """Return the rules on a signal by instance, with limits scaled by facts of the host or instance.

        To save time, only rules on this signal, and the rules that supersede them, are matched to the host.
        """
        if signal not in self._rules:
            rules: dict[str | None, list[Rule]] = {}
            catalogue = self._site.catalogue
            ids = {rule.id for rule in catalogue.rules.values() if rule.signal == signal}
            ids |= {name for rule in catalogue.rules.values() if rule.id in ids for name in rule.superseded_by}
            packs = [(pack, tuple(rule for rule in pack.rules if rule.id in ids)) for pack in catalogue.packs]
            changed = [replace(pack, rules=of_pack) for pack, of_pack in packs if of_pack]
            site = _add_packs(self._site, changed)
            for target in plan(site, self._series, self.facts)[0]:
                rule = target.rule
                with suppress(UnknownFact):
                    if rule.scale is not None:
                        healthy = rule.healthy.scaled(self.facts(target.subject, rule.scale))
                        rule = replace(rule, healthy=healthy, scale=None)
                    if rule.signal == signal:
                        rules.setdefault(target.subject.key[1], []).append(rule)
            self._rules[signal] = rules
        return self._rules[signal]


def _add_packs(site: Site, packs: Sequence[Pack]) -> Site:
    return replace(site, catalogue=replace(site.catalogue, packs=tuple(packs)))


class Cache(Generic[T]):
    """A cache of limited size whose values expire after some seconds."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._lock = Lock()
        self._values: dict[object, tuple[float, T]] = {}

    def get(self, key: object) -> T | None:
        """Return the value of a key; None if missing or expired."""
        with self._lock:
            at, value = self._values.get(key, (0.0, None))
        return value if time.monotonic() - at < self._seconds else None

    def put(self, key: object, value: T) -> T:
        """Store a value and return it. If the cache is full, the oldest values are dropped first."""
        with self._lock:
            self._values.pop(key, None)
            while len(self._values) >= self._most:
                del self._values[next(iter(self._values))]
            self._values[key] = time.monotonic(), value
        return value


@dataclass(frozen=True, eq=False)
class Scene:
    """The series that have samples in a time range (UTC ns), and the signals, rules and facts of the series' hosts."""

    store: SampleReader
    site: Site
    stated_facts: ConfiguredFacts
    series: Sequence[Series]
    start: int
    end: int
    cache: Cache[HostSignals] = field(default_factory=lambda: Cache(_HOSTS_S, _MOST_HOSTS))

    @property
    def hosts(self) -> Sequence[str]:
        """The names of the hosts, sorted."""
        return sorted((name for name, _ in self._by_host.values()), key=make_host_key)

    @property
    def signals(self) -> Mapping[str, Signal]:
        """All signals of the catalogue by name."""
        return self.site.catalogue.signals

    def find(self, spec: Spec) -> list[SignalSource]:
        """Return the sources that a spec selects, ordered by host and instance; each source has its rules."""
        instance = None if spec.instance is None else spec.instance.casefold()
        if spec.is_raw:
            sources = self._select_raw(spec)
        else:
            sources = [
                source
                for host in self._list_host_signals(spec.hosts)
                for source in host.find(spec.signal, spec.drive)
                if self._is_included(source.subject.key, spec.drive)
            ]
        return [source for source in sources if instance is None or source.subject.key[1] == instance]

    def has(self, spec: Spec) -> bool:
        """Return whether any host that a spec selects has the spec's signal in the range."""
        if spec.is_raw:
            return bool(self._select_raw(spec))
        hosts = self._list_host_signals(spec.hosts)
        return any(self._is_included(key, spec.drive) for host in hosts for key in host.origins(spec.signal))

    def facts(self, host: str) -> Sequence[str]:
        """Return the facts of a host, such as its memory size, one line of text per fact."""
        return [line for signals in self._list_host_signals([host]) for line in signals.facts.of_host(host)]

    def _is_included(self, place: tuple[str, str | None], drive: str | None) -> bool:
        return drive is None or self._drives.get(place) == drive

    def _select_raw(self, spec: Spec) -> list[SignalSource]:
        """Return the sources that a spec of a raw series (`measurement~field`) selects."""
        hosts = [*map(make_host_key, spec.hosts)] or sorted(self._by_host)
        series_by_host = [self._by_host[host] for host in hosts if host in self._by_host]
        return [
            SignalSource(Subject(host, name_raw_instance(raw)), ResolvedSeries(raw, False, Transform()), ())
            for host, series in series_by_host
            for raw in sorted(series, key=lambda raw: (name_raw_instance(raw) or "").casefold())
            if name_raw_series(raw) == spec.signal
        ]

    def _list_host_signals(self, names: Sequence[str]) -> list[HostSignals]:
        """Return the signals of the named hosts, or of all hosts if `names` is empty.

        The facts of all hosts that are not cached are read in one call to the store.
        """
        hosts = sorted({make_host_key(name) for name in names} & self._by_host.keys() if names else self._by_host)
        keys = {host: (host, self._by_host[host][1], self.end // _DAY, self._everywhere[0]) for host in hosts}
        cached = {host: signals for host, key in keys.items() if (signals := self.cache.get(key)) is not None}
        new = [host for host in hosts if host not in cached]
        if new:
            facts = self._find_facts(series for host in new for series in self._by_host[host][1])
            for host in new:
                signals = HostSignals(self.site, [*self._by_host[host][1]], facts, self._everywhere[1])
                cached[host] = self.cache.put(keys[host], signals)
        return [cached[host] for host in hosts]

    @cached_property
    def _by_host(self) -> Mapping[str, tuple[str, frozenset[Series]]]:
        """The name and the series of each host, by case-folded host name."""
        tags = list_host_tags(self.signals)
        names: dict[str, str] = {}
        series: dict[str, list[Series]] = {}
        for sent in self.series:
            host = find_host(sent, tags)
            names.setdefault(make_host_key(host), host)
            series.setdefault(make_host_key(host), []).append(sent)
        return {host: (name, frozenset(series[host])) for host, name in names.items()}

    @cached_property
    def _everywhere(self) -> tuple[tuple[str, ...], list[Pack]]:
        """The packs that apply to all hosts: their names, then the packs.

        They are packs that the user named and that match no host.
        """
        by_hand = [pack for pack in self.site.catalogue.packs if pack.pack in self.site.catalogue.by_hand]
        packs = [pack for pack in by_hand if not is_for(pack, self.series)]
        return tuple(pack.pack for pack in packs), packs

    @cached_property
    def _drives(self) -> Mapping[tuple[str, str | None], str]:
        return {subject.key: holds for subject, holds in self.site.drives.items()}

    def _find_facts(self, of: Iterable[Series]) -> Facts:
        """Return the facts of the hosts of these series: from plimsoll.toml, else computed from samples.

        The last half hour of the range is read; for series without samples there, the hourly maxima of the whole range.
        """
        series = [*of]
        telling = [sent for sent in series if is_fact_in_values(sent)]
        read = self.store.read(telling, max(self.start, self.end - _TELLING), self.end) if telling else ()
        shown: dict[Series, Values] = {sent: samples.values for sent, samples in zip(telling, read, strict=True)}
        older = [sent for sent, values in shown.items() if not len(values)]
        if older:
            buckets = self.store.buckets(older, self.start, self.end, _HOUR)
            shown |= {sent: bucket.maximum for sent, bucket in zip(older, buckets, strict=True)}
        values = [(sent, partial(shown.get, sent, np.empty(0))) for sent in series]
        return Facts(self.stated_facts, find_facts(values))


class Scenes:
    """Creates a Scene for each requested time range, and caches the latest Scenes for some seconds."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._site = watched.site
        self._scenes: Cache[Scene] = Cache(_SCENES_S, _MOST_SCENES)
        self._hosts: Cache[HostSignals] = Cache(_HOSTS_S, _MOST_HOSTS)
        self.usual: Cache[tuple[UsualValues | None]] = Cache(_USUAL_S, _MOST_HOSTS)

    @property
    def store(self) -> SampleReader:
        """The store from which samples are read."""
        return self._watched.store.samples

    @property
    def signals(self) -> Mapping[str, Signal]:
        """All signals of the catalogue by name."""
        return self._watched.site.catalogue.signals

    def live(self, start: int, end: int) -> Scene:
        """Return the Scene of a time range (UTC ns), widened to whole minutes; cached if it was requested before."""
        if self._watched.site is not self._site:  # the settings were read again
            self._site = self._watched.site
            self._scenes, self._hosts = Cache(_SCENES_S, _MOST_SCENES), Cache(_HOSTS_S, _MOST_HOSTS)
        span = start // _GRAIN * _GRAIN, -(-end // _GRAIN) * _GRAIN
        scene = self._scenes.get(span)
        if scene is not None:
            return scene
        series = self.store.series(*span).series
        scene = Scene(self.store, self._watched.site, self._watched.configured, series, *span, cache=self._hosts)
        return self._scenes.put(span, scene)
