"""What a chart over time shows: its lines, limits and shaded times. `plimsoll.charts` encodes it for a page."""

from dataclasses import dataclass

from plimsoll.model.samples import Samples
from plimsoll.model.value_text import exactly


@dataclass(frozen=True)
class ChartSeries:
    """One line to draw: `kind` is `samples`, `judged`, `other` or `line-1` to `line-8`, and decides how it looks.

    `line-3 dash-1` is one of another line's colour, `strong` one whose limit is crossed now.

    `caption` replaces the number of samples in the chart's caption. Where samples are `marked`, rows without a value
    are all the gaps there are; else the pauses of the recording are, too.
    """

    label: str
    kind: str
    samples: Samples
    caption: str = ""
    marked: bool = False
    strong: bool = False


@dataclass(frozen=True)
class Span:
    """A time that is shaded (UTC ns), in the colour of its own severity or that of the chart."""

    start: int
    end: int
    severity: str | None = None

    @property
    def own(self) -> list[str]:
        """Its own severity, if it has one."""
        return [self.severity] if self.severity else []


@dataclass(frozen=True)
class ChartLimit:
    """A threshold, drawn as a labelled line in the colour of its severity, or of the chart's."""

    level: float
    text: str
    severity: str = ""

    @classmethod
    def of(cls, level: float, unit: str, severity: str = "") -> "ChartLimit":
        """Return the limit of a signal in `unit`."""
        return cls(level, f"threshold {exactly(level, unit)}", severity)


@dataclass(frozen=True, eq=False)
class ChartSpec:
    """A chart before it is encoded: its lines are all in `unit`, and `label` says what it shows."""

    lines: tuple[ChartSeries, ...]
    unit: str
    label: str
    limits: tuple[ChartLimit, ...] = ()
    spans: tuple[Span, ...] = ()
