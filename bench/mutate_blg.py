"""Damages binary logs as disks, transfers and attackers do. The same seed gives the same damage."""

import random
import struct
from pathlib import Path

import numpy as np

from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable

_ODD = (0, 1, 2, 7, 8, 0x7F, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF8)


def mutated(seed: int, log: bytes, buffer: int = 65536) -> bytes:
    """Return the log with one to three kinds of damage."""
    chance = random.Random(seed)
    out = bytearray(log)
    for _ in range(chance.choice([1, 1, 2, 3])):
        if not out:
            break
        at = chance.randrange(len(out))
        match chance.randrange(8):
            case 0:
                for _ in range(chance.choice([1, 3, 20])):
                    out[chance.randrange(len(out))] = chance.randrange(256)
            case 1:
                del out[at:]
            case 2:
                _pack(out, at & ~3, chance.choice(_ODD))
            case 3:  # a length, a count or a place: those are small numbers
                places = range(at & ~3, min(len(out) - 4, at + 400), 4)
                small = [place for place in places if out[place] and not any(out[place + 2 : place + 4])]
                if small:
                    _pack(out, chance.choice(small), chance.choice((*_ODD, chance.randrange(1 << 12))))
            case 4:
                start = at // buffer * buffer
                piece = out[start : start + buffer]
                del out[start : start + buffer]
                if chance.random() < 0.7:
                    other = chance.randrange(len(out) // buffer + 1) * buffer
                    out[other:other] = piece * chance.choice([1, 1, 2])
            case 5:
                size = min(chance.choice([8, 512, 4096, buffer]), len(out) - at)
                out[at : at + size] = bytes(size)
            case 6:
                out[at:at] = chance.randbytes(chance.choice([1, 8, 5000]))
            case _:
                at = at // buffer * buffer + 72 + chance.randrange(200)
                _pack(out, at, chance.choice(_ODD))
    return bytes(out)


def _pack(out: bytearray, at: int, value: int) -> None:
    if 0 <= at <= len(out) - 4:
        struct.pack_into("<I", out, at, value)


def outcome(path: Path) -> str:
    """Return the outcome of reading a file. Raise AssertionError unless it is a sound log or a one-line refusal."""
    try:
        log = read_log(path)
    except Unusable as error:
        text = str(error)
        assert text.isprintable(), text
        assert 20 < len(text) < 600, text
        return "refused"
    assert (np.diff(log.times) > 0).all() or log.format != "BLG"
    for column in log.columns:
        assert not np.isinf(column).any()
    for remark in log.remarks:
        assert str(remark).isprintable(), remark
    return "a log with remarks" if log.remarks else "a log"
