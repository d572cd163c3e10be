"""The section on what limits a run: the reasons, a chart of what limits beside the load, and what was ruled out."""

from dataclasses import dataclass

from plimsoll.charts.chart import Chart, Charts, Line, Span
from plimsoll.charts.chart import Limit as DrawnLimit
from plimsoll.insights.insight import Section
from plimsoll.insights.limits.figure import Figure
from plimsoll.insights.limits.find import Limit
from plimsoll.insights.limits.resource_use import ResourceUse, State
from plimsoll.insights.limits.words import sentences
from plimsoll.model.times import Zone
from plimsoll.model.value_text import quantity
from plimsoll.review.phases.load import Load
from plimsoll.review.review import Review
from plimsoll.review.sentences import titled
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import exactly

_RESOURCES = {"cpu": "Processors", "disk": "Disks", "memory": "Memory", "network": "Network"}
_STATES = {
    State.FULL: "used up",
    State.NEAR: "near its capacity",
    State.HIGH: "high, not near its capacity",
    State.ROOM: "ruled out: has room",
    State.UNCLEAR: "not clear from what is recorded",
    State.NOT_RECORDED: "not recorded",
}
# What is drawn where the figure was put together from counters that were not sampled together.
_INSTEAD = {
    "cpu.busy": "cpu.processor_busy",
    "network.sent_utilization": "network.sent",
    "network.received_utilization": "network.received",
}
_MOST_HOSTS = 12
_MOST_SPANS = 6  # bands of a load that goes up and down tell nothing


@dataclass(frozen=True)
class ResourceRow:
    """A resource of a host: how near its capacity it was, and by which figures."""

    host: str
    resource: str
    state: str
    figures: tuple[tuple[str, str, str, str, str], ...]
    needed: str


@dataclass(frozen=True)
class LimitSection:
    """What limits the run, ready to be shown."""

    summary: str
    sentences: tuple[str, ...]
    charts: tuple[tuple[str, Chart], ...]
    rows: tuple[ResourceRow, ...]
    hidden: int
    hosts: int
    shaded: bool
    whole: bool


def section(
    review: Review,
    limit: Limit | None,
    charts: Charts | None,
    zone: Zone,
) -> Section | None:
    """The section; None if the run has no samples."""
    if limit is None:
        return None
    first, *more = sentences(limit)
    resources = sorted(limit.resources, key=lambda one: -one.state)
    shown = resources[: 4 * _MOST_HOSTS]
    return Section(
        LimitSection(
            first.text,
            tuple(one.text for one in more),
            tuple(_charts(review, limit, charts)) if charts is not None and _is_worth_a_chart(limit) else (),
            tuple(_row(one) for one in shown),
            len(resources) - len(shown),
            len(review.hosts),
            bool(charts) and _is_shaded(limit) and _is_worth_a_chart(limit),
            limit.load.load is None and not limit.load.busy,
        )
    )


def _is_shaded(limit: Limit) -> bool:
    return len(limit.spans) <= _MOST_SPANS


def _is_worth_a_chart(limit: Limit) -> bool:
    """Whether a chart shows more than those of the signals' own sections do."""
    return limit.kind not in ("load", "unknown") or limit.load.work is not None


def _charts(review: Review, limit: Limit, charts: Charts) -> list[tuple[str, Chart]]:
    """A chart of what limits, or of what came nearest, and one of the load; the highest load is shaded."""
    spans = [Span(start, end) for start, end in limit.spans] if _is_shaded(limit) else []
    drawn: list[tuple[str, Chart]] = []
    figure = limit.main
    if figure is not None and (lines := _lines(review, figure)):
        same = figure.signal not in _INSTEAD or figure.subject in review.signals.of(figure.signal)
        limits = [DrawnLimit(figure.limit, _limit_text(figure))] if figure.limit is not None and same else []
        title = titled(figure.title, figure.subject)
        unit = lines_unit(review, figure, same=same)
        drawn.append((title, charts.add(lines, unit, f"Chart: {title}.", limits=limits, spans=spans)))
    if (load := limit.load.load) is not None:
        line = Line(load.signal.title, "samples", load.samples)
        drawn.append(
            (_load_title(load), charts.add([line], load.signal.unit, f"Chart: {_load_title(load)}.", spans=spans))
        )
    return drawn


def lines_unit(review: Review, figure: Figure, *, same: bool) -> str:
    """The unit of what is drawn for a figure."""
    return figure.unit if same else review.question.signals[_INSTEAD[figure.signal]].unit


def _load_title(load: Load) -> str:
    hosts = ", ".join(load.hosts[:3]) + (", …" if len(load.hosts) > 3 else "")
    return f"The load: {load.signal.title} of {hosts}"


def _limit_text(figure: Figure) -> str:
    return f"limit {exactly(figure.limit or 0.0, figure.unit)}"


def _lines(review: Review, figure: Figure) -> list[Line]:
    found = review.signals.of(figure.signal)
    if figure.subject not in found and figure.signal in _INSTEAD:
        found = {
            subject: one
            for subject, one in review.signals.on(_INSTEAD[figure.signal], figure.subject.host).items()
            if figure.subject.instance in (None, subject.instance)
        }
        return [Line(str(one), "samples" if not at else "other", s) for at, (one, s) in enumerate(found.items())]
    samples = found.get(figure.subject)
    return [Line(figure.title, "samples", samples)] if samples is not None else []


def _row(one: ResourceUse) -> ResourceRow:
    return ResourceRow(
        one.host,
        _RESOURCES[one.resource],
        _STATES[one.state],
        tuple(
            (
                figure.title + _instance(figure.subject),
                quantity(figure.value, figure.unit),
                "" if figure.before is None else quantity(figure.before, figure.unit),
                "" if figure.limit is None else exactly(figure.limit, figure.unit),
                figure.document or "",
            )
            for figure in one.figures
        ),
        one.needed if one.state <= State.UNCLEAR else "",
    )


def _instance(subject: Subject) -> str:
    return "" if subject.instance is None else f", {subject.instance}"
