"""Checks of single fields that alert rules and contact points share: uids, durations, names and `$`."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from plimsoll.model.errors import suggest
from plimsoll.model.strict_yaml import Place

Found: TypeAlias = Iterator[tuple[Place, str]]

_UID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_DURATION = re.compile(r"(\d+(ms|[smhdwy]))+")
_UNIT_S = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_BARE_DOLLAR = re.compile(r"(?<!\$)(?:\$\$)*\$(?!\$)")


def uid_mistake(uid: str) -> str | None:
    """Return why Grafana would refuse a uid, or None."""
    if _UID.fullmatch(uid):
        return None
    if len(uid) > 40:
        return f'uid "{uid}" is {len(uid)} characters long, more than 40: Grafana does not start; shorten it'
    return f'uid "{uid}" may have letters, digits, - and _ only: Grafana does not start; write it otherwise'


def duration_s(text: str) -> float | None:
    """Parse a duration of Grafana's; return seconds, or None if it is invalid."""
    if text in ("0", ""):
        return 0.0 if text else None
    if not _DURATION.fullmatch(text):
        return None
    return sum(int(number) * _UNIT_S[unit] for number, unit in re.findall(r"(\d+)(ms|[smhdwy])", text))


def bad_duration(name: str, value: str) -> str:
    """Return the message for an invalid duration."""
    return f'{name} "{value}" is not a duration: Grafana does not start; write it like 30s, 5m or 1h30m'


def dollar(place: Place, text: str) -> Found:
    """Check that `$` is escaped in a field in which Grafana expands environment variables."""
    if _BARE_DOLLAR.search(text):
        yield place, f'"{text}": Grafana takes $ for an environment variable here; write $$'


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message for a reference to a name that does not exist."""
    return f'there is no {what} "{name}"{suggest(name, known)}: Grafana does not start; name one that exists'


def twice(values: Sequence[str]) -> list[str]:
    """Return the values that occur more than once."""
    return [value for value, count in Counter(values).items() if count > 1]
