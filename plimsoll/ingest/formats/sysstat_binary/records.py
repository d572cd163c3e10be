"""The headers and records of a sysstat binary file, as arrays of the fields of each activity."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind, Remarks
from plimsoll.model.shipped_tables import load_shipped_table

_MAGIC, _FORMAT = 0xD596, 0x2175
_FILE_MAGIC = 76  # bytes
_STATS, _RESTART, _LAST_STATS, _COMMENT = 1, 2, 3, 4
_COMMENT_BYTES = 64
_NAME_BYTES = 65
_MOST_BYTES, _MOST_ITEMS, _MOST_ACTIVITIES = 8192, 1 << 17, 256  # of a header or a structure; more is damage
ADVICE = "convert it where sysstat is installed, with: sadf -d FILE -- -A > FILE.csv"


@dataclass(frozen=True)
class ActivityLayout:
    """The structure of an activity's items (activities.yaml): fields by C type, then a name of `name` bytes.

    All fields are gauges if `gauge`, else only those in `gauges`; other fields are counts.
    """

    table: str
    magic: int
    long_longs: tuple[str, ...] = ()
    longs: tuple[str, ...] = ()
    ints: tuple[str, ...] = ()
    gauge: bool = False
    gauges: tuple[str, ...] = ()
    name: int = 0


@dataclass
class Activity:
    """An activity of a file, such as disks: the structure of its items, and the items read so far.

    `parts` has the items' bytes in each record, `rows` the records' indices, `counts` the records' numbers of items.
    """

    layout: ActivityLayout | None
    dtype: np.dtype[np.void]
    size: int
    count: int
    has_count: bool
    parts: list[bytes] = field(default_factory=list[bytes])
    rows: list[int] = field(default_factory=list[int])
    counts: list[int] = field(default_factory=list[int])

    def items(self) -> tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.int64]]:
        """Return three arrays: all items, the index of each item's record, and each item's position in its record."""
        counts = np.array(self.counts, dtype=np.int64)
        rows = np.repeat(np.array(self.rows, dtype=np.int64), counts)
        positions = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.frombuffer(b"".join(self.parts), self.dtype), rows, positions


class SaFile:
    """A sysstat binary file that was read: its host, the times of its records (s) and its activities.

    `uptimes` of the records are in hundredths of a second; `boots` counts the restarts before each record.
    """

    def __init__(self, path: Path, data: bytes, remarks: Remarks) -> None:
        self.host = ""
        self.seconds: list[int] = []
        self.uptimes: list[int] = []
        self.boots: list[int] = []
        self.restarts: list[int] = []
        self.activities: list[Activity] = []
        self._path, self._data, self._remarks = path, data, remarks
        self._order = "<" if data[:2] == b"\x96\xd5" else ">"
        self._count, self._end = struct.Struct(f"{self._order}I").unpack_from, len(data)
        try:
            at = self._read_headers()
        except (struct.error, IndexError):
            raise Unusable(f"{path}: ends within its header; copy it again") from None
        self._read_records(at)

    def _read_ints(self, count: int, at: int) -> tuple[int, ...]:
        return struct.unpack_from(f"{self._order}{count}I", self._data, at)

    def _read_headers(self) -> int:
        """Read the header and the list of activities. Return the offset of the first record."""
        written = struct.unpack_from(f"{self._order}H", self._data, 2)[0]
        if written != _FORMAT:
            version = ".".join(map(str, self._data[4:7]))
            raise Unusable(f"{self._path}: a file of sysstat {version}, before 11.7.1, which is not read; {ADVICE}")
        size, _, long_longs, longs, ints = self._read_ints(5, 8)
        at = _FILE_MAGIC + 8 * (long_longs + longs)
        # Processors, activities, year, types of an activity and of a record, their sizes; newer versions: more follows.
        _, activities, _, _, _, _, *types, activity_size, record_size = self._read_ints(11, at)
        has_more = self._read_ints(1, at + 44)[0] if ints > 11 else 0
        names = at + 4 * ints + 3
        self._long = self._data[names - 1]
        plausible = (long_longs, longs) == (1, 1) and 11 <= ints < 64 and self._long in (4, 8)
        sizes = (size <= _MOST_BYTES, 36 <= activity_size <= 1024, 8 * sum(types[:2]) + 4 <= record_size <= 1024)
        if not plausible or not all(sizes) or not 0 < activities <= _MOST_ACTIVITIES or types[:2] != [2, 0]:
            raise self._explain_damage(0)
        self._record, self._record_ints = record_size, types[2]
        self.host = (
            self._data[names + _NAME_BYTES : names + 2 * _NAME_BYTES].partition(b"\0")[0].decode(errors="replace")
        )
        at = _FILE_MAGIC + size
        for _ in range(activities):
            self.activities.append(self._read_activity(at))
            at += activity_size
        return self._skip_extra(at) if has_more else at

    def _read_activity(self, at: int) -> Activity:
        number, magic, count, subitems, has_count, size, *types = self._read_ints(9, at)
        fits = 8 * sum(types[:2]) + 4 * types[2] <= size <= _MOST_BYTES and max(types) < 1024
        if not fits or not size or not count or not subitems or count * subitems > _MOST_ITEMS:
            raise self._explain_damage(at)
        layout = _load_layouts().get(number)
        if layout is not None and magic != layout.magic:
            text = f"{layout.table} is not read: it is of a version that is not known; {ADVICE}"
            self._remarks.add(Kind.SKIPPED, text)
            layout = None
        return Activity(layout, self._make_dtype(layout, types, size), size * subitems, count, bool(has_count))

    def _make_dtype(self, layout: ActivityLayout | None, types: list[int], size: int) -> np.dtype[np.void]:
        """Return the structure of an item. A C long takes 8 bytes in the file, even on machines where it has only 4."""
        fields: dict[str, tuple[str, int]] = {}
        if layout is not None:
            starts = (0, 8 * types[0], 8 * sum(types[:2]))
            kinds = (("u8", 8, layout.long_longs), (f"u{self._long}", 8, layout.longs), ("u4", 4, layout.ints))
            for (kind, step, names), count, start in zip(kinds, types, starts, strict=True):
                fields |= {name: (self._order + kind, start + step * at) for at, name in enumerate(names[:count])}
            if layout.name:
                fields["name"] = (f"S{layout.name}", 8 * sum(types[:2]) + 4 * types[2])
        formats, offsets = [kind for kind, _ in fields.values()], [offset for _, offset in fields.values()]
        return np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": size})

    def _read_records(self, at: int) -> None:
        end = at
        try:
            while at < len(self._data):
                at = self._read_record(at)
                end = at
        except (struct.error, IndexError):
            rows = len(self.seconds)
            self._remarks.add(Kind.SKIPPED, f"the file is cut short within its last record (byte {end:,}): left out")
            for activity in self.activities:
                if activity.rows and activity.rows[-1] >= rows:
                    del activity.rows[-1], activity.parts[-1], activity.counts[-1]

    def _read_record(self, at: int) -> int:
        """Read a record, and return the offset of the next record.

        Raise struct.error or IndexError if the record is cut short.
        """
        uptime, seconds = struct.unpack_from(f"{self._order}2Q", self._data, at)
        has_more = self._read_ints(1, at + 16)[0] if self._record_ints else 0
        kind = self._data[at + 16 + 4 * self._record_ints]
        begun, at = at, at + self._record
        if kind == _RESTART:
            self._read_ints(1, at)
            self.restarts.append(seconds)
            at += 4
        elif kind == _COMMENT:
            at += _COMMENT_BYTES
        elif kind in (_STATS, _LAST_STATS):
            at = self._skip_extra(at) if has_more else at
            for activity in self.activities:
                at = self._read_items(activity, at)
            self.seconds.append(seconds)
            self.uptimes.append(uptime)
            self.boots.append(len(self.restarts))
            return at
        elif not 5 <= kind <= 15:  # those hold only what later versions add
            raise self._explain_damage(begun)
        return self._skip_extra(at) if has_more else at

    def _read_items(self, activity: Activity, at: int) -> int:
        count = activity.count
        if activity.has_count:
            count, at = self._count(self._data, at)[0], at + 4
            if count > _MOST_ITEMS:
                raise self._explain_damage(at)
        size = count * activity.size
        if at + size > self._end:
            raise IndexError
        if activity.layout is not None and count:
            activity.parts.append(self._data[at : at + size])
            activity.rows.append(len(self.seconds))
            activity.counts.append(count)
        return at + size

    def _skip_extra(self, at: int) -> int:
        """Return the offset after the structures that later versions of sysstat add."""
        has_more = 1
        while has_more:
            count, size, has_more, *_ = self._read_ints(6, at)
            at += 24 + count * size
            if count > _MOST_BYTES or size > _MOST_BYTES:
                raise self._explain_damage(at)
        return at

    def _explain_damage(self, at: int) -> Unusable:
        return Unusable(f"{self._path}: sysstat's file is damaged at byte {at:,}; copy it again, or {ADVICE}")


def _load_layouts() -> Mapping[int, ActivityLayout]:
    return load_shipped_table("plimsoll.ingest.formats.sysstat_binary", "activities.yaml", dict[int, ActivityLayout])


def is_of_sysstat(head: bytes) -> bool:
    """Return whether the first bytes are sysstat's magic number, in either byte order."""
    return head[:2] in (_MAGIC.to_bytes(2, "little"), _MAGIC.to_bytes(2, "big"))
