"""The series that line protocol names: one numbered object for each series, within limits."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, local

from plimsoll.model.series import Series, make_host_key
from plimsoll.receive.line_protocol.grammar import LONGEST_KEY, split_tags

_MOST_SPELLINGS = 16  # of one measurement with its tags
_OVERHEAD = 300  # about what a name takes besides its bytes
_HEAD_OVERHEAD = 1200  # and a measurement
_TAG_OVERHEAD = 220  # and a tag
_ESCAPED = {kind: re.compile(rb"\\([" + kind + rb"])") for kind in (b", ", b",= ", b',= "')}


@dataclass(slots=True)
class _Brought:
    """The number of series, and the hosts, that one writer was the first to send."""

    series: int = 0
    hosts: set[str] = field(default_factory=set[str])


class RefusedSeries(Exception):
    """The error that a series or point cannot be stored; the text is the reason in InfluxDB's words."""


class FieldNames(dict[bytes, int]):
    """The series numbers of one measurement with its tags, by field name as written.

    Looking up a new name adds a series with the next number, or raises RefusedSeries if there are too many series, or
    if the name is invalid. `spellings` counts the cached ways in which the measurement and its tags were
    written, such as other orders of the tags.
    """

    def __init__(self, names: "SeriesNames", of: Series, longest: int) -> None:
        super().__init__()
        self._names = names
        self._of = of
        self._longest = longest
        self.spellings = 0

    def __missing__(self, name: bytes) -> int:
        """Return the number of the series of a field name not seen in this spelling; add the series if it is new."""
        if len(name) > self._longest:
            raise RefusedSeries("max key length exceeded")
        plain = _unescape(name, b',= "')
        with self._names.lock:
            # Another spelling of the name, or another thread, may have added it.
            number = self.get(plain)
            if number is None:
                if plain == b"time":
                    raise RefusedSeries(
                        f'invalid field name: input field "time" on measurement "{self._of.measurement}" is invalid'
                    )
                series = Series(self._of.host, self._of.measurement, self._of.tags, _decode_name(plain))
                number = self[plain] = self._names.add(series)
            if name != plain and self._names.may_keep(name):
                self[name] = number
        return number


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits on series and hosts: in total, and for one writer (an address).

    `names` limits the memory (bytes) of all names and their spellings.
    """

    series: int = 200_000
    hosts: int = 5_000
    writer_series: int = 100_000
    writer_hosts: int = 2_000
    names: int = 192 << 20


class SeriesNames:
    """The known series by number. Threads may add series, each thread within `for_writer`.

    `initial_series` are known from the start, whatever the limits. Known series are never refused.
    """

    def __init__(self, bounds: Bounds | None = None, initial_series: Iterable[Series] = ()) -> None:
        self.series: list[Series] = []
        self.lock = Lock()
        self._bounds = bounds or Bounds()
        self._heads: dict[bytes, FieldNames] = {}
        self._by_key: dict[object, FieldNames] = {}
        self._hosts: set[str] = set()
        self.name_bytes = 0  # about how many bytes the names take
        self._brought: dict[str, _Brought] = {}
        self._writer = local()
        self.fields_of = self._heads.get
        for series in initial_series:
            self._restore(series)

    @contextmanager
    def for_writer(self, name: str) -> Generator[None]:
        """Open a context in which the series that this thread adds are counted as series of the writer `name`."""
        self._writer.name = name
        try:
            yield
        finally:
            self._writer.name = ""

    def fields(self, head: bytes) -> FieldNames:
        """Return the field names of a valid measurement with tags. Raise RefusedSeries beyond a limit."""
        if (fields := self._heads.get(head)) is not None:
            return fields
        of = _parse_series(head)
        with self.lock:
            fields = self._by_key.get(of.key)
            if fields is None:
                self._check_room()
                self._check_host(make_host_key(of.host))
                fields = self._by_key[of.key] = FieldNames(self, of, LONGEST_KEY - 4 - len(head))
                self.name_bytes += 2 * len(head) + _HEAD_OVERHEAD + _TAG_OVERHEAD * len(of.tags)
            # The first spelling is always kept, so that its senders are not slowed down by others.
            if not fields.spellings or (fields.spellings < _MOST_SPELLINGS and self.may_keep(head)):
                fields.spellings += 1
                self._heads[head] = fields
        return fields

    def add(self, series: Series) -> int:
        """Add a new series and return its number. The caller must hold the lock."""
        self._check_room()
        self._of_writer.series += 1
        self.name_bytes += len(series.field) + _OVERHEAD
        self.series.append(series)
        return len(self.series) - 1

    def may_keep(self, spelling: bytes) -> bool:
        """Return whether there is memory for another spelling, and count it if so. The caller must hold the lock."""
        if self.name_bytes > self._bounds.names:
            return False
        self.name_bytes += len(spelling) + _OVERHEAD
        return True

    @property
    def full(self) -> bool:
        """Whether a limit is reached, by all writers together or by any single writer."""
        bounds = self._bounds
        return (
            len(self.series) >= bounds.series
            or len(self._hosts) >= bounds.hosts
            or self.name_bytes > bounds.names
            or any(
                brought.series >= bounds.writer_series or len(brought.hosts) >= bounds.writer_hosts
                for brought in [*self._brought.values()]
            )
        )

    @property
    def _of_writer(self) -> _Brought:
        name = getattr(self._writer, "name", "")
        if name not in self._brought:
            self._brought[name] = _Brought()
        return self._brought[name]

    def _restore(self, series: Series) -> None:
        """Add a series that is known from the start, whatever the limits."""
        of = Series(series.host, series.measurement, series.tags, "")
        fields = self._by_key.get(of.key)
        if fields is None:
            fields = self._by_key[of.key] = FieldNames(self, of, LONGEST_KEY)
            self._hosts.add(make_host_key(of.host))
            self.name_bytes += _HEAD_OVERHEAD + sum(_TAG_OVERHEAD + len(name) + len(value) for name, value in of.tags)
        name = series.field.encode()
        if name not in fields:
            fields[name] = len(self.series)
            self.series.append(series)
            self.name_bytes += len(name) + len(of.measurement) + _OVERHEAD

    def _check_room(self) -> None:
        bounds = self._bounds
        if len(self.series) >= bounds.series or self.name_bytes > bounds.names:
            raise RefusedSeries(_explain_too_many("max-series-per-database", f"{bounds.series} series", "series"))
        if self._of_writer.series >= bounds.writer_series:
            raise RefusedSeries(
                _explain_too_many(
                    "max-series-per-database", f"{bounds.writer_series} series of a sender", "writer_series"
                )
            )

    def _check_host(self, host: str) -> None:
        if host in self._hosts:
            return
        bounds, brought = self._bounds, self._of_writer
        if len(self._hosts) >= bounds.hosts:
            raise RefusedSeries(_explain_too_many("max-hosts", f"{bounds.hosts} hosts", "hosts"))
        if len(brought.hosts) >= bounds.writer_hosts:
            raise RefusedSeries(
                _explain_too_many("max-hosts", f"{bounds.writer_hosts} hosts of a sender", "writer_hosts")
            )
        self._hosts.add(host)
        brought.hosts.add(host)


def _explain_too_many(bound_name: str, bound: str, setting: str) -> str:
    return f"{bound_name} limit exceeded: no more than {bound}; raise limits.{setting} in up.toml if they are yours"


def _parse_series(head: bytes) -> Series:
    """Return the series of a measurement with tags, with an empty field. Raise RefusedSeries without a tag `host`."""
    measurement, tags = split_tags(head)
    named = {_decode_name(_unescape(name, b",= ")): _decode_name(_unescape(value, b",= ")) for name, value in tags}
    if not (host := named.pop("host", "")):
        raise RefusedSeries(
            'no tag "host" says whose the point is; let the agent add it (Telegraf: omit_hostname = false), and '
            "review the results of a load driver as a log"
        )
    return Series(host, _decode_name(_unescape(measurement, b", ")), tuple(sorted(named.items())), "")


def _unescape(name: bytes, special: bytes) -> bytes:
    return _ESCAPED[special].sub(rb"\1", name) if b"\\" in name else name


def _decode_name(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedSeries(f'key contains invalid unicode: "{name.decode("utf-8", "backslashreplace")}"') from None
