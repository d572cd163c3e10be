"""Reads the JSON of iostat, mpstat and sadf (`-o JSON`, `sadf -j`), and sadf's XML (`sadf -x`).

The first report of iostat, and a single report of mpstat, cover the time since boot, and are left out. A file that was
not closed, because its recorder was killed, is read to its last complete report.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

from plimsoll.ingest.formats.recorders.recording import HostRecording
from plimsoll.ingest.formats.sadf.dates import make_time, parse_day
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import RESTARTED, STARTED, Kind
from plimsoll.model.times import convert_to_instant

NAME = "sysstat-JSON"
_BEGINS = re.compile(rb'\s*(?:\{\s*"sysstat"\s*:|(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE sysstat[^>\[]*>\s*)?<sysstat\b)')
_ENDS = (("\n\t\t\t\t}", "]}]}}"), ("</timestamp>", "</statistics></host></sysstat>"))  # of a report, and of the file
_TIME = re.compile(r"(?:(\S+)[T ])?([01]\d|2[0-3])[:-]([0-5]\d)[:-]([0-5]\d)(?: ([AP]M))?(?:[+-]\d{4})?")
_INSTANCES = ("cpu", "number", "iface", "disk-device", "disk_device", "dev", "filesystem", "fsname", "mountp")
_AGAIN = "write it again with: sadf -d FILE -- -A, or record with: iostat -txk -o JSON 15"
_NOT_CLOSED = "the file is not closed, as when its recorder was killed: read to its last whole report"


def sniff(text: Text) -> bool:
    """Return whether the file begins as sysstat's JSON or XML."""
    return _BEGINS.match(text.data[:4096]) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return all reports as one log. Raise Unusable if the file is damaged, or holds only averages since boot."""
    recording = HostRecording(text, "sysstat")
    data = text.data[:].decode("utf-8", errors="replace")
    host = _parse_document(text, data, recording)
    recording.host = str(host.get("nodename") or recording.host)
    recording.set_processors(int(host.get("number-of-cpus") or 0))
    reports: Sequence[Mapping[str, Any]] = host.get("statistics") or ()
    is_of_sadf = any(isinstance(report.get("timestamp"), dict) for report in reports)
    if not is_of_sadf and reports and ("avg-cpu" in reports[0] or "disk" in reports[0] or len(reports) == 1):
        recording.remarks.add(Kind.NOTED, "the first report is an average since the host started: left out")
        reports = reports[1:]
    in_utc = _put_reports(recording, reports, str(host.get("date") or ""))
    for boot in host.get("restarts") or ():
        begun, first = (
            _find_clock(stamp) for stamp in (boot.get("boot") or boot, (reports or [{}])[0].get("timestamp"))
        )
        recording.remarks.add(Kind.NOTED, f"{STARTED if begun < first else RESTARTED} ({begun})")
    return recording.log(options, _AGAIN, in_utc=in_utc)


def _parse_document(text: Text, data: str, recording: HostRecording) -> Mapping[str, Any]:
    """Return the file's object of the host, which contains the reports.

    Raise Unusable if the file is damaged before its last report.
    """
    report, closing = _ENDS[data.lstrip().startswith("<")]
    cut = data.rfind(report) + len(report)
    for whole in (data, data[:cut] + closing):
        try:
            host = _find_host(whole)
        except (ValueError, ParseError, RecursionError, LookupError, TypeError, AttributeError):
            continue
        if whole is not data:
            recording.remarks.add(Kind.SKIPPED, _NOT_CLOSED)
        return host
    raise Unusable(f"{text.path}: is no whole JSON or XML of sysstat; {_AGAIN}")


def _find_host(data: str) -> Mapping[str, Any]:
    if not data.lstrip().startswith("<"):
        return dict(json.loads(data)["sysstat"]["hosts"][0])
    if "<!ENTITY" in data:  # sysstat declares none, and they may grow without end
        raise ValueError
    root = fromstring(re.sub(r'\sxmlns="[^"]*"', "", data, count=1))
    host = root.find("host")
    if host is None:
        raise LookupError
    reports = [
        {"timestamp": dict(report.attrib), **dict(_list_xml_tables(report))}
        for report in host.iterfind("statistics/timestamp")
    ]
    texts = {child.tag: child.text for child in host if child.text}
    restarts = [dict(boot.attrib) for boot in host.iterfind("restarts/boot")]
    return {**texts, **host.attrib, "statistics": reports, "restarts": restarts}


def _list_xml_tables(element: Element) -> Iterator[tuple[str, Any]]:
    """Yield the name and the rows of each table in an XML report, in the form of sysstat's JSON."""
    for table in element:
        rows: dict[str, list[dict[str, str]]] = {}
        leaves = {child.tag: child.text for child in table if child.text and not len(child) and child.text.strip()}
        rows[table.tag] = [{**table.attrib, **{name: text or "" for name, text in leaves.items()}}]
        for child in table.iter():
            if child is not table and child.attrib:
                rows.setdefault(child.tag, []).append(dict(child.attrib))
        yield table.tag, rows


def _put_reports(recording: HostRecording, reports: Sequence[Mapping[str, Any]], date: str) -> bool:
    """Add all reports, and return whether all their times are in UTC; `date` applies to reports that state no date."""
    before: datetime | None = None
    in_utc: set[bool] = set()
    for number, report in enumerate(reports, 1):
        stamp = report.get("timestamp")
        match = _TIME.fullmatch(_find_clock(stamp))
        written = match and (match[1] or date)
        if match is None or not written:
            raise Unusable(f"{recording.text.path}: report {number} has no time; {_AGAIN}")
        day = parse_day(recording.text, written, 1, recording.remarks, before.date() if before else None)
        moment = datetime.combine(day, make_time(*match.group(2, 3, 4, 5)))
        while not match[1] and before is not None and moment < before - timedelta(hours=12):
            moment += timedelta(days=1)  # mpstat gives the date of the first report only
        before = moment
        in_utc.add(isinstance(stamp, Mapping) and (stamp.get("tz") == "UTC" or stamp.get("utc") in (1, "1")))
        seconds = stamp.get("interval") if isinstance(stamp, Mapping) else None
        recording.begin(
            convert_to_instant(moment.replace(tzinfo=UTC)), number, float(seconds) if seconds else float("nan")
        )
        for table, instance, row in chain.from_iterable(_list_rows(name, value) for name, value in report.items()):
            recording.put(table, instance, row)
    return in_utc == {True}


def _find_clock(stamp: Any) -> str:
    return f"{stamp.get('date')} {stamp.get('time')}" if isinstance(stamp, Mapping) else str(stamp)


def _list_rows(name: str, value: Any) -> Iterator[tuple[str, str, list[tuple[str, Any]]]]:
    """Yield the table, the instance and the cells of each row in a value of a report, at any depth."""
    if isinstance(value, Mapping):
        cells = [(key, cell) for key, cell in value.items() if isinstance(cell, str | float | int)]
        cells = [(f"{key[1:]}-percent" if key[:1] == "%" else key, cell) for key, cell in cells]
        if cells and name != "timestamp":
            instance = next((str(value[key]) for key in _INSTANCES if key in value), "")
            yield name, instance, cells
        for key, inner in value.items():
            yield from _list_rows(key, inner) if not isinstance(inner, str | float | int) else ()
    elif isinstance(value, list):
        for row in value:
            yield from _list_rows(name, row)
