"""Converts a stored run to and from the document that a store keeps."""

import base64
import json
import zlib
from dataclasses import asdict
from datetime import timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from plimsoll.model.log import Times
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.run import Phase, Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import Zone

VERSION = 1


def dump_run(run: StoredRun) -> bytes:
    """Return a run as a compressed document; equal runs give equal documents."""
    document = {
        "version": VERSION,
        "run": asdict(run.run),
        "settings": run.settings,
        "whole": run.whole,
        "remarks": [asdict(remark) for remark in run.remarks],
        "recordings": [
            {
                "path": recording.path,
                "format": recording.format,
                "sha256": recording.sha256,
                "zone": _encode_zone(recording.zone),
                "times": _pack_numbers(recording.times),
                "series": [[s.host, s.measurement, s.tags, s.field, s.path] for s in recording.series],
                "missing": _pack_numbers(
                    np.concatenate([rows.astype(np.int64) for rows in recording.missing] or [recording.times[:0]])
                ),
                "missing_of": [len(rows) for rows in recording.missing],
                "remarks": [asdict(remark) for remark in recording.remarks],
                "unread": recording.unread,
            }
            for recording in run.recordings
        ],
    }
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode())


def load_run(document: bytes) -> StoredRun:
    """Return the run in a document. Raise ValueError if the document is no run, or of a later version."""
    try:
        data: Any = json.loads(zlib.decompress(document))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if data["version"] != VERSION:
        raise ValueError(f"it is of version {data['version']}, which only a later Plimsoll reads")
    phases = tuple(Phase(**phase) for phase in data["run"].pop("phases"))
    return StoredRun(
        Run(**data["run"], phases=phases),
        tuple(_read_recording(datum) for datum in data["recordings"]),
        tuple(map(_decode_remark, data["remarks"])),
        data["settings"],
        data.get("whole", False),  # missing in runs stored by earlier versions
    )


def _read_recording(data: dict[str, Any]) -> Recording:
    """Return a recording from its JSON object in the document."""
    series = tuple(
        Series(host, measurement, tuple((name, value) for name, value in tags), field, path)
        for host, measurement, tags, field, path in data["series"]
    )
    ends = np.cumsum(data["missing_of"], dtype=np.int64)[:-1]
    missing = np.split(_unpack_numbers(data["missing"]).astype(np.uint32), ends) if series else []
    zone = data["zone"]
    is_named = "key" in zone
    rule = ZoneInfo(zone["key"]) if is_named else timezone(timedelta(seconds=zone["offset_s"]))
    return Recording(
        data["path"],
        data["format"],
        data["sha256"],
        Zone(zone["name"], rule, is_named or zone["known"]),
        _unpack_numbers(data["times"]),
        series,
        tuple(missing),
        tuple(map(_decode_remark, data["remarks"])),
        tuple(data.get("unread", ())),  # missing in runs stored by earlier versions
    )


def _decode_remark(data: dict[str, Any]) -> Remark:
    return Remark(Kind(data.pop("kind")), **data)


def _encode_zone(zone: Zone) -> dict[str, Any]:
    if isinstance(zone.rule, ZoneInfo):
        return {"name": zone.name, "key": zone.rule.key}
    offset = zone.rule.utcoffset(None) or timedelta()
    return {"name": zone.name, "offset_s": offset.total_seconds(), "known": zone.is_specified}


def _pack_numbers(numbers: Times) -> str:
    """Return the differences between successive numbers, compressed, as a text that is short for regular times."""
    return base64.b85encode(zlib.compress(np.diff(numbers, prepend=0).astype("<i8").tobytes())).decode()


def _unpack_numbers(text: str) -> Times:
    steps = np.frombuffer(zlib.decompress(base64.b85decode(text)), "<i8")
    return np.cumsum(steps, dtype=np.int64)
