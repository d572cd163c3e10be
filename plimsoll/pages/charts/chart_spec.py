"""The spec of a chart in a URL: `cpu.busy|WEB1`, `disk.free|WEB1|C:`, `cpu.busy|*`.

In place of a signal, a spec can name a raw series by measurement and field: `mem~available|WEB1`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote, unquote

from plimsoll.model.errors import Unusable
from plimsoll.model.series import Series
from plimsoll.rules.schema.signal import Signal

ALL = "*"
_LONGEST = 4000
_BETWEEN = "~"  # separates measurement and field in the name of a raw series
_OF_HOST = ("source", "objectname")  # tags that do not tell the series of a host apart
_LONGEST_RAW = 300


@dataclass(frozen=True)
class Spec:
    """What a chart draws: a signal, its hosts (empty: all) and its instance (None: all).

    `drive` selects only the disks that plimsoll.toml marks as `database` or as `log` disks.
    """

    signal: str
    hosts: tuple[str, ...] = ()
    instance: str | None = None
    drive: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Spec":
        """Parse a spec whose names are percent-encoded. Raise Unusable if it is invalid."""
        parts = text.split("|")
        if not 1 <= len(parts) <= 3 or not parts[0] or len(text) > _LONGEST:
            raise Unusable(f'"{text[:100]}" names no chart; write cpu.busy|HOST, disk.free|HOST|C: or cpu.busy|*')
        signal, _, drive = parts[0].partition("@")
        hosts = parts[1] if len(parts) > 1 else ALL
        names = () if hosts in ("", ALL) else tuple(unquote(host) for host in hosts.split(","))
        instance = unquote(parts[2]) if len(parts) > 2 and parts[2] else None
        return cls(unquote(signal), names, instance, drive or None)

    def __str__(self) -> str:
        quoted = partial(quote, safe="")
        signal = f"{quoted(self.signal)}@{self.drive}" if self.drive else quoted(self.signal)
        hosts = ",".join(map(quoted, self.hosts)) or ALL
        return "|".join([signal, hosts, *([quoted(self.instance)] if self.instance is not None else [])])

    @property
    def is_raw(self) -> bool:
        """Whether the spec names a series by measurement and field in place of a signal."""
        return _BETWEEN in self.signal


def parse_lines(text: str) -> Sequence[Spec]:
    """Return the specs in a text, separated by `;`, which one chart draws together."""
    return [Spec.parse(part) for part in text.split(";")]


def name_raw_series(series: Series) -> str:
    """Return the name `measurement~field` under which charts draw a series."""
    return f"{series.measurement}{_BETWEEN}{series.field}"


def name_raw_instance(series: Series) -> str | None:
    """Return a series' tags, except its host's, as text, such as `cpu=cpu0`; None if no tag remains."""
    return ", ".join(f"{name}={value}" for name, value in series.tags if name not in _OF_HOST) or None


def make_raw_signal(name: str) -> Signal:
    """Return a signal for a series named `measurement~field`, with that name as its title and without a unit."""
    measurement, _, field = name[:_LONGEST_RAW].partition(_BETWEEN)
    return Signal(title=f"{measurement} {field}".strip() or "?", unit="", meaning="As it was sent.", fact="processors")
