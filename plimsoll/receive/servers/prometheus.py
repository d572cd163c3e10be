"""Reads a server with Prometheus' HTTP API: raw samples, translated as if the server had sent them by remote write."""

import base64
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from plimsoll.model.errors import Unusable
from plimsoll.model.http_connections import is_loopback
from plimsoll.model.log import Times
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.receive.exporters.counter_state import LONGEST_GAP
from plimsoll.receive.exporters.history import History
from plimsoll.receive.exporters.translate import HOST_LABELS, INSTANCE, Translator, strip_port
from plimsoll.receive.servers.address import ServerAddress
from plimsoll.receive.servers.renamed import StoredNames
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.prometheus_api import PrometheusApi
from plimsoll.store.protocol import FoundSeries, SampleReader, join_spellings
from plimsoll.store.quoting import escape_regex, quote_identifier

SETTINGS = ("match",)
_TOKEN, _USER, _PASSWORD, _TENANT = "PROMETHEUS_TOKEN", "PROMETHEUS_USER", "PROMETHEUS_PASSWORD", "PROMETHEUS_ORG_ID"
_MS = 1_000_000
_NAMES_AT_ONCE = 90  # VictoriaMetrics looks up at most 100 names one by one
_SAMPLES_AT_ONCE = 400_000
_FIRST_PIECE, _LONGEST_PIECE, _SHORTEST_PIECE = 600_000, 86_400_000, 10_000  # ms
_MOST_VALUES = 50_000_000  # 8 bytes each, twice
_NOTICE_S = 10.0
_PATIENCE_S = 30.0


def open_samples(
    address: ServerAddress, signals: Mapping[str, Signal], names: StoredNames, notify: Callable[[str], None]
) -> "PrometheusSamples":
    """Return a reader of the server at an address. Raise Unusable unless `names` is empty: it is for InfluxDB only."""
    if any(names):
        raise Unusable(f"{address.name}: names of measurements, tags and fields are for influxdb://")
    return PrometheusSamples(address, signals, notify)


