"""Reads the fields of messages in the wire format of Protocol Buffers.

https://protobuf.dev/programming-guides/encoding. Only what messages of metrics consist of: no groups.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_DOUBLE = struct.Struct("<d")
_SIGN, _RANGE = 1 << 63, 1 << 64


class NotProtobuf(Exception):
    """The data is no message; the text is the reason."""


class Field(NamedTuple):
    """A field of a message: its number, the kind of its value on the wire, and the value."""

    number: int
    kind: int
    value: int | bytes

    @property
    def bytes(self) -> bytes:
        """The value of a string or message. NotProtobuf if it is something else."""
        if not isinstance(self.value, bytes):
            raise NotProtobuf(f"protobuf: field {self.number} is no text or message")
        return self.value

    @property
    def text(self) -> str:
        """The value of a string. NotProtobuf if it is none."""
        try:
            return self.bytes.decode("utf-8")
        except UnicodeDecodeError:
            raise NotProtobuf(f"protobuf: field {self.number} is no text in UTF-8") from None

    @property
    def integer(self) -> int:
        """The value of an integer. NotProtobuf if it is none."""
        if not isinstance(self.value, int):
            raise NotProtobuf(f"protobuf: field {self.number} is no number")
        return self.value

    @property
    def signed(self) -> int:
        """The value of an int64 or sfixed64. NotProtobuf if it is none."""
        value = self.integer
        return value - _RANGE if value >= _SIGN else value

    @property
    def double(self) -> float:
        """The value of a double. NotProtobuf if it is none."""
        if self.kind != FIXED64:
            raise NotProtobuf(f"protobuf: field {self.number} is no double")
        return _DOUBLE.unpack(self.integer.to_bytes(8, "little"))[0]


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message. NotProtobuf if it is none."""
    at, end = 0, len(data)
    try:
        while at < end:
            key = data[at]
            at += 1
            if key >= 0x80:
                key, at = _varint(data, at - 1)
            number, kind = key >> 3, key & 7
            if number == 0:
                raise NotProtobuf("protobuf: a field has the number 0")
            if kind == BYTES:
                size = data[at]
                at += 1
                if size >= 0x80:
                    size, at = _varint(data, at - 1)
                stop = at + size
                if stop > end:
                    raise IndexError
                yield Field(number, kind, data[at:stop])
                at = stop
            elif kind == VARINT:
                value, at = _varint(data, at)
                yield Field(number, kind, value)
            elif kind in (FIXED64, FIXED32):
                stop = at + (8 if kind == FIXED64 else 4)
                if stop > end:
                    raise IndexError
                yield Field(number, kind, int.from_bytes(data[at:stop], "little"))
                at = stop
            else:
                raise NotProtobuf(f"protobuf: a field has the kind {kind}")
    except IndexError:
        raise NotProtobuf("protobuf: unexpected end") from None


def packed(field: Field) -> list[int]:
    """The numbers of a repeated integer, in one field or one for each. NotProtobuf if they are none."""
    if isinstance(field.value, int):
        return [field.value]
    found: list[int] = []
    at, end = 0, len(field.value)
    try:
        while at < end:
            value, at = _varint(field.value, at)
            found.append(value)
    except IndexError:
        raise NotProtobuf("protobuf: unexpected end") from None
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (_RANGE - 1), at
        shift += 7
        if shift > 63:
            raise NotProtobuf("protobuf: a number is too long")
