"""Lists the day files in a new hot file, or in a hot file that lost its write-ahead log.

Day files suffice for this: the name of each has its checksum, and its rows name the series.
"""

import json
from pathlib import Path

import numpy as np

from plimsoll.store.duck.day_files import NAME, WORDS, DayFile, DayFolder, add_file, query_rows, quote_sql, unlist_files
from plimsoll.store.duck.hot_tables import Cursor

_KINDS = {word: kind for kind, word in WORDS.items()}


def rebuild_index(cursor: Cursor, days: DayFolder) -> None:
    """List the day files in the folder, with their series; damaged files are listed without series."""
    cursor.execute("BEGIN TRANSACTION")
    cursor.execute("DELETE FROM file; DELETE FROM gone")
    paths = [path for path in days.folder.glob("*/*.parquet") if NAME.fullmatch(_name(path))]
    numbers = [0]
    listed: list[DayFile] = []
    # Of two files with the same series of a day, the later one replaced the other.
    for path in sorted(paths, key=_number, reverse=True):
        numbers.append(_number(path))
        file = _describe(cursor, days, path)
        if file.last >= 0 and any(
            other.day == file.day and other.first <= file.last and other.last >= file.first for other in listed
        ):
            unlist_files(cursor, [file.name])
            continue
        listed.append(file)
        add_file(cursor, file)
        if file.samples:
            _add_series(cursor, days, file)
    # Leave one row for each day and series.
    cursor.execute("CREATE TEMP TABLE merged AS SELECT day, series, min(first), max(last) FROM held GROUP BY ALL")
    cursor.execute("DELETE FROM held")
    cursor.execute("INSERT INTO held SELECT * FROM temp.merged ORDER BY day, series")
    cursor.execute("DROP TABLE temp.merged")
    cursor.execute(
        "SELECT max(nextval('part_number')) FROM range(?)", [max(numbers)]
    )  # these numbers are not used again
    cursor.execute("COMMIT")


def _describe(cursor: Cursor, days: DayFolder, path: Path) -> DayFile:
    name = _name(path)
    match = NAME.fullmatch(name)
    assert match
    day = int(np.datetime64(match[1], "D").astype(np.int64))
    first, last, samples = -1, -1, 0
    if days.readable([name]):
        place = quote_sql(str(path))
        row = cursor.execute(f"SELECT min(series), max(series), count(*) FROM read_parquet({place})").fetchone()
        first, last, samples = (int(value or 0) for value in row or (0, 0, 0))
    return DayFile(name, _KINDS[match[2]], day, first, last, samples, path.stat().st_size)


def _add_series(cursor: Cursor, days: DayFolder, file: DayFile) -> None:
    """Save which series have samples on the day of a file, and add unknown series."""
    rows, place = query_rows(days, [file]), quote_sql(str(days.place(file.name)))
    cursor.execute(f"INSERT INTO held SELECT {file.day}, series, min(time), max(time) FROM {rows} GROUP BY series")
    unknown = cursor.execute(
        f"SELECT DISTINCT series, host, measurement, tags, field FROM read_parquet({place}) "
        "ANTI JOIN series ON series = series.id"
    ).fetchall()
    for number, host, measurement, tags, field in unknown:
        pairs = json.dumps([*json.loads(tags).items()])
        cursor.execute("INSERT INTO series VALUES (?, ?, ?, ?, ?)", [number, host, measurement, pairs, field])


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _number(path: Path) -> int:
    return int(path.name.split("-")[1])