class PrometheusSamples(SampleReader):
    """A reader of a server's samples: `series` reads the samples of hosts, then `read` returns each sample once.

    `signals` decide which metrics are read. `notify` is called with a sentence on the progress every few seconds.
    """

    def __init__(
        self, address: ServerAddress, signals: Mapping[str, Signal], notify: Callable[[str], None] = lambda _: None
    ) -> None:
        self.name = address.name
        is_near, secrets = is_loopback(address.url), _read_secrets(os.environ)
        place = f"{_TOKEN}, or {_USER} and {_PASSWORD}"
        named = address.name, address.url, "Prometheus", secrets, place
        self._api = PrometheusApi(*named, is_near=is_near, read_s=_PATIENCE_S)
        self._matcher = address.settings.get("match", "").strip().removeprefix("{").removesuffix("}")
        self._history = History(Translator(signals, most_kept=1 << 62))
        self._notify = notify
        self._samples: dict[object, list[tuple[Series, Samples]]] = {}
        self._values = 0

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Read the samples of hosts (all if empty) in a range (UTC ns), and return their series.

        Up to ten minutes before the range are read as well, as a counter's growth needs the sample before.
        """
        self._samples.clear()
        first, last = max(-(-(start - LONGEST_GAP) // _MS), 1), end // _MS
        names = sorted(self._history.metric_names.intersection(self._api.label_values("__name__", first, last)))
        targets = [*self._list_targets(names, first, last, {make_host_key(host) for host in hosts})]
        notified = time.monotonic()
        for number, matchers in enumerate(targets):
            if time.monotonic() - notified > _NOTICE_S:
                notified = time.monotonic()
                self._notify(f"{self.name}: {number:,} of {len(targets):,} targets, {self._values:,} values so far")
            for metric_names in _split_chunks(names):
                for labels, samples in self._read_raw(
                    _build_selector(metric_names, [*matchers, self._matcher]), first, last
                ):
                    self._history.add(labels, samples)
            self._keep(start, end)
        return FoundSeries(sorted((parts[0][0] for parts in self._samples.values()), key=lambda s: s.key), 0)

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples in a range of series that `series` has read; a second call returns no samples."""
        return [join_spellings(s, self._samples.pop(s.key, [])).between(start, end) for s in series]

    def _list_targets(self, names: Sequence[str], first: int, last: int, hosts: set[str]) -> Iterator[list[str]]:
        """Yield label matchers, a list for each target of these hosts; no series matches two targets."""
        selectors = [_build_selector(chunk, [self._matcher]) for chunk in _split_chunks(names)]
        if not selectors:
            return
        present = set(self._api.label_names(first, last, selectors))
        unset: list[str] = []
        for label in (*HOST_LABELS, INSTANCE):
            if label not in present:
                continue
            values = {v for selector in selectors for v in self._api.label_values(label, first, last, [selector])}
            for value in sorted(filter(None, values)):
                host = strip_port(value) if label == INSTANCE else value
                if not hosts or make_host_key(host) in hosts:
                    yield [f"{_label(label)}={quote_identifier(value)}", *unset]
            unset.append(f'{_label(label)}=""')

    def _read_raw(self, selector: str, first: int, last: int) -> Iterator[tuple[Mapping[str, str], Samples]]:
        """Yield labels and samples of the selected series after `first` up to `last` (ms), a span at a time."""
        length = _FIRST_PIECE
        begin = first
        while begin < last:
            finish = min(begin + length, last)
            count = 0
            for labels, samples in self._api.raw(selector, begin, finish):
                count += len(samples.times)
                yield labels, samples
            length = _LONGEST_PIECE if not count else (finish - begin) * _SAMPLES_AT_ONCE // count
            length = min(max(length, _SHORTEST_PIECE), _LONGEST_PIECE)
            begin = finish

    def _keep(self, start: int, end: int) -> None:
        """Keep the samples, in a range, of the target just read; series with equal times share one array of times."""
        shared: dict[bytes, Times] = {}
        for series, samples in self._history.take():
            part = samples.between(start, end)
            if len(part.times):
                times = shared.setdefault(part.times.tobytes(), part.times)
                self._samples.setdefault(series.key, []).append((series, Samples(times, part.values.copy())))
                self._values += len(times)
        if self._values > _MOST_VALUES:
            raise Unusable(
                f"{self.name}: has more than {_MOST_VALUES:,} values of that time, too many to judge at once; "
                "choose a shorter time, or hosts"
            )


def _read_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return HTTP headers with the environment's token, or user and password, and tenant (Mimir, Cortex), if set."""
    headers: dict[str, str] = {}
    token, user = environment.get(_TOKEN, ""), environment.get(_USER, "")
    if token:
        headers["Authorization"] = f"Bearer {token}"
    elif user:
        packed = base64.b64encode(f"{user}:{environment.get(_PASSWORD, '')}".encode()).decode()
        headers["Authorization"] = f"Basic {packed}"
    if tenant := environment.get(_TENANT):
        headers["X-Scope-OrgID"] = tenant
    for name in (_TOKEN, _TENANT):
        if (text := environment.get(name, "")) and not (text.isascii() and text.isprintable()):
            raise Unusable(f"what {name} holds is no token: it has a character no token has")
    return headers


def _split_chunks(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[at : at + _NAMES_AT_ONCE] for at in range(0, len(names), _NAMES_AT_ONCE)]


def _build_selector(names: Sequence[str], matchers: Sequence[str]) -> str:
    any_name = "__name__=~" + quote_identifier("|".join(map(escape_regex, names)))
    return "{" + ",".join([any_name, *filter(None, matchers)]) + "}"


def _label(name: str) -> str:
    """Return a label name as PromQL writes it: quoted if it is no identifier, such as `host.name`."""
    return name if name.isidentifier() else quote_identifier(name)
