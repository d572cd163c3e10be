"""The names of series in VictoriaMetrics, as it makes them of InfluxDB's line protocol.

A metric is named by the measurement and the field, joined by `_`; tags are labels. The name
does not show where the measurement ends: it is the longest known measurement that fits, else the part before the first
`_`.
"""

from collections.abc import Callable, Collection, Mapping

from plimsoll.model.names import measurements
from plimsoll.model.series import LOAD_DRIVER, Series
from plimsoll.store.line_protocol import as_stored

NAME = "__name__"
HOST = "host"


def metric_name(series: Series) -> str:
    """The name of a series' metric."""
    return f"{series.measurement}_{series.field}" if series.field else series.measurement


def labels(series: Series) -> dict[str, str]:
    """The labels of a series, with the name of its metric; values that are empty are none."""
    one = as_stored(series)
    found = {NAME: metric_name(one), HOST: one.host, **dict(one.tags)}
    return {name: value for name, value in found.items() if value}


class Measurements:
    """The known measurements. `more` gives further ones when they are first needed."""

    def __init__(self, more: Callable[[], Collection[str]] = lambda: ()) -> None:
        self._more = more
        self._known: frozenset[str] | None = None
        self._split: dict[str, tuple[str, str]] = {}

    def series(self, metric: Mapping[str, str]) -> Series:
        """The series of the labels of a metric."""
        measurement, field = self.split(metric.get(NAME, ""))
        tags = sorted((name, value) for name, value in metric.items() if name not in (NAME, HOST))
        return Series(metric.get(HOST, ""), measurement, tuple(tags), field)

    def split(self, name: str) -> tuple[str, str]:
        """The measurement and the field of a metric: `win_cpu` and `Percent_User_Time`."""
        found = self._split.get(name)
        if found is None:
            found = self._split[name] = self._find(name)
        return found

    def _find(self, name: str) -> tuple[str, str]:
        if self._known is None:
            self._known = frozenset([*measurements(), *LOAD_DRIVER, *self._more()])
        for at in range(len(name) - 2, 0, -1):
            if name[at] == "_" and name[:at] in self._known:
                return name[:at], name[at + 1 :]
        measurement, _, field = name.partition("_")
        return (measurement, field) if measurement and field else (name, "")
