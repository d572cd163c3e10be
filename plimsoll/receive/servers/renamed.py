"""Samples of a server that stores them under other names than Telegraf's, or from several agents on one host."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from plimsoll.model.remark import join_names
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.influx.samples import InfluxSamples
from plimsoll.store.protocol import FoundSeries, SampleReader, join_spellings

_MOST_NAMED = 3


class StoredNames(NamedTuple):
    """The names of measurements, tags and fields in a store, each with the name that Telegraf uses instead."""

    measurements: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}

    def renamed(self, series: Series) -> Series:
        """Return a stored series under Telegraf's names; a renamed tag replaces a stored tag with the same name."""
        pairs = [("host", series.host), *series.tags]
        tags = {
            self.tags.get(name, name): value for name, value in sorted(pairs, key=lambda pair: pair[0] in self.tags)
        }
        host = tags.pop("host", "")
        measurement = self.measurements.get(series.measurement, series.measurement)
        field = self.fields.get(series.field, series.field)
        return Series(host, measurement, tuple(sorted(tags.items())), field)


class RenamedSamples(SampleReader):
    """A reader whose series have Telegraf's names, with notes on measurements that several agents write of one host.

    The `signals` name the tags that tell series apart.
    """

    def __init__(self, reader: InfluxSamples, names: StoredNames, signals: Mapping[str, Signal]) -> None:
        self.name = reader.name
        self.close = reader.close
        self._reader, self._names = reader, names
        self._stored: dict[object, list[Series]] = {}
        self._tags: dict[str, set[str]] = {}
        for source in (source for signal in signals.values() for source in signal.sources):
            tag_names = self._tags.setdefault(source.measurement or "", set())
            tag_names.update(filter(None, (source.instance, source.host, *source.tags)))

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the series of some hosts (without `hosts`, of all hosts) with a sample in a range, sorted.

        If the store names the host by another tag, the series of all hosts are read and then selected.
        """
        stored = self._reader.series(start, end, () if "host" in self._names.tags.values() else hosts)
        host_keys = {make_host_key(host) for host in hosts}
        self._stored.clear()
        by_key: dict[object, Series] = {}
        for stored_series in stored.series:
            series = self._names.renamed(stored_series)
            if not host_keys or make_host_key(series.host) in host_keys:
                by_key.setdefault(series.key, series)
                self._stored.setdefault(series.key, []).append(stored_series)
        renamed = sorted(by_key.values(), key=lambda series: series.key)
        return stored._replace(series=renamed, notes=tuple(self._note_several_writers(renamed)))

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range (UTC ns).

        If several stored series become one series, and have samples at the same time, the first series' sample is used;
        a series that was stored under Telegraf's names comes first.
        """
        stored = [origin for part in series for origin in self._stored.get(part.key, ())]
        samples = iter(self._reader.read(stored, start, end))
        return [
            join_spellings(part, [(origin, next(samples)) for origin in self._stored.get(part.key, ())])
            for part in series
        ]

    def _note_several_writers(self, series: Iterable[Series]) -> Iterator[str]:
        """Yield a note on each measurement that is written more than once for a host, with the tags that differ."""
        groups: dict[tuple[str, str, tuple[tuple[str, str], ...], str], list[Series]] = {}
        for part in series:
            if tag_names := self._tags.get(part.measurement):
                tags = tuple(tag for tag in part.tags if tag[0] in tag_names)
                groups.setdefault((part.host, part.measurement, tags, part.field), []).append(part)
        differences: dict[tuple[str, str], set[str]] = {}
        for (host, measurement, tags, _), group in groups.items():
            other_tags = [sorted(set(part.tags) - set(tags)) for part in group if len(group) > 1]
            tag_texts = [",".join(map("=".join, pairs)) or "none" for pairs in other_tags]
            differences.setdefault((host, measurement), set()).update(tag_texts)
        for (host, measurement), tag_texts in differences.items():
            if tag_texts:
                text = f"{measurement} of {host} is written {len(tag_texts)} times, with the tags"
                yield f"{text} {join_names(sorted(tag_texts), _MOST_NAMED)}: the first counts"
