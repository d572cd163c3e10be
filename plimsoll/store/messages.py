"""Encodes calls to a store of live samples in another process, and their results: a JSON header, then raw arrays.

    PLM1  length of the header (4 bytes)  header (JSON)  arrays, one after the other

Only the types named here can be in a message, so that reading one runs no code of its sender.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, WriteResult

MEDIA_TYPE = "application/x-plimsoll"
_MAGIC = b"PLM1"
_LENGTH = 4
_KINDS = {"<i8", "<f8", "<i4"}
# In a message these are lists of their fields, in this order.
_FIELDS: Mapping[str, tuple[type, tuple[str, ...]]] = {
    "Series": (Series, ("host", "measurement", "tags", "field", "path")),
    "Points": (Points, ("series", "which", "times", "values")),
    "Samples": (Samples, ("times", "values")),
    "Drawn": (Drawn, ("samples", "count")),
    "Buckets": (Buckets, ("times", "minimum", "maximum", "mean")),
    "FoundSeries": (FoundSeries, ("series", "text", "unread")),
    "WriteResult": (WriteResult, ("values", "refused", "why")),
}
_NAMES = {kind: name for name, (kind, _) in _FIELDS.items()}


def dumps(value: Any) -> bytes:
    """Encode a value as a message. TypeError if it has a type that messages cannot have."""
    arrays: list[NDArray[Any]] = []
    content = _coded(value, arrays)
    kinds = [[array.dtype.str, len(array)] for array in arrays]
    header = json.dumps({"content": content, "arrays": kinds}, separators=(",", ":")).encode()
    return b"".join((_MAGIC, len(header).to_bytes(_LENGTH, "little"), header, *(array.tobytes() for array in arrays)))


def loads(message: bytes) -> Any:
    """Decode the value of a message. ValueError if it is not a valid one."""
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
        case None | bool() | int() | float() | str():
            return value
        case np.ndarray():
            arrays.append(np.ascontiguousarray(value))
            return ["array", len(arrays) - 1]
        case Mapping():
            return ["map", _coded(list(value.items()), arrays)]
        case _ if type(value) in _NAMES:
            name = _NAMES[type(value)]
            return [name, *(_coded(getattr(value, field), arrays) for field in _FIELDS[name][1])]
        case tuple():
            return ["tuple", *(_coded(item, arrays) for item in value)]
        case Sequence():
            return ["list", *(_coded(item, arrays) for item in value)]
        case _:
            raise TypeError(f"{type(value).__name__} cannot be in a message")


def _decoded(content: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    if not isinstance(content, list):
        return content
    name, *parts = content
    if name == "array":
        return arrays[parts[0]]
    parts = [_decoded(part, arrays) for part in parts]
    match name:
        case "list":
            return parts
        case "tuple":
            return tuple(parts)
        case "map":
            return dict(parts[0])
        case _ if name in _FIELDS:
            return _FIELDS[name][0](*parts)
        case _:
            raise ValueError("has a value of an unknown type")
