"""Reads Gatling's binary `simulation.log`, which it writes since 3.12 (tested with 3.15.1).

The file is big-endian: a header with the start of the run, then records of requests, users, groups and errors; times
are milliseconds after the start (LogFileReader.scala of github.com/gatling/gatling). The first use of a string is a
positive index and the string, later uses are the negative index. A redirect counts as a request, as in Gatling's
reports.
"""

import re
import struct
from collections.abc import Sequence
from itertools import chain

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.requests import Requests, log_of
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind, Remarks

NAME = "Gatling-binary"
_BEGINS = re.compile(rb"\0\0\0\0[\x03-\x20]\d+\.\d+")
_REQUEST, _USER, _GROUP, _ERROR = 1, 2, 3, 4
_INT, _LONG = struct.Struct(">i"), struct.Struct(">q")
# A request in so many groups whose strings are all cached, as most are: kind, groups, name, start, end, ok, message.
_CACHED = [struct.Struct(f">bi{groups}iiii?i") for groups in range(4)]
_NEVER = -(2**31)  # the end of an event that answers no request
_MOST_GROUPS = 1000
_MS = 1_000_000


def sniff(text: Text) -> bool:
    """Return whether the file begins with Gatling's record of the run."""
    return _BEGINS.match(text.data[:64]) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the requests. Raise Unusable if a record is damaged; leave out a last record that is cut off."""
    del options
    remarks = Remarks(str(text.path))
    records = _Records(text.data[:])
    try:
        records.read_header()
    except (struct.error, IndexError, ValueError):
        raise Unusable(f"{text.path}: its header is cut short or damaged; copy the file again") from None
    at = records.at
    try:
        while records.at < len(records.data):
            at = records.at
            records.read_record()
    except (struct.error, IndexError):
        remarks.add(Kind.SKIPPED, "the last record was cut short: left out")
    except (ValueError, KeyError):
        raise Unusable(f"{text.path}: the record at byte {at:,} is damaged; copy the file again") from None
    flat = np.fromiter(chain.from_iterable(records.requests), np.int64, 5 * len(records.requests)).reshape(-1, 5)
    start, end, ok, name, message = flat[flat[:, 1] != _NEVER].T
    if (end < start).any():
        raise Unusable(f"{text.path}: a request ends before it begins; the file is damaged: copy it again")
    names = pl.Series(records.names, dtype=pl.String)
    operation, reasons = names.gather(name), names.gather(message[ok == 0])
    times, changes = _sort_by_time(records.users)
    users = (records.begun + times * _MS, np.cumsum(changes).astype(np.float64)) if len(times) else None
    start, end = records.begun + start * _MS, records.begun + end * _MS
    requests = Requests(start, end, operation, ok == 0, users, reasons=reasons)
    return log_of(text.path, NAME, requests, remarks)


def _sort_by_time(events: Sequence[tuple[int, int]]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return two rows, sorted by time: the times of events, and the change of the number of users at each event."""
    return np.array(sorted(events, key=lambda event: event[0]), dtype=np.int64).reshape(-1, 2).T


class _Records:
    """The records read so far. Times are ms after `begun`, the start of the run (UTC ns).

    `requests` are (start, end, True for a success, index of the name in `names`, index of the message), `users` are
    (time, change of the number of users).
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.begun = 0
        self.names: list[str] = []
        self.requests: list[tuple[int, int, bool, int, int]] = []
        self.users: list[tuple[int, int]] = []
        self._cached: dict[int, int] = {}

    def read_header(self) -> None:
        """Read the version, the simulation, the start of the run, the scenarios and the assertions."""
        self.at = 1
        self._read_string()
        self._read_string()
        self.begun = _LONG.unpack_from(self.data, self.at)[0] * _MS
        self.at += _LONG.size
        self._read_string()
        for _ in range(self._read_int()):
            self._read_string()
        for _ in range(self._read_int()):
            self.at += self._read_int()

    def read_record(self) -> None:
        """Read one record.

        Raise ValueError or KeyError if the record is damaged, struct.error or IndexError if it is cut short.
        """
        kind = self.data[self.at]
        if kind == _REQUEST:
            self._read_request()
            return
        self.at += 1
        if kind == _USER:
            self._read_int()
            change = 1 if self._read_byte() else -1
            self.users.append((self._read_int(), change))
        elif kind == _GROUP:
            for _ in range(self._read_groups()):
                self._name()
            self._skip(13)  # start, end, cumulated time, result
        elif kind == _ERROR:
            self._name()
            self._read_int()
        else:
            raise ValueError

    def _read_request(self) -> None:
        self._read_cached()
        if self.at >= len(self.data) or self.data[self.at] != _REQUEST:
            return
        self.at += 1
        for _ in range(self._read_groups()):
            self._name()
        name, start, end, ok = self._name(), self._read_int(), self._read_int(), self._read_byte()
        self.requests.append((start, end, bool(ok), name, self._name()))

    def _read_cached(self) -> None:
        """Read consecutive requests whose strings are all cached; in one loop, as there may be millions."""
        data, at, last = self.data, self.at, len(self.data) - _CACHED[-1].size
        cached, append = self._cached, self.requests.append
        while at <= last and data[at] == _REQUEST:
            groups = data[at + 4] & 3
            form = _CACHED[groups]
            row = form.unpack_from(data, at)
            if row[1] != groups or row[-1] >= 0 or max(row[2:-4]) >= 0:
                break
            append((row[-4], row[-3], row[-2], cached[-row[-5]], cached[-row[-1]]))
            at += form.size
        self.at = at

    def _read_groups(self) -> int:
        groups = self._read_int()
        if not 0 <= groups <= _MOST_GROUPS:
            raise ValueError
        return groups

    def _read_int(self) -> int:
        number: int = _INT.unpack_from(self.data, self.at)[0]
        self.at += 4
        return number

    def _read_byte(self) -> int:
        self._skip(1)
        return self.data[self.at - 1]

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self.data):
            raise IndexError

    def _read_string(self) -> str:
        """Read a string, stored as length, bytes, and encoding: 0 for Latin-1, 1 for UTF-16 (read as little-endian)."""
        length = self._read_int()
        if length < 0:
            raise ValueError
        if length == 0:
            return ""
        self._skip(length + 1)
        written, coder = self.data[self.at - length - 1 : self.at - 1], self.data[self.at - 1]
        return written.decode("latin-1" if coder == 0 else "utf-16-le", errors="replace")

    def _name(self) -> int:
        """Read a cached string and return its index in `names`. Raise KeyError if the string was not cached."""
        index = self._read_int()
        if index < 0:
            return self._cached[-index]
        self.names.append(" ".join(self._read_string().split()))
        self._cached[index] = len(self.names) - 1
        return self._cached[index]
