"""Messages of remote write, as bytes."""

import struct


def varint(value):
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*result, value])


def part(number, content):
    """A field of a message: text, bytes, a whole number, or a number of 8 bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content % (1 << 64))
    if isinstance(content, float):
        return varint(number << 3 | 1) + struct.pack("<d", content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def snappy(content):
    """A block that is not packed at all."""
    pieces = [content[at : at + 60] for at in range(0, len(content), 60)]
    return varint(len(content)) + b"".join(bytes([len(piece) - 1 << 2]) + piece for piece in pieces)


def first(*series):
    """A message of remote write 1: series as labels and samples (value, time in ms)."""
    return b"".join(
        part(
            1,
            b"".join(part(1, part(1, name) + part(2, value)) for name, value in sorted(labels.items()))
            + b"".join(part(2, part(1, float(value)) + part(2, at)) for value, at in samples),
        )
        for labels, samples in series
    )


def second(*series):
    """The same as a message of remote write 2."""
    symbols = ["", *sorted({text for labels, _ in series for pair in labels.items() for text in pair})]
    join = b"".join(part(4, symbol) for symbol in symbols)
    for labels, samples in series:
        refs = b"".join(varint(symbols.index(text)) for pair in sorted(labels.items()) for text in pair)
        written = b"".join(part(2, part(1, float(value)) + part(2, at)) for value, at in samples)
        join += part(5, part(1, refs) + written)
    return join


def labelled(name, instance="app01:9100", **labels):
    return {"__name__": name, "instance": instance, "job": "node", **labels}
