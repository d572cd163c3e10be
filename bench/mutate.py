"""Damages logs as disks, transfers and people do. The same seed gives the same damage."""

import random
from collections.abc import Callable

ODD_CELLS = (
    *(b"", b'"', b" ", b"NaN", b"-1.#IND", b"1e999", b"0x10", b"1,5", b"--1", b"1_000", b"9" * 400),
    *(b"12/31/9999 23:59:59.999", b"01/01/0001 00:00:00.000", b"01/01/1601 00:00:00.000"),
    *(b"'; DROP TABLE", b"\x00", b"\xff\xfe", b"\r"),
)
Damage = Callable[[random.Random, bytes], bytes]


def flip_bytes(chance: random.Random, log: bytes) -> bytes:
    """Change a few bytes."""
    out = bytearray(log)
    for _ in range(chance.choice([1, 3, 20])):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def cut_lines(chance: random.Random, log: bytes) -> bytes:
    """Cut a few lines short."""
    lines = log.split(b"\n")
    for _ in range(chance.choice([1, 5])):
        at = chance.randrange(len(lines))
        lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
    return b"\n".join(lines)


def drop_lines(chance: random.Random, log: bytes) -> bytes:
    """Remove or repeat a line, or swap two."""
    lines = log.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case _:
            lines[at], lines[other] = lines[other], lines[at]
    return b"\n".join(lines)


def shift_columns(chance: random.Random, log: bytes) -> bytes:
    """Remove or repeat a cell in some lines."""
    lines = log.split(b"\n")
    for at in chance.sample(range(len(lines)), min(len(lines), chance.choice([1, 4]))):
        cells = lines[at].split(b",")
        place = chance.randrange(len(cells))
        cells[place : place + 1] = [] if chance.random() < 0.5 else [cells[place]] * 2
        lines[at] = b",".join(cells)
    return b"\n".join(lines)


def mix_encodings(chance: random.Random, log: bytes) -> bytes:
    """Encode a part of the log in another encoding."""
    at = chance.randrange(len(log))
    part = log[at : at + chance.choice([3, 200])].decode("latin-1")
    encoded = part.encode(chance.choice(["utf-16-le", "utf-16", "utf-8-sig", "cp037"]), "replace")
    return log[:at] + encoded + log[at + len(part) :]


def truncate(chance: random.Random, log: bytes) -> bytes:
    """Cut the file off at any byte."""
    return log[: chance.randrange(len(log))]


def change_cells(chance: random.Random, log: bytes) -> bytes:
    """Change the content of some cells."""
    lines = log.split(b"\n")
    for _ in range(chance.choice([1, 10])):
        at = chance.randrange(len(lines))
        cells = lines[at].split(b",")
        cells[chance.randrange(len(cells))] = b'"' + chance.choice(ODD_CELLS) + b'"'
        lines[at] = b",".join(cells)
    return b"\n".join(lines)


def add_noise(chance: random.Random, log: bytes) -> bytes:
    """Insert random bytes."""
    at = chance.randrange(len(log))
    return log[:at] + chance.randbytes(chance.choice([1, 50, 5000])) + log[at:]


DAMAGES: tuple[Damage, ...] = (
    flip_bytes,
    cut_lines,
    drop_lines,
    shift_columns,
    mix_encodings,
    truncate,
    change_cells,
    add_noise,
)


def mutated(seed: int, log: bytes) -> bytes:
    """Return the log with one to three kinds of damage."""
    chance = random.Random(seed)
    for damage in chance.choices(DAMAGES, k=chance.choice([1, 1, 2, 3])):
        if log:
            log = damage(chance, log)
    return log
