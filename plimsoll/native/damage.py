"""Recognises data that InfluxDB cannot open, by its log and by the length of its main file."""

import re
import struct
from pathlib import Path

from plimsoll.model.errors import Unusable

ACCOUNTS = "influxd.bolt"  # users, buckets and tokens
_SQLITE = "influxd.sqlite"  # notebooks and annotations, which Plimsoll does not use

_NEWER = re.compile(r"unknown migration")
_IN_USE = "unable to open boltdb: timeout"
_SQLITE_DAMAGED = re.compile(r"(file is not a database|database disk image is malformed)")
_ACCOUNTS_DAMAGED = (
    re.compile(r"unable to open boltdb: ([^\"\n]+)"),
    re.compile(r"Failed to apply KV migrations\".* error=\"(.+)\"$", re.MULTILINE),
    re.compile(r"error=\"([^\"]*could not be unmarshalled[^\"]*)"),
)
_BOLT = "go.etcd.io/bbolt"
_CRASHES = (
    re.compile(r"^(?:panic: |fatal error: |unexpected fault address )(.*)$", re.MULTILINE),
    re.compile(r"http: panic serving \S+ (.+?)\\n"),
)
_LONGEST_REASON = 100

# A bolt file begins with two pages, each with a header of 16 bytes and then: magic number, format, size of a page,
# flags, root (two numbers), free list, number of pages in use, transaction. The later transaction counts.
_HEADER = struct.Struct("<16xIIIIQQQQQ")
_MAGIC = 0xED0CDAED


def is_cut_off(accounts: Path) -> bool:
    """Whether a bolt file is shorter than its header says."""
    with accounts.open("rb") as file:
        start = file.read(1 << 17)
    found: list[tuple[int, int]] = []
    for page_size in (4096, 16384, 65536):  # of the system that wrote it
        for page in (start, start[page_size:]):
            if len(page) >= _HEADER.size:
                magic, _, size, _, _, _, _, pages, transaction = _HEADER.unpack_from(page)
                if magic == _MAGIC and size == page_size:
                    found.append((transaction, pages * size))
    return bool(found) and accounts.stat().st_size < max(found)[1]


def damage(folder: Path, log: str) -> Unusable | None:
    """The error for data that InfluxDB cannot open; None if its log shows no such thing."""
    if _NEWER.search(log):
        return Unusable(
            f"{folder}: a newer InfluxDB wrote the data there; start it with the Plimsoll that wrote it, or "
            f"move {folder} away to start afresh"
        )
    if _IN_USE in log:
        return Unusable(f"{folder / ACCOUNTS}: another InfluxDB has it open; stop that, and start again")
    if found := _SQLITE_DAMAGED.search(log):
        return damaged(folder / _SQLITE, found[1])
    patterns = _ACCOUNTS_DAMAGED + (_CRASHES if _BOLT in log else ())
    if found := next(filter(None, (pattern.search(log) for pattern in patterns)), None):
        return damaged(folder / ACCOUNTS, found[1])
    return None


def damaged(file: Path, reason: str) -> Unusable:
    """The error for a damaged file."""
    return Unusable(
        f"{file}: is damaged ({reason[:_LONGEST_REASON]}); put an undamaged copy of it back, or start afresh without "
        f"the data: move {file.parent} away"
    )
