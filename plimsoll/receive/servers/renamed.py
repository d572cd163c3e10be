"""Samples of a server under other names than Telegraf's, and of hosts that several agents write."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from plimsoll.model.remark import listed
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, host_key
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.influx.samples import InfluxSamples
from plimsoll.store.protocol import FoundSeries, SampleReader, joined_spellings

_MOST_NAMED = 3


class StoredNames(NamedTuple):
    """The names of measurements, tags and fields in a store, each with the one that Telegraf gives it."""

    measurements: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}

    def renamed(self, series: Series) -> Series:
        """Return a stored series under Telegraf's names; a tag that is renamed goes before one of that name."""
        pairs = [("host", series.host), *series.tags]
        tags = {
            self.tags.get(name, name): value for name, value in sorted(pairs, key=lambda pair: pair[0] in self.tags)
        }
        host = tags.pop("host", "")
        measurement = self.measurements.get(series.measurement, series.measurement)
        field = self.fields.get(series.field, series.field)
        return Series(host, measurement, tuple(sorted(tags.items())), field)


class RenamedSamples(SampleReader):
    """A reader whose series have Telegraf's names, with notes on what several agents write of one host.

    `signals` say which tags tell series apart.
    """

    def __init__(self, reader: InfluxSamples, names: StoredNames, signals: Mapping[str, Signal]) -> None:
        self.name = reader.name
        self.close = reader.close
        self._reader, self._names = reader, names
        self._stored: dict[object, list[Series]] = {}
        self._tags: dict[str, set[str]] = {}
        for source in (source for signal in signals.values() for source in signal.sources):
            known = self._tags.setdefault(source.measurement or "", set())
            known.update(filter(None, (source.instance, source.host, *source.tags)))

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the series with a sample in a range, sorted; where a tag is the host under another name, all first."""
        stored = self._reader.series(start, end, () if "host" in self._names.tags.values() else hosts)
        wanted = {host_key(host) for host in hosts}
        self._stored.clear()
        found: dict[object, Series] = {}
        for single in stored.series:
            series = self._names.renamed(single)
            if not wanted or host_key(series.host) in wanted:
                found.setdefault(series.key, series)
                self._stored.setdefault(series.key, []).append(single)
        kept = sorted(found.values(), key=lambda series: series.key)
        return stored._replace(series=kept, notes=tuple(self._side_by_side(kept)))

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range; of several stored at one time, the first series' counts."""
        stored = [single for wanted in series for single in self._stored.get(wanted.key, ())]
        samples = iter(self._reader.read(stored, start, end))
        return [
            joined_spellings(wanted, [(single, next(samples)) for single in self._stored.get(wanted.key, ())])
            for wanted in series
        ]

    def _side_by_side(self, series: Iterable[Series]) -> Iterator[str]:
        """Yield a note on each measurement of a host that is written more than once, with the tags that differ."""
        alike: dict[tuple[str, str, tuple[tuple[str, str], ...], str], list[Series]] = {}
        for single in series:
            if known := self._tags.get(single.measurement):
                tags = tuple(tag for tag in single.tags if tag[0] in known)
                alike.setdefault((single.host, single.measurement, tags, single.field), []).append(single)
        twice: dict[tuple[str, str], set[str]] = {}
        for (host, measurement, tags, _), group in alike.items():
            others = [sorted(set(single.tags) - set(tags)) for single in group if len(group) > 1]
            shown = [",".join(map("=".join, rest)) or "none" for rest in others]
            twice.setdefault((host, measurement), set()).update(shown)
        for (host, measurement), shown in twice.items():
            if shown:
                text = f"{measurement} of {host} is written {len(shown)} times, with the tags"
                yield f"{text} {listed(sorted(shown), _MOST_NAMED)}: the first counts"
