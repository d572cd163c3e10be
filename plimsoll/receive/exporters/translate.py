"""Translates samples of metrics to line protocol with Telegraf's names.

Most metrics become a field directly. Other fields are computed from several metrics: a share of processor time is the
growth of one counter divided by the growth of all. The latest samples of such metrics are kept, and a field is written
once its metrics have arrived, in whatever requests: Prometheus splits large scrapes, and sends the pieces in parallel.
"""

import logging
import math
import time as clock
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from threading import Lock
from typing import NamedTuple

from plimsoll.model.names import find_measurement
from plimsoll.model.perfmon import make_telegraf_name
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.counter_state import CounterState, Part, estimate_group_size
from plimsoll.rules.exporters.exporter_files import MetricGroup, list_metric_names, load_exporters
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.line_protocol import format_head

# Labels that Prometheus adds, and those of the host.
HOST_LABELS = ("host", "hostname", "host_name", "host.name", "nodename")
_OF_SCRAPES = ("__name__", "job", "exported_job", *HOST_LABELS)
INSTANCE = "instance"


class MetricUse(NamedTuple):
    """The use of a metric by a metric group.

    `metric` is the metric's name in formulas, `labels` are the labels that its series must have. `plain` are (name,
    factor) of fields that are a multiple of the metric; `computed` says whether formulas use the metric, too.
    """

    group: MetricGroup
    metric: str
    labels: tuple[tuple[str, str], ...]
    plain: tuple[tuple[str, float], ...]
    computed: bool


MOST_SAMPLES = 1_000_000
_AT_ONCE = 50_000  # samples, some tenths of a second: other senders wait for no more than that
_MOST_NAMES, _LONGEST_NAME = 1_000, 100  # of metrics that are left out
_FIRST, _LAST = -(2**63), 2**63 - 1
MOST_KEPT = 256 << 20  # bytes, as they are estimated
MOST_WAITING = 64 << 20  # bytes of samples beside the newest, which wait for others
_MOST_BYTES = 64 << 20  # of the labels by which series are found again
_OF_PLACE = 300
_FORGOTTEN_AFTER = 3600 * SECOND
_SWEEP_INTERVAL = 10 * SECOND
_LOG_INTERVAL = 60 * SECOND
_LONGEST_LABEL = 1_000
_log = logging.getLogger(__name__)


class NotMetrics(Exception):
    """The error that data is not in the expected format of metrics; the text is the reason."""


class TooManySamples(Exception):
    """The error that a message has more samples than a request may have."""


class TooManyKept(Exception):
    """The error that there is no more memory to keep samples from which fields are computed."""


class Place(NamedTuple):
    """The destinations of a series' samples: `plain` fields with a factor, and `kept` states that compute fields."""

    plain: tuple[tuple[bytes, float], ...]
    kept: tuple[tuple[CounterState, str, Part], ...]


