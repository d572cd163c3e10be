"""How logs are read."""

from dataclasses import dataclass, field

from plimsoll.model.names import Names, shipped
from plimsoll.model.times import Zone


@dataclass(frozen=True)
class Reading:
    """What the caller says of the logs.

    `zone` is that of logs that do not say their own, or whose name and bias contradict each other;
    `format` is the one a log has to be of, `encoding` overrides the guess at a header's code page; `names`
    are what objects and counters are called.
    """

    zone: Zone | None = None
    format: str | None = None
    encoding: str | None = None
    names: Names = field(default_factory=shipped)
