"""The series that line protocol names, each always as the same object."""

import re
from threading import Lock

from plimsoll.model.series import Series
from plimsoll.receive.line_protocol.grammar import LONGEST_KEY, tags_of

MOST_SERIES = 200_000
_MOST_BYTES = 64 << 20
_ESCAPED = {kind: re.compile(rb"\\([" + kind + rb"])") for kind in (b", ", b",= ", b',= "')}


class Refused(Exception):
    """A series that cannot be kept; the text is the reason, worded as InfluxDB's."""


class Fields(dict[bytes, int]):
    """The numbers of the series of one measurement and tags, by the name of the field as written.

    A name that is new gets the next number. Refused if there are too many series, or if it is not valid.
    """

    def __init__(self, names: "SeriesNames", of: Series, longest: int) -> None:
        super().__init__()
        self._names = names
        self._of = of
        self._longest = longest

    def __missing__(self, name: bytes) -> int:
        if len(name) > self._longest:
            raise Refused("max key length exceeded")
        plain = _plain(name, b',= "')
        with self._names.lock:
            # Another spelling of the name, or another thread, may have added it.
            number = self.get(plain)
            if number is None:
                if plain == b"time":
                    raise Refused(
                        f'invalid field name: input field "time" on measurement "{self._of.measurement}" is invalid'
                    )
                one = Series(self._of.host, self._of.measurement, self._of.tags, _text(plain))
                number = self[plain] = self._names.add(one)
            self[name] = number
        return number


class SeriesNames:
    """The series that were named so far, by number. Several threads may add some."""

    def __init__(self, most: int = MOST_SERIES) -> None:
        self.series: list[Series] = []
        self.lock = Lock()
        self._most = most
        self._heads: dict[bytes, Fields] = {}
        self._by_key: dict[object, Fields] = {}
        self._bytes = 0
        self.known = self._heads.get

    def fields(self, head: bytes) -> Fields:
        """The fields of a valid measurement and tags. Refused if there are too many."""
        if (known := self._heads.get(head)) is not None:
            return known
        of = _series(head)
        with self.lock:
            found = self._by_key.get(of.key)
            if found is None:
                self._check_room(len(head))
                found = self._by_key[of.key] = Fields(self, of, LONGEST_KEY - 4 - len(head))
            if len(self._heads) < self._most:
                self._heads[head] = found
        return found

    def add(self, series: Series) -> int:
        """The number of a series that is new. The caller holds the lock."""
        self._check_room(len(series.field))
        self.series.append(series)
        return len(self.series) - 1

    @property
    def full(self) -> bool:
        """Whether no more series can be added."""
        return len(self.series) >= self._most or self._bytes > _MOST_BYTES

    def _check_room(self, size: int) -> None:
        if self.full:
            raise Refused(f"max-series-per-database limit exceeded: ({self._most})")
        self._bytes += size


def _series(head: bytes) -> Series:
    """A series without a field, as a store returns it: without a tag `host`, its host is empty."""
    measurement, tags = tags_of(head)
    named = {_text(_plain(name, b",= ")): _text(_plain(value, b",= ")) for name, value in tags}
    host = named.pop("host", "")
    return Series(host, _text(_plain(measurement, b", ")), tuple(sorted(named.items())), "")


def _plain(name: bytes, special: bytes) -> bytes:
    return _ESCAPED[special].sub(rb"\1", name) if b"\\" in name else name


def _text(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f'key contains invalid unicode: "{name.decode("utf-8", "backslashreplace")}"') from None
