"""Finds rows that Plimsoll cannot have written: bits were flipped, or another program wrote them.

SQLite notices damage to its own structure alone. One such row, read in the middle of an evaluation, would end the
judging or the notifications, so a file that has some is not used until `plimsoll alerts salvage` has left them out.
"""

import sqlite3
from contextlib import suppress

from plimsoll.rules.schema.healthy import Healthy

_TYPES = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'"}
_KEY = (
    "CASE WHEN json_valid(key) THEN json_type(key) = 'array' AND json_array_length(key) = 3"
    " AND json_type(key, '$[0]') = 'text' AND json_type(key, '$[1]') = 'text'"
    " AND json_type(key, '$[2]') IN ('text', 'null') ELSE 0 END"
)
_TEXTS = "'title', 'cause', 'unit', 'limit', 'should', 'reduced', 'recovers', 'summary', 'note'"
_LISTS = "'sources', 'look_at', 'processes'"
_DETAILS = (
    "CASE WHEN json_valid(details) THEN json_type(details, '$.title') = 'text' AND NOT EXISTS ("
    f"SELECT 1 FROM json_each(details) WHERE NOT (type = 'text' AND key IN ({_TEXTS})"
    f" OR type = 'array' AND key IN ({_LISTS}))) ELSE 0 END"
)
# What holds of each row besides the types of its columns.
_SOUND = {
    "alerts": (
        f"severity IN ('critical', 'warning', 'info') AND {_KEY} AND {_DETAILS}"
        " AND kind IN ('rule', 'flapping', 'host-silent', 'all-silent', 'plimsoll')"
    ),
    "statuses": f"state BETWEEN 0 AND 4 AND {_KEY}",
    "told": "what IN ('fired', 'ended')",
    "meta": (
        "CASE name WHEN 'last evaluation' THEN typeof(value) = 'integer'"
        " WHEN 'rules' THEN CASE WHEN json_valid(value) THEN json_type(value) = 'array' ELSE 0 END ELSE 1 END"
    ),
}


def damaged_table(connection: sqlite3.Connection) -> str:
    """A table with a row that cannot be used; empty if there is none."""
    for table in _tables(connection):
        if connection.execute(f"SELECT 1 FROM {table} WHERE {_damaged(connection, table)} LIMIT 1").fetchone():
            return table
    return ""


def remove_damaged(connection: sqlite3.Connection) -> dict[str, int]:
    """Delete the rows that cannot be used; how many there were of each table that had some."""
    found: dict[str, int] = {}
    for table in _tables(connection):
        count = connection.execute(f"DELETE FROM {table} WHERE {_damaged(connection, table)}").rowcount
        if count:
            found[table] = count
    return found


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return [row[0] for row in connection.execute(query).fetchall()]


def _damaged(connection: sqlite3.Connection, table: str) -> str:
    """The condition that a row cannot be used. Its columns are those of `schema.sql`."""
    sound = [_SOUND.get(table, "1")]
    for name, kind, required, key in connection.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,)
    ).fetchall():
        if kind in _TYPES:
            or_null = "" if required or key else f" OR {name} IS NULL"
            sound.append(f"(typeof({name}) IN ({_TYPES[kind]}){or_null})")
    if table == "alerts" and (odd := _odd_limits(connection)):
        sound.append(f"healthy NOT IN ({', '.join(odd)})")
    return f"NOT coalesce({' AND '.join(sound)}, 0)"


def _odd_limits(connection: sqlite3.Connection) -> list[str]:
    """The limits of alerts that cannot be read, as literals of SQL."""
    return [
        row["literal"]
        for row in connection.execute("SELECT DISTINCT healthy, quote(healthy) AS literal FROM alerts").fetchall()
        if row["healthy"] != "" and not _is_limit(row["healthy"])
    ]


def _is_limit(text: object) -> bool:
    with suppress(ValueError):
        return isinstance(text, str) and bool(Healthy.parse(text))
    return False
