"""The names that alerts may have, so that a silence with a misspelt one is refused."""

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.host_inventory import ALL_SILENT, HOST_SILENT
from plimsoll.alerting.patterns import is_like
from plimsoll.alerting.self_monitoring import NOT_JUDGED, NOT_NOTIFIED, NOT_WRITTEN
from plimsoll.model.errors import Unusable
from plimsoll.rules.load import load

_KEPT = "rules"


def keep(file: AlertsFile, rules: Iterable[str]) -> None:
    """Keep the ids of the rules that are judged, for commands: they do not know which packs `plimsoll up` was given."""
    with file.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEPT, json.dumps(sorted(rules))))


def known(file: AlertsFile) -> Sequence[str]:
    """The ids of the rules that are judged, the names of the other alerts, and those that alerts in the file have."""
    kept = file.rows("SELECT value FROM meta WHERE name = ?", (_KEPT,))
    rules = json.loads(kept[0]["value"]) if kept else load().rules
    seen = [row["rule"] for row in file.rows("SELECT DISTINCT rule FROM alerts")]
    targets = [f"{NOT_NOTIFIED}{row['name']}" for row in file.rows("SELECT name FROM targets")]
    return [*dict.fromkeys((*rules, HOST_SILENT, ALL_SILENT, NOT_WRITTEN, NOT_JUDGED, *targets, *seen))]


def check(file: AlertsFile, pattern: str) -> None:
    """Raise Unusable, with the nearest names, if no alert may have a name that matches a pattern."""
    names = known(file)
    if any(is_like(name, pattern) for name in names):
        return
    near = _nearest(pattern.casefold().replace("*", ""), names)
    meant = f"; did you mean {' or '.join(near)}?" if near else "; plimsoll rules list names them all"
    raise Unusable(f'no rule matches "{pattern}"{meant}')


def check_host(file: AlertsFile, pattern: str) -> None:
    """Raise Unusable, with the nearest names, if no host matches a pattern; where none is known yet, any may come."""
    names = [row["name"] for row in file.rows("SELECT name FROM roster UNION SELECT host FROM alerts")]
    if not names or pattern == "*" or any(is_like(name, pattern) for name in names):
        return
    near = get_close_matches(pattern.casefold().replace("*", ""), [name.casefold() for name in names])
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    later = "one that is to come can be named in roster.hosts of up.toml"
    raise Unusable(f'no host matches "{pattern}"{meant} ({later})')


def _nearest(begin: str, names: Sequence[str]) -> list[str]:
    """The names that begin most like a text."""
    by_begin = {name[: len(begin)]: name for name in reversed(names)}
    return [by_begin[one] for one in get_close_matches(begin, [*by_begin])]
