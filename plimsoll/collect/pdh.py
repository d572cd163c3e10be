"""Reads performance counters of Windows as Performance Monitor does: through pdh.dll, with ctypes.

https://learn.microsoft.com/windows/win32/perfctrs/using-the-pdh-functions-to-consume-counter-data
"""

import ctypes
import math
import time
from collections import Counter as Count
from collections.abc import Iterator, Sequence
from ctypes import POINTER, Structure, byref, c_double, c_size_t, c_uint32, c_void_p, c_wchar_p, create_string_buffer
from typing import Any, NewType

from plimsoll.collect.sources.reading import Reading
from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import EACH_INSTANCE, TOTAL, CounterPath

Query = NewType("Query", int)
Counter = NewType("Counter", int)
# Without NOCAP100 a counter of several processors would be capped at 100 %.
_DOUBLE_UNCAPPED = 0x00000200 | 0x00008000
_ALL_DETAILS = 400
_TRIES = 5
_WHOLE = 0xFFFFFFFF  # the status as an unsigned number
_BUFFER_TOO_SMALL = 0x800007D2
_NO_DATA = 0x800007D5
_VALID = (0, 1)
# The host lacks an instance, an object, a counter, or the names by which Windows finds them.
_NOT_HERE = frozenset({0x800007D1, 0xC0000BB8, 0xC0000BB9, 0xC0000BBF, 0xC0000BC0, 0xC0000BC4, 0xC0000BC5, _NO_DATA})
# No value now: the first sample of a rate, an instance that has ended, or one that restarted (a negative difference).
_NO_VALUE = frozenset({*_NOT_HERE, 0xC0000BBA, 0xC0000BC6, 0x800007D6, 0x800007D7, 0x800007D8})
_NAMES = {
    0xC0000BDB: "access denied: the account must be one of the group Performance Monitor Users",
    0xC0000BBB: "no memory left",
    0xC0000BC8: "the names of the counters cannot be read: lodctr /R builds them anew",
    0x800007D4: "the provider does not answer",
}


class PdhError(Exception):
    """The error that a function of pdh.dll failed."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(f"{function}: {_NAMES.get(status, 'error')} (0x{status:08X})")


class _Value(Structure):
    """The C structure PDH_FMT_COUNTERVALUE, with the double of its union."""

    _fields_ = (("status", c_uint32), ("double", c_double))


class _Item(Structure):
    """The C structure PDH_FMT_COUNTERVALUE_ITEM_W: an instance's name and value."""

    _fields_ = (("name", c_wchar_p), ("value", _Value))


class Pdh:
    """The functions of pdh.dll. Two threads must not use one query at the same time."""

    def __init__(self, library: ctypes.CDLL) -> None:
        handle, size = POINTER(c_void_p), POINTER(c_uint32)
        self._open = _load_function(library, "PdhOpenQueryW", c_wchar_p, c_size_t, handle)
        self._close = _load_function(library, "PdhCloseQuery", c_void_p)
        self._add = _load_function(library, "PdhAddEnglishCounterW", c_void_p, c_wchar_p, c_size_t, handle)
        self._collect = _load_function(library, "PdhCollectQueryData", c_void_p)
        self._value = _load_function(library, "PdhGetFormattedCounterValue", c_void_p, c_uint32, size, POINTER(_Value))
        self._array = _load_function(library, "PdhGetFormattedCounterArrayW", c_void_p, c_uint32, size, size, c_void_p)
        self._objects = _load_function(
            library, "PdhEnumObjectsW", c_wchar_p, c_wchar_p, c_void_p, size, c_uint32, ctypes.c_int
        )

    @classmethod
    def of_windows(cls) -> "Pdh":
        """Load the pdh.dll of this Windows. Raise OSError if that fails."""
        load = getattr(ctypes, "WinDLL", None)
        if load is None:
            raise OSError("pdh.dll is a part of Windows")
        return cls(load("pdh.dll"))

    def objects(self) -> list[str]:
        """Return the names of all performance objects of this host now, in the host's language."""
        size, buffer, refresh = c_uint32(0), None, 1
        for _ in range(_TRIES):
            status = self._objects(None, None, buffer, byref(size), _ALL_DETAILS, refresh) & _WHOLE
            if status == 0 and buffer is not None:
                return [name for name in ctypes.wstring_at(buffer, size.value).split("\0") if name]
            if status != _BUFFER_TOO_SMALL:
                _check("PdhEnumObjects", status)
            buffer, refresh = ctypes.create_unicode_buffer(size.value + 1), 0
        raise PdhError("PdhEnumObjects", _BUFFER_TOO_SMALL)

    def open(self) -> Query:
        """Return a new, empty query for current values."""
        query = c_void_p()
        _check("PdhOpenQuery", self._open(None, 0, byref(query)))
        return Query(query.value or 0)

    def close(self, query: Query) -> None:
        """Close a query, with its counters."""
        self._close(query)

    def add(self, query: Query, path: str) -> Counter | None:
        r"""Add a counter to a query by its English path `\Object(*)\Counter`; return None if this host lacks it."""
        counter = c_void_p()
        status = self._add(query, path, 0, byref(counter)) & _WHOLE
        if status in _NOT_HERE:
            return None
        _check("PdhAddEnglishCounter", status)
        return Counter(counter.value or 0)

    def collect(self, query: Query) -> bool:
        """Take a sample of all counters of a query. Return False if this host has no data for these counters."""
        status = self._collect(query) & _WHOLE
        if status in _NOT_HERE:
            return False
        _check("PdhCollectQueryData", status)
        return True

    def value(self, counter: Counter) -> float | None:
        """Return the value of a counter whose path is of one instance, or of none; None if there is no value now."""
        value = _Value()
        status = self._value(counter, _DOUBLE_UNCAPPED, None, byref(value)) & _WHOLE
        if status in _NO_VALUE:
            return None
        _check("PdhGetFormattedCounterValue", status)
        return _decode_value(value)

    def values(self, counter: Counter) -> list[tuple[str, float | None]]:
        """Return the name and value (None: no value now) of each instance of a counter; names may repeat."""
        size, count = c_uint32(0), c_uint32(0)
        buffer = None
        for _ in range(_TRIES):  # instances may be added between two calls
            status = self._array(counter, _DOUBLE_UNCAPPED, byref(size), byref(count), buffer) & _WHOLE
            if status in _NO_VALUE:
                return []
            if status != _BUFFER_TOO_SMALL:
                _check("PdhGetFormattedCounterArray", status)
                break
            buffer = create_string_buffer(size.value)
        else:
            raise PdhError("PdhGetFormattedCounterArray", _BUFFER_TOO_SMALL)
        if buffer is None:
            return []
        return [(item.name or "", _decode_value(item.value)) for item in (_Item * count.value).from_buffer(buffer)]


