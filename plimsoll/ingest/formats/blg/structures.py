"""The structures of a binary log, as structures.yaml describes them."""

import struct
from functools import cache
from typing import Any

import numpy as np

from plimsoll.model.shipped_tables import load_shipped_table


class BlgError(Exception):
    """The error that a binary log is damaged or not supported; its text completes a sentence: `the binary log ...`."""


_CODES = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i4": "i", "i8": "q"}


class Structure:
    """A binary structure from structures.yaml: its `size` in bytes, and its fields in file order."""

    def __init__(self, name: str) -> None:
        structure = _load_structures()[name]
        self.name = name
        self.size: int = structure["bytes"]
        texts = [(field, *text.split()) for field, text in structure["fields"].items()]
        fields = [(field, int(offset, 16), kind) for field, offset, kind in texts]
        self.dtype = np.dtype(
            {
                "names": [field for field, _, _ in fields],
                "formats": [f"<{kind}" for _, _, kind in fields],
                "offsets": [at for _, at, _ in fields],
                "itemsize": self.size,
            }
        )
        code, reached = "<", 0
        for _, at, kind in fields:
            code += f"{at - reached}x{_CODES[kind]}"
            reached = at + int(kind[1])
        self._struct = struct.Struct(code)

    def read(self, data: bytes, at: int, end: int) -> tuple[int, ...]:
        """Return the fields of the structure at offset `at`. Raise BlgError if the structure reaches beyond `end`."""
        if not 0 <= at <= end - self.size:
            raise BlgError(f"is damaged: a {self.name.replace('_', ' ')} is longer than what it is in")
        return self._struct.unpack_from(data, at)


def read_text_at(data: bytes, at: int, end: int) -> str:
    """Return the UTF-16 text at offset `at`, up to a zero character.

    Raise BlgError if no zero character follows, or if the text is not valid UTF-16.
    """
    stop = at
    while 0 <= stop < end - 1 and (stop := data.find(b"\0\0", stop, end)) >= 0 and (stop - at) % 2:
        stop += 1
    if not 0 <= at <= stop <= end - 2:
        raise BlgError("is damaged: a text has no end")
    return decode_utf16(data[at:stop])


def decode_utf16(data: bytes) -> str:
    """Return the text of UTF-16 bytes. Raise BlgError if the bytes are not valid UTF-16."""
    try:
        return data.decode("utf-16-le")
    except UnicodeDecodeError:
        raise BlgError("is damaged: a name is not UTF-16 text") from None


@cache
def _load_structures() -> dict[str, Any]:
    return load_shipped_table("plimsoll.ingest.formats.blg", "structures.yaml", dict[str, Any])
