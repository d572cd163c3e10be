"""pdh.dll, called through ctypes: queries, counters by their English names, and values.

https://learn.microsoft.com/windows/win32/perfctrs/using-the-pdh-functions-to-consume-counter-data
"""

import ctypes
import math
from ctypes import POINTER, Structure, byref, c_double, c_size_t, c_uint32, c_void_p, c_wchar_p, create_string_buffer
from typing import Any, NewType

Query = NewType("Query", int)
Counter = NewType("Counter", int)

# Without NOCAP100 a counter of several processors would end at 100 %.
_DOUBLE_UNCAPPED = 0x00000200 | 0x00008000
_ALL_DETAILS = 400
_TRIES = 5
_WHOLE = 0xFFFFFFFF  # a status without a sign
_MORE_DATA = 0x800007D2
_NO_DATA = 0x800007D5
_VALID = (0, 1)
# What a host does not have: an instance, an object, a counter, or the names by which Windows finds them.
_NOT_HERE = frozenset({0x800007D1, 0xC0000BB8, 0xC0000BB9, 0xC0000BBF, 0xC0000BC0, 0xC0000BC4, 0xC0000BC5, _NO_DATA})
# No value now: the first look at a rate, an instance that has gone or has begun anew (a negative difference).
_NO_VALUE = frozenset({*_NOT_HERE, 0xC0000BBA, 0xC0000BC6, 0x800007D6, 0x800007D7, 0x800007D8})
_NAMES = {
    0xC0000BDB: "access denied: the account must be one of the group Performance Monitor Users",
    0xC0000BBB: "no memory left",
    0xC0000BC8: "the names of the counters cannot be read: lodctr /R builds them anew",
    0x800007D4: "the provider does not answer",
}


class PdhError(Exception):
    """A function of pdh.dll failed."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(f"{function}: {_NAMES.get(status, 'error')} (0x{status:08X})")


class _Value(Structure):
    """PDH_FMT_COUNTERVALUE; of its union, the double."""

    _fields_ = (("status", c_uint32), ("double", c_double))


class _Item(Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W."""

    _fields_ = (("name", c_wchar_p), ("value", _Value))


class Pdh:
    """The functions of a pdh.dll. Those that ask for one query must not run side by side."""

    def __init__(self, library: ctypes.CDLL) -> None:
        handle, size = POINTER(c_void_p), POINTER(c_uint32)
        self._open = _function(library, "PdhOpenQueryW", c_wchar_p, c_size_t, handle)
        self._close = _function(library, "PdhCloseQuery", c_void_p)
        self._add = _function(library, "PdhAddEnglishCounterW", c_void_p, c_wchar_p, c_size_t, handle)
        self._collect = _function(library, "PdhCollectQueryData", c_void_p)
        self._value = _function(library, "PdhGetFormattedCounterValue", c_void_p, c_uint32, size, POINTER(_Value))
        self._array = _function(library, "PdhGetFormattedCounterArrayW", c_void_p, c_uint32, size, size, c_void_p)
        self._objects = _function(
            library, "PdhEnumObjectsW", c_wchar_p, c_wchar_p, c_void_p, size, c_uint32, ctypes.c_int
        )

    @classmethod
    def of_windows(cls) -> "Pdh":
        """That of this Windows. OSError if it cannot be loaded."""
        load = getattr(ctypes, "WinDLL", None)
        if load is None:
            raise OSError("pdh.dll is a part of Windows")
        return cls(load("pdh.dll"))

    def objects(self) -> list[str]:
        """The names of this host's objects in its language, looked for anew: those of services that started since."""
        size, buffer, refresh = c_uint32(0), None, 1
        for _ in range(_TRIES):
            status = self._objects(None, None, buffer, byref(size), _ALL_DETAILS, refresh) & _WHOLE
            if status == 0 and buffer is not None:
                return [name for name in ctypes.wstring_at(buffer, size.value).split("\0") if name]
            if status != _MORE_DATA:
                _check("PdhEnumObjects", status)
            buffer, refresh = ctypes.create_unicode_buffer(size.value + 1), 0
        raise PdhError("PdhEnumObjects", _MORE_DATA)

    def open(self) -> Query:
        """A new query of what is now."""
        query = c_void_p()
        _check("PdhOpenQuery", self._open(None, 0, byref(query)))
        return Query(query.value or 0)

    def close(self, query: Query) -> None:
        """End a query with its counters."""
        self._close(query)

    def add(self, query: Query, path: str) -> Counter | None:
        r"""Add a counter by its English path, which may be `\Object(*)\Counter`. None if this host has no such."""
        counter = c_void_p()
        status = self._add(query, path, 0, byref(counter)) & _WHOLE
        if status in _NOT_HERE:
            return None
        _check("PdhAddEnglishCounter", status)
        return Counter(counter.value or 0)

    def collect(self, query: Query) -> bool:
        """Take a sample of all counters of a query; whether there was any."""
        status = self._collect(query) & _WHOLE
        if status in _NOT_HERE:
            return False
        _check("PdhCollectQueryData", status)
        return True

    def value(self, counter: Counter) -> float | None:
        """The value of a counter without instances, or of one instance."""
        found = _Value()
        status = self._value(counter, _DOUBLE_UNCAPPED, None, byref(found)) & _WHOLE
        if status in _NO_VALUE:
            return None
        _check("PdhGetFormattedCounterValue", status)
        return _of(found)

    def values(self, counter: Counter) -> list[tuple[str, float | None]]:
        """The values of all instances that a counter has now, under names that may be there more than once."""
        size, count = c_uint32(0), c_uint32(0)
        buffer = None
        for _ in range(_TRIES):  # there may be more of them from one call to the next
            status = self._array(counter, _DOUBLE_UNCAPPED, byref(size), byref(count), buffer) & _WHOLE
            if status in _NO_VALUE:
                return []
            if status != _MORE_DATA:
                _check("PdhGetFormattedCounterArray", status)
                break
            buffer = create_string_buffer(size.value)
        else:
            raise PdhError("PdhGetFormattedCounterArray", _MORE_DATA)
        if buffer is None:
            return []
        return [(one.name or "", _of(one.value)) for one in (_Item * count.value).from_buffer(buffer)]


def _function(library: ctypes.CDLL, name: str, *arguments: Any) -> Any:
    found = library[name]  # not an attribute, which would be shared with whoever else loads the library
    found.argtypes = arguments
    found.restype = c_uint32
    return found


def _check(function: str, status: int) -> None:
    if status & _WHOLE:
        raise PdhError(function, status & _WHOLE)


def _of(value: _Value) -> float | None:
    return value.double if value.status in _VALID and math.isfinite(value.double) else None
