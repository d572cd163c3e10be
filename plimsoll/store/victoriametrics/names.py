r"""Samples as the line protocol that VictoriaMetrics reads, and the names that it makes of them.

Unlike InfluxDB, it takes `\\` for one backslash. A metric is named by the measurement and the field, joined by `_`;
tags are labels. The name does not show where the measurement ends: it is the longest known measurement that fits, else
the part before the first `_`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from plimsoll.model.names import measurements
from plimsoll.model.series import LOAD_DRIVER, Series
from plimsoll.store.line_protocol import as_stored

_MOST_ALTERNATIVES = 90  # VictoriaMetrics looks up no more than 100 one by one; with more it tries every name


NAME = "__name__"
HOST = "host"
_MOST_KNOWN = 1_000_000


def metric_name(series: Series) -> str:
    """Return the name of a series' metric."""
    return f"{series.measurement}_{series.field}" if series.field else series.measurement


def labels(series: Series) -> dict[str, str]:
    """Return the labels of a series, with the name of its metric; values that are empty are none."""
    item = as_stored(series)
    entries = {NAME: metric_name(item), HOST: item.host, **dict(item.tags)}
    return {name: value for name, value in entries.items() if value}


class Measurements:
    """The known measurements. `more` gives further ones when they are first needed."""

    def __init__(self, result: Callable[[], Collection[str]] = lambda: ()) -> None:
        self._more = result
        self._measurements: frozenset[str] | None = None
        self._split: dict[str, tuple[str, str]] = {}

    def series(self, metric: Mapping[str, str]) -> Series:
        """Return the series of the labels of a metric."""
        measurement, field = self.split(metric.get(NAME, ""))
        tags = sorted((name, value) for name, value in metric.items() if name not in (NAME, HOST))
        return Series(metric.get(HOST, ""), measurement, tuple(tags), field)

    def split(self, name: str) -> tuple[str, str]:
        """Return the measurement and the field of a metric: `win_cpu` and `Percent_User_Time`."""
        result = self._split.get(name)
        if result is None:
            result = self._split[name] = self._find(name)
        return result

    def _find(self, name: str) -> tuple[str, str]:
        if self._measurements is None:
            self._measurements = frozenset([*measurements(), *LOAD_DRIVER, *self._more()])
        for at in range(len(name) - 2, 0, -1):
            if name[at] == "_" and name[:at] in self._measurements:
                return name[:at], name[at + 1 :]
        measurement, _, field = name.partition("_")
        return (measurement, field) if measurement and field else (name, "")


def line(measurement: str, tags: Mapping[str, str], field: str, value: float) -> bytes:
    """Return one sample, to which the server gives its time."""
    written = "".join(f",{_escaped(name)}={_escaped(text)}" for name, text in tags.items())
    return f"{_escaped(measurement)}{written} {_escaped(field)}={value!r}\n".encode()


@lru_cache(maxsize=_MOST_KNOWN)
def line_head(series: Series) -> str:
    """Return what a line of a series begins with, up to the equals sign."""
    item = as_stored(series)
    tags = sorted((name, text) for name, text in (("host", item.host), *item.tags) if text)
    written = "".join(f",{_escaped(name)}={_escaped(text)}" for name, text in tags)
    return f"{_escaped(item.measurement)}{written} {_escaped(item.field)}"


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in ",= \\" else c for c in text)


def of_series(names: Iterable[str], hosts: Sequence[str] = ()) -> list[str]:
    """Selectors of the metrics of these names, of these hosts (whatever their case) or of all."""
    unique_names = sorted(set(names))
    limited = f",{of_hosts(hosts)}" if hosts else ""
    return [
        "{__name__=~" + text("|".join(map(literal, unique_names[first : first + _MOST_ALTERNATIVES]))) + limited + "}"
        for first in range(0, len(unique_names), _MOST_ALTERNATIVES)
    ]


def of_hosts(hosts: Sequence[str], *, exactly: bool = False) -> str:
    """Return the matcher for hosts; of those that have a host at all if none is given.

    They may have any case, unless `exactly`.
    """
    if not hosts:
        return 'host!=""'
    names = "|".join(map(literal, hosts))
    return "host=~" + text(names if exactly else f"(?i)({names})")


def literal(name: str) -> str:
    """Return a regular expression that matches exactly this text. Escapes only what Go accepts."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda match: f"\\{match[0]}", name)


def text(value: str) -> str:
    """Return a string of PromQL."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
