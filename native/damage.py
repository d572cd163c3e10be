"""Recognises in InfluxDB's log that a file of its data is damaged."""

import re
from pathlib import Path

from model.errors import Unusable

ACCOUNTS = "influxd.bolt"  # users, buckets and tokens
_SQLITE = "influxd.sqlite"  # notebooks and annotations, which Plimsoll does not use

_NEWER = re.compile(r"unknown migration \\?\"([^\"\\]+)")
_IN_USE = "unable to open boltdb: timeout"
_OPENING = re.compile(r"unable to open boltdb: ([^\"\n]+)")
_SQLITE_DAMAGED = re.compile(r"file is not a database|database disk image is malformed")
_CRASH = re.compile(r"^(?:panic: |fatal error: |unexpected fault address )(.*)$", re.MULTILINE)


def damage(folder: Path, log: str) -> Unusable | None:
    """The error for data that InfluxDB cannot open; None if its log shows no such thing."""
    accounts = folder / ACCOUNTS
    remedy = f"put an undamaged copy of it back, or start afresh without the data: move {folder} away"
    if _NEWER.search(log):
        return Unusable(
            f"{folder}: a newer InfluxDB wrote the data there; start it with the Plimsoll that wrote it, or "
            f"move {folder} away to start afresh"
        )
    if _IN_USE in log:
        return Unusable(f"{accounts}: another InfluxDB has it open; stop that, and start again")
    if found := _OPENING.search(log):
        return Unusable(f"{accounts}: is damaged ({found[1]}); {remedy}")
    if found := _SQLITE_DAMAGED.search(log):
        return Unusable(f"{folder / _SQLITE}: is damaged ({found[0]}); {remedy}")
    if "go.etcd.io/bbolt" in log and (found := _CRASH.search(log)):
        return Unusable(f"{accounts}: is damaged ({found[1]}); {remedy}")
    return None
