"""The coding of calls and results of a store between two processes: a JSON header, then raw arrays.

    PLM1  length of the header (4 bytes)  header (JSON)  arrays, one after the other

Only the types named here can be in a message, so that reading one runs no code of its sender.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import Zone
from plimsoll.store import run_document
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, RunSummary, WriteResult
from plimsoll.store.run_states import Claim, State, Work

MEDIA_TYPE = "application/x-plimsoll"
_MAGIC = b"PLM1"
_LENGTH = 4
_KINDS = {"<i8", "<f8", "<i4", "|u1"}
_ENUMS: Mapping[str, type[StrEnum]] = {"State": State, "Work": Work}
# In a message these are lists of their fields, in this order.
_FIELDS: Mapping[str, tuple[type, tuple[str, ...]]] = {
    "Series": (Series, ("host", "measurement", "tags", "field", "path")),
    "Points": (Points, ("series", "which", "times", "values")),
    "Samples": (Samples, ("times", "values")),
    "Drawn": (Drawn, ("samples", "count")),
    "Buckets": (Buckets, ("times", "minimum", "maximum", "mean")),
    "FoundSeries": (FoundSeries, ("series", "text", "unread")),
    "WriteResult": (WriteResult, ("values", "refused", "why")),
    "RunSummary": (
        RunSummary,
        (
            *("name", "start", "end", "hosts", "labels", "files", "values"),
            *("loaded", "refused", "state", "generation"),
        ),
    ),
    "Claim": (Claim, ("run", "holder", "work", "who", "since", "heard", "alive")),
}
_NAMES = {kind: name for name, (kind, _) in _FIELDS.items()}


def dumps(value: Any) -> bytes:
    """The message of a value. TypeError if it has a type that messages cannot have."""
    arrays: list[NDArray[Any]] = []
    content = _coded(value, arrays)
    kinds = [[array.dtype.str, len(array)] for array in arrays]
    header = json.dumps({"content": content, "arrays": kinds}, separators=(",", ":")).encode()
    return b"".join((_MAGIC, len(header).to_bytes(_LENGTH, "little"), header, *(one.tobytes() for one in arrays)))


def loads(message: bytes) -> Any:
    """The value of a message. ValueError if it is not a valid one."""
    start = len(_MAGIC) + _LENGTH
    if message[: len(_MAGIC)] != _MAGIC:
        raise ValueError("is no message of this version of Plimsoll")
    end = start + int.from_bytes(message[len(_MAGIC) : start], "little")
    try:
        header = json.loads(message[start:end])
        arrays: list[NDArray[Any]] = []
        for kind, length in header["arrays"]:
            if kind not in _KINDS or not isinstance(length, int) or length < 0:
                raise ValueError("has an array of an unknown kind")
            arrays.append(np.frombuffer(message, kind, length, end))
            end += arrays[-1].nbytes
        return _decoded(header["content"], arrays)
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError(f"is damaged: {error}") from None


def _coded(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """A value as JSON: what JSON does not have is a list that begins with the name of its type."""
    match value:
        case StrEnum():
            return [type(value).__name__, value.value]
        case None | bool() | int() | float() | str():
            return value
        case np.ndarray():
            arrays.append(np.ascontiguousarray(value))
            return ["array", len(arrays) - 1]
        case bytes():
            return ["bytes", _coded(np.frombuffer(value, np.uint8), arrays)]
        case Log():
            columns = [column.to_numpy() for column in value.columns]
            return ["Log", *(_coded(one, arrays) for one in (value.times, columns, value.series))]
        case StoredRun():
            return ["StoredRun", _coded(run_document.dumps(value), arrays)]
        case Recording():
            return ["Recording", _coded(run_document.dumps(StoredRun(Run(), (value,))), arrays)]
        case Mapping():
            return ["map", _coded(list(value.items()), arrays)]
        case _ if type(value) in _NAMES:
            name = _NAMES[type(value)]
            return [name, *(_coded(getattr(value, field), arrays) for field in _FIELDS[name][1])]
        case tuple():
            return ["tuple", *(_coded(one, arrays) for one in value)]
        case Sequence():
            return ["list", *(_coded(one, arrays) for one in value)]
        case _:
            raise TypeError(f"{type(value).__name__} cannot be in a message")


def _decoded(content: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    if not isinstance(content, list):
        return content
    name, *parts = content
    if name == "array":
        return arrays[parts[0]]
    parts = [_decoded(one, arrays) for one in parts]
    match name:
        case "list":
            return parts
        case "tuple":
            return tuple(parts)
        case "map":
            return dict(parts[0])
        case "bytes":
            return parts[0].tobytes()
        case "Log":
            times, columns, series = parts
            filled = tuple(pl.Series(column).fill_nan(None) for column in columns)
            return Log(Path(), "", times, filled, tuple(series), Zone.parse("UTC"), sha256="")
        case "StoredRun":
            return run_document.loads(parts[0])
        case "Recording":
            return run_document.loads(parts[0]).recordings[0]
        case _ if name in _ENUMS:
            return _ENUMS[name](parts[0])
        case _ if name in _FIELDS:
            return _FIELDS[name][0](*parts)
        case _:
            raise ValueError("has a value of an unknown type")
