"""The figures that reasons rest on: what a signal was in the part of a run that is judged."""

from dataclasses import dataclass

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured, median_in
from plimsoll.model.log import Values
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True)
class Figure:
    """What a signal was at the highest load: the median of its means over equal parts of the run.

    `before` is the same under low load, or in the rest of the run where no load is recorded (`elsewhen`); None where
    there is neither. `limit` is None if it was compared with nothing. `lower`: low values are near the capacity.
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
        """Whether a value is past the limit."""
        if value is None or self.limit is None:
            return False
        return value <= self.limit if self.lower else value >= self.limit


def figure_of(
    measured: Measured, load: LoadResponse, signal: str, subject: Subject, values: Values, *, compared: bool = True
) -> Figure:
    """What a signal was in the part of the run that is judged; `compared`: with the limit of its capacity."""
    known = measured.review.question.signals.get(signal)
    bound = measured.bound(signal, subject) if compared else None
    return Figure(
        signal,
        known.title if known else signal,
        known.unit if known else "",
        subject,
        median_in(values, load.top),
        None if load.low is None else median_in(values, load.low),
        bound.limit if bound else None,
        bound.document if bound else None,
        load.busy,
        lower=known is not None and known.worse == "lower",
    )