# The time between two searches for missing objects or counters: a service may have started since.
_AGAIN_S = 60.0
_EMPTY = 6  # after this many samples without a value, search for the counters again


class ObjectCounters:
    """The counters of one object, in their own query, so that a failing object does not affect other objects.

    Each call yields the instances that exist at the time, named as in Performance Monitor: `svchost`, `svchost#1`.
    """

    def __init__(self, pdh: Pdh, host: str, paths: Sequence[CounterPath]) -> None:
        self._pdh = pdh
        self._host = host
        whole = {path.counter for path in paths if path.instance == EACH_INSTANCE}
        self._left_out = "" if any(path.instance == TOTAL for path in paths) else TOTAL
        self._paths = [path for path in paths if path.instance == EACH_INSTANCE or path.counter not in whole]
        self._query: Query | None = None
        self._counters: dict[CounterPath, Counter] = {}
        self._looked_at = -_AGAIN_S
        self._empty = 0

    @property
    def here(self) -> frozenset[str]:
        """The names of the object's counters that exist on this host."""
        return frozenset(path.counter for path in [*self._counters])  # another thread may be adding some

    def __call__(self) -> Iterator[Reading]:
        """Yield the current readings. Rates cover the time since the last call; the first call yields no rates."""
        now = time.monotonic()
        if now - self._looked_at >= _AGAIN_S and len(self._counters) < len(self._paths):
            self._looked_at = now
            self._look()
        if self._query is None:
            return
        if not self._pdh.collect(self._query):
            self.close()
            return
        self._empty += 1
        for path, counter in self._counters.items():
            for instance, value in self._list_values(path, counter):
                self._empty = 0
                series = load_shipped().series(path._replace(instance=instance), self._host)
                yield Reading(series.measurement, {series.field: value}, series.tags)
        if self._empty >= _EMPTY:
            self.close()

    def close(self) -> None:
        """Close the query. The next call opens a new one, as a reinstalled service may have new counters."""
        if self._query is not None:
            self._pdh.close(self._query)
        self._query = None
        self._counters.clear()
        self._looked_at = -_AGAIN_S
        self._empty = 0

    def _look(self) -> None:
        """Add to the query the counters that have appeared on this host since the last look."""
        query = self._pdh.open() if self._query is None else self._query
        try:
            for path in self._paths:
                if path not in self._counters and (counter := self._pdh.add(query, str(path))) is not None:
                    self._counters[path] = counter
        finally:
            if self._counters:
                self._query = query
            else:
                self._pdh.close(query)

    def _list_values(self, path: CounterPath, counter: Counter) -> Iterator[tuple[str | None, float]]:
        """Yield the name and value of each instance of a counter; repeated names get numbers (`svchost#1`)."""
        if path.instance != EACH_INSTANCE:
            value = self._pdh.value(counter)
            if value is not None:
                yield path.instance, value
            return
        repeats: Count[str] = Count()
        for name, value in self._pdh.values(counter):
            before = repeats[name.casefold()]
            repeats[name.casefold()] += 1
            if value is not None and name != self._left_out:
                yield f"{name}#{before}" if before else name, value


def _load_function(library: ctypes.CDLL, name: str, *arguments: Any) -> Any:
    pointer = library[name]  # not an attribute, which would be shared with whoever else loads the library
    pointer.argtypes = arguments
    pointer.restype = c_uint32
    return pointer


def _check(function: str, status: int) -> None:
    if status & _WHOLE:
        raise PdhError(function, status & _WHOLE)


def _decode_value(value: _Value) -> float | None:
    return value.double if value.status in _VALID and math.isfinite(value.double) else None
