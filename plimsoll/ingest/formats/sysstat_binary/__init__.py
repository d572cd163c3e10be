"""Reads sysstat's binary files (/var/log/sa/sa01), as sadc writes them since 11.7.1 (format 0x2175), on any machine.

The file states the sizes of its structures, so that structures with additional, unknown fields are read. A disk is
`dev8-0`, as its name is not in the file.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.recorders.recording import HostRecording
from plimsoll.ingest.formats.sysstat_binary.records import ADVICE, Activity, SaFile, is_of_sysstat
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import RESTARTED, STARTED, Kind
from plimsoll.model.times import SECOND, format_iso

NAME = "sysstat-binary"
_TIMES = ("user", "nice", "sys", "idle", "iowait", "steal", "irq", "soft")


def sniff(text: Text) -> bool:
    """Return whether the file has sysstat's magic number."""
    return is_of_sysstat(text.data[:4])


def read(text: Text, options: ReadOptions) -> Log:
    """Return the records as one log. Raise Unusable for older formats, and if a header is damaged."""
    recording = HostRecording(text, "sa")
    file = SaFile(text.path, text.data[:], recording.remarks)
    recording.host = file.host or recording.host
    boots = np.array(file.boots)
    # The first record of a boot has no interval.
    intervals = np.where(np.diff(boots, prepend=-1) == 0, np.diff(file.uptimes, prepend=0) / 100, 0)
    shown = intervals > 0  # the first has none, and sadf does not show it either
    samples = np.cumsum(shown) - 1
    for seconds, interval in zip(np.array(file.seconds)[shown].tolist(), intervals[shown].tolist(), strict=True):
        recording.begin(seconds * SECOND, 1, interval)
    for number, seconds in enumerate(file.restarts):
        restarted = STARTED if number < min(file.boots, default=0) else RESTARTED
        recording.remarks.add_once(Kind.NOTED, f"{restarted} ({format_iso(seconds * SECOND)})")
    for activity in file.activities:
        if activity.layout is not None and activity.rows:
            for name, rows, columns in _list_instances(activity, boots):
                usable = shown[rows]
                shown_values = {field: values[usable] for field, values in columns.items()}
                recording.put_columns(activity.layout.table, name, samples[rows[usable]], shown_values)
            if activity.layout.table == "CPU":
                recording.set_processors(max(activity.counts) - 1)
    return recording.log(options, ADVICE, in_utc=True)


def _list_instances(activity: Activity, boots: Times) -> Iterator[tuple[str, Times, dict[str, Values]]]:
    """Yield each instance of an activity, the indices of its records, and its columns.

    A column of a gauge has values, a column of a count the growth since the previous record.
    """
    layout = activity.layout
    if layout is None:
        return
    items, rows, positions = activity.items()
    names = _name_items(items, positions)
    order = np.argsort(names, kind="stable")
    whole: dict[str, Values] = {}
    for at in np.split(order, np.flatnonzero(names[order][1:] != names[order][:-1]) + 1):
        name, item, row = str(names[at[0]]), items[at], rows[at]
        goes_on = np.append(False, (np.diff(row) == 1) & (np.diff(boots[row]) == 0))
        columns = {
            field: item[field].astype(np.float64)
            if layout.gauge or field in layout.gauges
            else np.where(goes_on, _compute_growth(item[field]), np.nan)
            for field in item.dtype.names or ()
            if field != "name"
        }
        if layout.table == "CPU":
            if name == "all" and max(activity.counts) > 1:
                continue  # summed up below, as processors that go offline make its counts fall
            online = np.sum([item[field] for field in _TIMES], axis=0) > 0
            usable = online & np.append(False, online[:-1])
            columns = {field: np.where(usable, np.maximum(values, 0), np.nan) for field, values in columns.items()}
            columns["usr"] = columns["user"] - columns["guest"]
            columns["nice"] = columns["nice"] - columns["gnice"]
            for field, values in columns.items():
                total = whole.setdefault(field, np.full(len(boots), np.nan))
                total[row] = np.where(np.isnan(total[row]), values, total[row] + np.nan_to_num(values))
        yield name, row, {**columns, **_derive_columns(layout.table, item, columns)}
    if whole:
        yield "all", np.arange(len(boots)), whole


def _compute_growth(counts: NDArray[np.uint64]) -> Values:
    """Return the growth of counts. 32-bit counts may wrap around; where other counts fall, the growth is NaN."""
    growth = np.diff(counts, prepend=counts[:1])  # unsigned
    if counts.dtype.itemsize == 4:
        return growth.astype(np.float64)
    return np.where(np.append(True, counts[1:] >= counts[:-1]), growth.astype(np.float64), np.nan)


def _name_items(items: NDArray[np.void], positions: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return the instance of each item: a name, `dev8-0` for a disk, or a processor's number; empty for the host."""
    fields = items.dtype.names or ()
    if "name" in fields:
        return np.char.decode(items["name"], "utf-8", "replace")
    if "major" in fields:
        numbers = zip(items["major"].tolist(), items["minor"].tolist(), strict=True)
        return np.array([f"dev{major}-{minor}" for major, minor in numbers])
    if "iowait" in fields:
        return np.where(positions > 0, (positions - 1).astype(np.str_), "all")
    return np.full(len(items), "", dtype=np.str_)


def _derive_columns(table: str, item: NDArray[np.void], columns: dict[str, Values]) -> dict[str, Values]:
    """Return the columns that sadf computes from several fields, such as `await`; empty for most tables."""
    match table:
        case "DISK":
            ticks = columns["read_ms"] + columns["write_ms"] + columns.get("discard_ms", 0)
            ios = columns["ios"]
            return {"await": np.where(ios > 0, ticks / np.where(ios > 0, ios, 1), 0 * ios)}
        case "MEMORY":
            used = columns["swap_total"] - columns["swap_free"]
            return {"swap_used": used, "swap_percent": _compute_percent(used, columns["swap_total"])}
        case "FS":
            used = columns["blocks"] - columns["bfree"]
            inodes = columns["files"] - columns["ffree"]
            return {
                "used": used,
                "available_percent": _compute_percent(columns["bavail"], used + columns["bavail"]),
                "inodes_percent": _compute_percent(inodes, columns["files"]),
            }
        case "NET_DEV" if "speed" in columns:  # Mbit/s, and not known if 0 or all bits are set
            speed = np.where(item["speed"].astype(np.int32) > 0, columns["speed"] * 125_000, np.nan)
            return {"utilization": 100 * np.maximum(columns["rxbytes"], columns["txbytes"]) / speed}
        case _:
            return {}


def _compute_percent(part: Values, whole: Values) -> Values:
    return 100 * np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