class Translator:
    """Translates the samples of many hosts. The caller must hold `lock`.

    `kept_bytes` estimates the memory for samples from which fields are computed; `lost` counts samples dropped for lack
    of memory.
    """

    def __init__(self, signals: Mapping[str, Signal], most_kept: int = MOST_KEPT) -> None:
        self.lock = Lock()
        self._uses: dict[str, list[MetricUse]] = {}
        for exporter in load_exporters().values():
            for group in exporter.groups:
                for name, use in _list_uses(group):
                    self._uses.setdefault(name, []).append(use)
        self._telegraf = dict(_list_telegraf_metrics(signals))
        self._resources = dict(_list_resources(signals))
        self.metric_names = frozenset((*self._uses, *self._telegraf))  # all others may be left out at once
        self._most = most_kept
        self._kept: dict[Hashable, CounterState] = {}
        self.kept_bytes = 0
        self._places: dict[Hashable, Place | None] = {}
        self._bytes = 0
        self._since = 0
        self._waiting = self._swept = 0
        self.lost = self._logged_at = 0

    def place(self, key: Hashable, series: Callable[[], tuple[str, dict[str, str], str]]) -> Place | None:
        """Return the destinations of a series' samples; None if nothing reads the series or its host is unknown.

        The result is cached under `key`; `series` is called, if needed, for the name, labels and host. Raise
        TooManyKept if the memory is full.
        """
        try:
            return self._places[key]
        except KeyError:
            if self._bytes > _MOST_BYTES:
                self._places.clear()
                self._bytes = 0
            place = self._places[key] = self._find_place(*series())
            self._bytes += _OF_PLACE + _estimate_size(key)
            return place

    def lines(self, samples: list[tuple[Place, int, float]], now: int) -> bytes:
        """Return the line protocol of finite samples, each given as (destinations, UTC ns, value)."""
        self._forget(now)
        written: list[bytes] = []
        by_time: dict[int, list[tuple[CounterState, str, Part, float]]] = {}
        for place, time, value in samples:
            if not math.isfinite(value):
                continue
            for head, factor in place.plain:
                if math.isfinite(factor * value):
                    written.append(b"%b=%b %d" % (head, repr(factor * value).encode(), time))
            if place.kept:
                by_time.setdefault(time, []).extend((*destination, value) for destination in place.kept)
        # Compute all times in order before any is dropped, however many there are.
        touched: dict[int, CounterState] = {}
        following: dict[tuple[int, int], CounterState] = {}
        for time, additions in sorted(by_time.items()):
            of_time: dict[int, CounterState] = {}
            for kept, metric, part, value in additions:
                may_grow = self.kept_bytes < self._most
                self.kept_bytes += kept.add(time, metric, part, value, now=now, may_grow=may_grow)
                kept.used = max(kept.used, now)
                of_time[id(kept)] = kept
            for key, kept in of_time.items():
                following.pop((time, key), None)
                written += kept.lines(time)
                if after := kept.next_after(time):
                    following[after, key] = kept
            touched |= of_time
        # Samples that arrived before earlier ones can be computed now.
        for (time, _), kept in sorted(following.items(), key=lambda entry: entry[0]):
            written += kept.lines(time)
        for kept in touched.values():
            self._drop(kept, now)
        return b"\n".join(written)

    def missing(self, now: int) -> Mapping[HostKey, Mapping[str, Resource]]:
        """Return, by host, metrics that never come though others of their metric group do, each with its resource.

        Only metrics from which signals of a resource are computed count. The caller must hold `lock`.
        """
        metrics: dict[HostKey, dict[str, Resource]] = {}
        for state in self._kept.values():
            for field, metric in state.missing(now):
                if resource := self._resources.get((state.measurement, field.casefold())):
                    metrics.setdefault(make_host_key(state.host), {})[metric] = resource
        return metrics

    def _drop(self, kept: CounterState, now: int) -> None:
        """Remove the samples that a state needs no longer; if memory is short, drop waiting samples, too."""

        def drop(state: CounterState, *, may_wait: bool = True) -> int:
            lost = state.drop(now, may_wait=may_wait)
            waiting = state.waiting
            self._waiting += waiting - state.counted
            state.counted = waiting
            return lost

        lost = drop(kept)
        if self._waiting > MOST_WAITING:
            if now - self._swept >= _SWEEP_INTERVAL:
                self._swept = now
                lost += sum(map(drop, self._kept.values()))
            if self._waiting > MOST_WAITING:
                lost += drop(kept, may_wait=False)
        self.lost += lost
        if lost and now - self._logged_at >= _LOG_INTERVAL:
            self._logged_at = now
            _log.warning(
                "%s: samples that waited for others, to be put together, had no room and were left out, so some fields "
                "have gaps: senders are far apart, or send too little of a scrape at once",
                kept.host,
            )

    def _find_place(self, name: str, labels: dict[str, str], host: str) -> Place | None:
        """Return the destinations of a metric's samples; None if nothing reads the metric, or its host is unknown."""
        if not host or any(len(label_value) > _LONGEST_LABEL for label_value in (host, *labels.values())):
            return None
        plain: list[tuple[bytes, float]] = []
        kept: list[tuple[CounterState, str, Part]] = []
        for use in self._uses.get(name, ()):
            if not (
                all(labels.get(name) == value for name, value in use.labels)
                and all(label in labels for label in use.group.labels)
                and not any(
                    fnmatchcase(labels.get(label, ""), pattern)
                    for label, patterns in use.group.but.items()
                    for pattern in patterns
                )
            ):
                continue
            for field, factor in use.plain:
                series = use.group.series(host, labels, field, {})
                plain.append((format_head(series).encode(), factor))
            if use.computed:
                group_labels = {label: labels[label] for label in use.group.labels}
                part = tuple(labels.get(label, "") for label in use.group.over)
                kept.append((self._keep(use.group, host, group_labels), use.metric, part))
        if not plain and not kept and (series := self._find_telegraf_series(name, labels, host)):
            plain.append((format_head(series).encode(), 1.0))
        return Place(tuple(plain), tuple(kept)) if plain or kept else None

    def _find_telegraf_series(self, name: str, labels: Mapping[str, str], host: str) -> Series | None:
        """Return the series of a metric that Telegraf's own Prometheus output exposes; None for any other metric."""
        place = self._telegraf.get(name)
        if place is None:
            return None
        kept = {label: value for label, value in labels.items() if label not in _OF_SCRAPES and value}
        exported = kept.pop(f"exported_{INSTANCE}", None)
        if exported is not None:
            kept[INSTANCE] = exported
        elif not place[0].startswith("win_") or strip_port(instance := kept.get(INSTANCE, "")) != instance:
            kept.pop(INSTANCE, None)
        return Series(host, *place[:1], tuple(sorted(kept.items())), place[1])

    def _keep(self, group: MetricGroup, host: str, labels: dict[str, str]) -> CounterState:
        key = (id(group), host, *labels.values())
        state = self._kept.get(key)
        if state is None:
            if self.kept_bytes >= self._most:
                raise TooManyKept
            self.kept_bytes += estimate_group_size(host, labels)
            state = self._kept[key] = CounterState(group, host, labels)
        return state

    def _forget(self, now: int) -> None:
        """Once an hour, remove the states of groups without samples in the last hour."""
        if now - self._since < _FORGOTTEN_AFTER:
            return
        if self._since:
            self._kept = {key: state for key, state in self._kept.items() if now - state.used < _FORGOTTEN_AFTER}
            for state in self._kept.values():
                state.forget_size()
            self._waiting = sum(state.counted for state in self._kept.values())
            self.kept_bytes = sum(
                estimate_group_size(state.host, state.labels) + state.kept_bytes for state in self._kept.values()
            )
            self._places.clear()
            self._bytes = 0
        self._since = now


