"""Unpacks a block of snappy, as Prometheus packs what it sends.

The format is https://github.com/google/snappy/blob/main/format_description.txt.
"""

_LONG_LITERAL = 60


class NotSnappy(Exception):
    """The data is no valid block of snappy; the text is the reason."""


class TooLong(Exception):
    """The content is longer than allowed."""


def unpack(packed: bytes, longest: int) -> bytes:
    """The content of a block. NotSnappy if it is not valid, TooLong if it has more than `longest` bytes."""
    try:
        length, at = _length(packed)
        if length > longest:
            raise TooLong
        return _content(packed, at, length)
    except IndexError:
        raise NotSnappy("snappy: unexpected end") from None


def _length(packed: bytes) -> tuple[int, int]:
    value = shift = at = 0
    while True:
        byte = packed[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 28:
            raise NotSnappy("snappy: the length is not valid")


def _content(packed: bytes, at: int, length: int) -> bytes:
    found = bytearray()
    end = len(packed)
    while at < end:
        tag = packed[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            size = tag >> 2
            if size >= _LONG_LITERAL:
                width = size - _LONG_LITERAL + 1
                if at + width > end:
                    raise IndexError
                size = int.from_bytes(packed[at : at + width], "little")
                at += width
            size += 1
            if at + size > end:
                raise IndexError
            found += packed[at : at + size]
            at += size
        else:
            if kind == 1:
                size, offset = ((tag >> 2) & 7) + 4, (tag >> 5) << 8 | packed[at]
                at += 1
            elif kind == 2:
                size, offset = (tag >> 2) + 1, packed[at] | packed[at + 1] << 8
                at += 2
            else:
                size = (tag >> 2) + 1
                offset = packed[at] | packed[at + 1] << 8 | packed[at + 2] << 16 | packed[at + 3] << 24
                at += 4
            start = len(found) - offset
            if offset == 0 or start < 0:
                raise NotSnappy("snappy: a copy of what is not there")
            if offset >= size:
                found += found[start : start + size]
            else:
                found += (found[start:] * (size // offset + 1))[:size]
        if len(found) > length:
            raise NotSnappy("snappy: the content is longer than it says")
    if len(found) != length:
        raise NotSnappy("snappy: the content is shorter than it says")
    return bytes(found)
