"""The use of one resource of one host, and how near it was to its capacity."""

from enum import IntEnum
from typing import Literal

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured, compute_median_in
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True)
class Figure:
    """The value of a signal at the highest load: the median of the signal's means over equal parts of the run.

    `before` is the value under low load, or if no load is recorded (`elsewhen`), the value in the rest of the run; None
    if there is no low load or no rest. `limit` is None if the signal has no limit. `lower` means that low values are
    near the capacity.
    """

    signal: str
    title: str
    unit: str
    subject: Subject
    value: float
    before: float | None = None
    limit: float | None = None
    document: str | None = None
    elsewhen: bool = False
    lower: bool = False

    def beyond(self, value: float | None) -> bool:
        """Return whether a value is at or past the figure's limit; False without a limit."""
        if value is None or self.limit is None:
            return False
        return value <= self.limit if self.lower else value >= self.limit

    @property
    def is_beyond(self) -> bool:
        """Whether the figure's own value is at or past its limit; False without a limit."""
        return self.beyond(self.value)


Resource = Literal["cpu", "disk", "memory", "network"]
# Parts of a resource that can be used up while the whole has room.
ONE_PROCESSOR = "one processor"
ONE_PROCESS = "one process"
STOLEN = "stolen time"  # processor time that the hypervisor gives to others
SQL_CACHE = "the buffer cache of SQL Server"


class UseState(IntEnum):
    """How near a resource was to its capacity."""

    NOT_RECORDED = 0
    UNCLEAR = 1  # recorded, but not by counters that show the use
    ROOM = 2
    HIGH = 3  # neither near its capacity nor far from it
    NEAR = 4
    FULL = 5


@dataclass(frozen=True)
class ResourceUse:
    """The use of a resource of a host at the highest load.

    `figures` are sorted, the most telling first. `aspect` names the scarce part of the resource (`one processor`, `all
    disks together`); it is empty for the whole resource, and for a single disk. `needed` are the counters to record if
    the use is unknown.
    """

    resource: Resource
    host: str
    state: UseState
    figures: tuple[Figure, ...] = ()
    aspect: str = ""
    needed: str = ""

    @property
    def used_up(self) -> bool:
        """Whether the resource was near its capacity, or full."""
        return self.state >= UseState.NEAR

    @property
    def instance(self) -> str | None:
        """The disk, adapter, processor or process of the first figure; None if that figure has no instance."""
        return self.figures[0].subject.instance if self.figures else None

    @property
    def process(self) -> str | None:
        """The process that uses all of one processor; None if there is none."""
        return next((figure.subject.instance for figure in self.figures if figure.signal == "process.cpu"), None)


def make_figure(
    measured: Measured, load: LoadResponse, signal: str, subject: Subject, values: Values, *, compared: bool = True
) -> Figure:
    """Return a signal's value in the examined part of the run (`load.top`), and its value under low load.

    With `compared`, the figure also has the limit near the capacity. `values` are the means in the parts of the run.
    """
    described = measured.review.question.signals.get(signal)
    bound = measured.bound(signal, subject) if compared else None
    return Figure(
        signal,
        described.title if described else signal,
        described.unit if described else "",
        subject,
        compute_median_in(values, load.top),
        None if load.low is None else compute_median_in(values, load.low),
        bound.limit if bound else None,
        bound.document if bound else None,
        load.busy,
        lower=described is not None and described.worse == "lower",
    )
