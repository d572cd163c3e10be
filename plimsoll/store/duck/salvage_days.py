"""Lists the files of days in a store that is begun anew.

They stay where they are: each can be checked by its name, and has the names of its series. What is damaged is moved
aside with the database.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plimsoll.store.duck.days import NAME, WORDS, Days, date_of, folder_of, make_folder
from plimsoll.store.duck.filed import DayFile, quoted, rows_of, to_remove
from plimsoll.store.duck.parts import Cursor, Kind

_KINDS = {word: kind for kind, word in WORDS.items()}


@dataclass(slots=True)
class ListedDays:
    """How many samples are in the files that are listed, and what is lost of the others."""

    samples: int = 0
    lost: list[str] = field(default_factory=list[str])


def set_in_order(
    fresh: Cursor, path: Path, aside: Path, rows: Sequence[Sequence[Any]] | None, unlisted: Sequence[str]
) -> ListedDays:
    """List the files of the store at `path` in its new database.

    `rows` are those of the old list, `unlisted` the names of files that were to be removed. If there is no old list,
    the files are those in the folder.
    """
    days, done = Days(path), ListedDays()
    listed = (
        _in_folder(fresh, days, aside, set(unlisted), done) if rows is None else [*_checked(days, aside, rows, done)]
    )
    for one in listed:
        fresh.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)", [*one])
        held = f"SELECT {one.day}, series, min(time), max(time) FROM {rows_of(days, [one])} GROUP BY series"
        fresh.execute(f"INSERT INTO held {held}")
        done.samples += one.samples
        _name(fresh, days, one)
    names = [name for name in unlisted if NAME.fullmatch(name) and name not in {one.name for one in listed}]
    to_remove(fresh, names)
    highest = max((int(found[3]) for one in listed if (found := NAME.fullmatch(one.name))), default=0)
    fresh.execute("SELECT max(nextval('part_number')) FROM range(?)", [highest])  # no file gets one of these again
    return done


def _checked(days: Days, aside: Path, rows: Iterable[Sequence[Any]], done: ListedDays) -> Iterable[DayFile]:
    for name, kind, day, first, last, samples, size in rows:
        if not NAME.fullmatch(str(name)):
            done.lost.append("a file of a day with a name that is none")
        elif days.readable([name]):
            yield DayFile(name, Kind(kind), day, first, last, samples, size)
        else:
            done.lost.append(f"live samples of {date_of(day)}, {samples:,} of them: the file {days.damaged[name]}")
            _set_aside(days, aside, name)


def _in_folder(fresh: Cursor, days: Days, aside: Path, unlisted: set[str], done: ListedDays) -> list[DayFile]:
    """The files that are there. Of two with the same series of a day, the later one replaces the other."""
    found = [
        (int(parts[3]), parts[0], parts[1], parts[2])
        for one in days.folder.glob("*/*.parquet")
        if (parts := NAME.fullmatch(f"{one.parent.name}/{one.name}")) and parts[0] not in unlisted
    ]
    taken: list[DayFile] = []
    for _, name, date, word in sorted(found, reverse=True):
        if not days.readable([name]):
            done.lost.append(f"live samples of {date}: a file {days.damaged[name]}")
            _set_aside(days, aside, name)
            continue
        rows = fresh.execute(f"SELECT min(series), max(series), count(*) FROM {_read(days, name)}").fetchone()
        first, last, samples = (int(one or 0) for one in rows or (0, 0, 0))
        day = int(np.datetime64(date, "D").astype(np.int64))
        if not samples or any(one.day == day and one.first <= last and one.last >= first for one in taken):
            to_remove(fresh, [name])
        else:
            taken.append(DayFile(name, _KINDS[word], day, first, last, samples, days.place(name).stat().st_size))
    return taken


def _name(fresh: Cursor, days: Days, file: DayFile) -> None:
    """Take the names of series that the list of series has lost."""
    lost = fresh.execute(
        f"SELECT DISTINCT series, host, measurement, tags, field FROM {_read(days, file.name)} "
        "ANTI JOIN series ON series = series.id"
    ).fetchall()
    for number, host, measurement, tags, field_ in lost:
        pairs = json.dumps([*json.loads(tags).items()])
        fresh.execute("INSERT INTO series VALUES (?, ?, ?, ?, ?)", [number, host, measurement, pairs, field_])


def _read(days: Days, name: str) -> str:
    return f"read_parquet({quoted(str(days.place(name)))})"


def _set_aside(days: Days, aside: Path, name: str) -> None:
    place = days.place(name)
    if place.exists():
        to = folder_of(aside) / name
        make_folder(to.parent)
        place.replace(to)
