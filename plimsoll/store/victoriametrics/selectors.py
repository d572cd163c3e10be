"""Selectors of PromQL."""

import re
from collections.abc import Iterable, Sequence

_MOST_ALTERNATIVES = 90  # VictoriaMetrics looks up no more than 100 one by one; with more it tries every name


def of_series(names: Iterable[str], hosts: Sequence[str] = ()) -> list[str]:
    """Selectors of the metrics of these names, of these hosts (whatever their case) or of all."""
    every = sorted(set(names))
    limited = f",{of_hosts(hosts)}" if hosts else ""
    return [
        "{__name__=~" + text("|".join(map(literal, every[first : first + _MOST_ALTERNATIVES]))) + limited + "}"
        for first in range(0, len(every), _MOST_ALTERNATIVES)
    ]


def of_hosts(hosts: Sequence[str], *, exactly: bool = False) -> str:
    """The matcher for hosts; of those that have a host at all if none is given.

    They may have any case, unless `exactly`.
    """
    if not hosts:
        return 'host!=""'
    names = "|".join(map(literal, hosts))
    return "host=~" + text(names if exactly else f"(?i)({names})")


def literal(name: str) -> str:
    """A regular expression that matches exactly this text. Escapes only what Go accepts."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda found: f"\\{found[0]}", name)


def text(value: str) -> str:
    """A string of PromQL."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