class AcceptedMetrics:
    """The samples of a message, translated to `lines` of line protocol, with counts.

    `samples` counts all samples. Left out are `histograms`; `refused` samples, for which there was no memory;
    `nameless` samples, whose host is unknown; and `unread` samples, whose metrics nothing uses: `names` has the first
    of these metrics. `deltas` are the `unread` samples whose metrics would be used if they were cumulative.
    """

    def __init__(self, translator: Translator, now: int) -> None:
        self.lines = b""
        self.samples = self.histograms = self.refused = self.nameless = self.unread = self.deltas = 0
        self.names: set[str] = set()
        self.metric_names = translator.metric_names
        self._translator = translator
        self._now = now
        self._samples: list[tuple[Place, int, float]] = []

    def add(
        self,
        key: Hashable,
        series: Callable[[], tuple[str, dict[str, str], str]],
        samples: Sequence[tuple[int, float]],
    ) -> None:
        """Add samples (UTC ns, value) of a series; `key` and `series` are as in `Translator.place`.

        Raise TooManySamples if the message has too many samples.
        """
        self.samples += len(samples)
        if self.samples > MOST_SAMPLES:
            raise TooManySamples
        try:
            with self._translator.lock:
                place = self._translator.place(key, series)
        except TooManyKept:
            self.refused += len(samples)
            return
        if place is None:
            name, _, host = series()
            if name not in self.metric_names:
                self.samples -= len(samples)
                self.leave_out(name, len(samples))
            elif not host:
                self.nameless += len(samples)
            return
        self._samples += [(place, at, value) for at, value in samples if _FIRST < at < _LAST]

    def leave_out(self, name: str, samples: int) -> None:
        """Count `samples` samples of a metric that nothing uses."""
        self.samples += samples
        self.unread += samples
        if samples and len(self.names) < _MOST_NAMES:
            self.names.add(name[:_LONGEST_NAME])

    def finish(self) -> None:
        """Translate the added samples into `lines`."""
        parts: list[bytes] = []
        self._samples.sort(key=lambda sample: sample[1])
        for first in range(0, len(self._samples), _AT_ONCE):
            with self._translator.lock:
                parts.append(self._translator.lines(self._samples[first : first + _AT_ONCE], self._now))
            clock.sleep(0)  # release the lock for others between series
        self.lines, self._samples = b"\n".join(parts), []


def _estimate_size(key: Hashable) -> int:
    """Return the estimated bytes of memory for a cache key."""
    if isinstance(key, bytes | str):
        return 50 + len(key)
    return 50 + sum(map(_estimate_size, key)) if isinstance(key, tuple) else 50


def find_host(labels: Mapping[str, str]) -> str:
    """Return the host that labels name: a host label, else the scraped address without its port; else empty."""
    named = next((labels[name] for name in HOST_LABELS if labels.get(name)), None)
    return named or strip_port(labels.get(INSTANCE, ""))


def strip_port(address: str) -> str:
    """Return an address without its port: `app01` for `app01:9100`; IPv6 addresses lose their brackets, too."""
    head, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and (head.endswith("]") or ":" not in head):
        address = head
    return address.removeprefix("[").removesuffix("]")


def _list_uses(group: MetricGroup) -> Iterator[tuple[str, MetricUse]]:
    """Yield each metric that a group uses, as its name and its MetricUse."""
    direct = not group.over and not group.when
    for key, sources in group.sources.items():
        plain: list[tuple[str, float]] = []
        computed = any(key in by for by in group.when.values())
        for field, formulas in group.formulas.items():
            simple = formulas[0].plain if direct and len(formulas) == 1 else None
            if simple and simple[0] == key:
                plain.append((field, simple[1]))
            elif not simple:
                computed = computed or any(key in formula.names for formula in formulas)
        for metric in sources:
            yield metric.name, MetricUse(group, key, metric.labels, tuple(plain), computed)


def _list_resources(signals: Mapping[str, Signal]) -> Iterator[tuple[tuple[str, str], Resource]]:
    """Yield (measurement, field) of each field that signals of a resource use, with the resource."""
    for signal in signals.values():
        for source in signal.sources if signal.resource else ():
            for field in source.fields:
                if signal.resource:
                    yield (source.measurement or "", field.casefold()), signal.resource


def _list_telegraf_metrics(signals: Mapping[str, Signal]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each metric name under which Telegraf exposes a field that signals use, with (measurement, field)."""
    for signal in signals.values():
        for source in signal.sources:
            if source.path:
                places = [(find_measurement(source.path.object), make_telegraf_name(source.path.counter))]
            else:
                places = [(source.measurement or "", field) for field in source.fields]
            for of, field in places:
                for name in list_metric_names(of, field):
                    yield name, (of, field)
