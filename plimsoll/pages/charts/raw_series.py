"""Series as they were sent, which charts draw as signals of the name `measurement~field`: `mem~available`."""

from collections.abc import Iterable

from plimsoll.model.series import Series
from plimsoll.pages.charts.host_signals import Found
from plimsoll.rules.origins import SeriesOrigin
from plimsoll.rules.schema.signal import Signal, Transform
from plimsoll.rules.subjects import Subject

_BETWEEN = "~"
_OF_HOST = ("source", "objectname")  # tags that tell no series of a host from another
_LONGEST = 300


def is_raw(name: str) -> bool:
    """Whether a name is that of series as they were sent."""
    return _BETWEEN in name


def raw_name(series: Series) -> str:
    """The name by which charts draw a series."""
    return f"{series.measurement}{_BETWEEN}{series.field}"


def raw_instance(series: Series) -> str | None:
    """The tags that tell a series from others of its name: `cpu=cpu0`; None if it has none."""
    return ", ".join(f"{name}={value}" for name, value in series.tags if name not in _OF_HOST) or None


def raw_signal(name: str) -> Signal:
    """What is known of a series: nothing but its name."""
    measurement, _, field = name[:_LONGEST].partition(_BETWEEN)
    return Signal(title=f"{measurement} {field}".strip() or "?", unit="", meaning="As it was sent.", fact="processors")


def raw_found(host: str, series: Iterable[Series], name: str) -> list[Found]:
    """The series of a host that have a name, in order of their tags."""
    measurement, _, field = name.partition(_BETWEEN)
    own = [one for one in series if one.measurement == measurement and one.field == field]
    found = [Found(Subject(host, raw_instance(one)), SeriesOrigin(one, False, Transform()), ()) for one in own]
    return sorted(found, key=lambda one: one.subject.key[1] or "")
