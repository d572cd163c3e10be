r"""Line protocol for VictoriaMetrics, and the metric names under which VictoriaMetrics stores series.

Unlike InfluxDB, VictoriaMetrics reads `\\` as one backslash. A metric's name is measurement and field, joined by `_`;
tags become labels. To split a name, the longest known measurement that fits is used, else the part before the first
`_`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from plimsoll.model.names import list_measurements
from plimsoll.model.series import LOAD_DRIVER, Series
from plimsoll.store.line_protocol import convert_to_stored
from plimsoll.store.quoting import escape_regex, quote_identifier

_MOST_ALTERNATIVES = 90  # VictoriaMetrics looks up at most 100 names one by one; with more it scans all names
NAME = "__name__"
HOST = "host"
_MOST_KNOWN = 1_000_000


def make_metric_name(series: Series) -> str:
    """Return the metric name of a series."""
    return f"{series.measurement}_{series.field}" if series.field else series.measurement


class Measurements:
    """The known measurements, by which metric names are split.

    `further` returns measurements that Plimsoll does not ship; it is called once, when first needed.
    """

    def __init__(self, further: Callable[[], Collection[str]] = lambda: ()) -> None:
        self._further = further
        self._measurements: frozenset[str] | None = None
        self._split: dict[str, tuple[str, str]] = {}

    def series(self, metric: Mapping[str, str]) -> Series:
        """Return the series that a metric's labels describe."""
        measurement, field = self.split(metric.get(NAME, ""))
        tags = sorted((name, value) for name, value in metric.items() if name not in (NAME, HOST))
        return Series(metric.get(HOST, ""), measurement, tuple(tags), field)

    def split(self, name: str) -> tuple[str, str]:
        """Return the measurement and the field of a metric name.

        The name `win_cpu_Percent_User_Time` has the measurement `win_cpu` and the field `Percent_User_Time`.
        """
        if name not in self._split:
            if self._measurements is None:
                self._measurements = frozenset([*list_measurements(), *LOAD_DRIVER, *self._further()])
            ends = (at for at in range(len(name) - 2, 0, -1) if name[at] == "_" and name[:at] in self._measurements)
            end = next(ends, name.find("_"))
            self._split[name] = (name[:end], name[end + 1 :]) if 0 < end < len(name) - 1 else (name, "")
        return self._split[name]


def format_line(measurement: str, tags: Mapping[str, str], field: str, value: float) -> bytes:
    """Return one sample as a line of line protocol without a time; the server sets the time."""
    return f"{_format_head(measurement, tags, field)}={value!r}\n".encode()


@lru_cache(maxsize=_MOST_KNOWN)
def format_line_head(series: Series) -> str:
    """Return the start of a line of a series, up to the equals sign."""
    stored = convert_to_stored(series)
    tags = dict(sorted((name, text) for name, text in (("host", stored.host), *stored.tags) if text))
    return _format_head(stored.measurement, tags, stored.field)


def _format_head(measurement: str, tags: Mapping[str, str], field: str) -> str:
    written = "".join(f",{_escape(name)}={_escape(text)}" for name, text in tags.items())
    return f"{_escape(measurement)}{written} {_escape(field)}"


def _escape(text: str) -> str:
    return "".join(f"\\{c}" if c in ",= \\" else c for c in text)


def select_series(names: Iterable[str], hosts: Sequence[str] = ()) -> list[str]:
    """Return PromQL selectors of metrics by name, for these hosts (ignoring case), or without hosts for all hosts."""
    patterns = [escape_regex(name) for name in sorted(set(names))]
    limited = f",{match_hosts(hosts)}" if hosts else ""
    return [
        "{__name__=~" + quote_identifier("|".join(patterns[first : first + _MOST_ALTERNATIVES])) + limited + "}"
        for first in range(0, len(patterns), _MOST_ALTERNATIVES)
    ]


def match_hosts(hosts: Sequence[str], *, exactly: bool = False) -> str:
    """Return the PromQL matcher of these hosts, ignoring case unless `exactly`; without hosts, of any host."""
    if not hosts:
        return 'host!=""'
    names = "|".join(map(escape_regex, hosts))
    return "host=~" + quote_identifier(names if exactly else f"(?i)({names})")
