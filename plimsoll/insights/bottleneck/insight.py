"""The bottleneck in the outputs: reasons, charts, a table of the resources, the next step, and a doubt about health."""

import numpy as np

from plimsoll.insights.bottleneck.find import Bottleneck, find_bottleneck
from plimsoll.insights.bottleneck.measured import compute_median_in
from plimsoll.insights.bottleneck.reasons import list_sentences
from plimsoll.insights.bottleneck.resource_use import (
    ONE_PROCESS,
    ONE_PROCESSOR,
    SQL_CACHE,
    STOLEN,
    Figure,
    ResourceUse,
    UseState,
)
from plimsoll.insights.insights import Heading, Insight, LimitedValue
from plimsoll.model.document import (
    Block,
    ChartBlock,
    ChartLimit,
    ChartSeries,
    ChartSpec,
    Column,
    DocumentTable,
    Section,
    Span,
    Statement,
    Text,
)
from plimsoll.model.remark import format_count
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_limit, format_value
from plimsoll.review.review import Review
from plimsoll.review.sentences import add_subject
from plimsoll.review.verdict import Verdict
from plimsoll.rules.schema.field_types import Healthy

_TITLES = {"cpu": "Processors", "disk": "Disks", "memory": "Memory", "network": "Network"}
_STATES = {
    UseState.FULL: "used up",
    UseState.NEAR: "near its capacity",
    UseState.HIGH: "high, not near its capacity",
    UseState.ROOM: "ruled out: has room",
    UseState.UNCLEAR: "not clear from what is recorded",
    UseState.NOT_RECORDED: "not recorded",
}
# The signal drawn for a figure computed from counters that were not sampled together.
_INSTEAD = {
    "cpu.busy": "cpu.processor_busy",
    "network.sent_utilization": "network.sent",
    "network.received_utilization": "network.received",
}
_MOST_HOSTS = 12
_MOST_SPANS = 6  # more bands mean an alternating load, and show nothing
# Our choices: the shares of the target that SQL Server uses at least, and that its host has available at least.
_ALL_OF_IT = 0.98
_TO_SPARE = 0.5


def _build_blocks(bottleneck: Bottleneck | None, review: Review, zone: Zone) -> tuple[Block, ...]:
    """Return a section with the reasons, the charts, and the table of resources; empty if the run has no samples."""
    if bottleneck is None:
        return ()
    statement = Statement(tuple(sentence.text for sentence in list_sentences(bottleneck)), flush=True)
    more_than_signals_show = bottleneck.kind not in ("load", "unknown") or bottleneck.evidence.load.work is not None
    spans = tuple(Span(start, end) for start, end in bottleneck.evidence.spans)
    spans = spans if more_than_signals_show and len(spans) <= _MOST_SPANS else ()
    drawn = _build_charts(review, bottleneck, spans) if more_than_signals_show else ()
    resources = _build_resources(review, bottleneck, shaded=bool(drawn and spans))
    return (Section("", (statement, *drawn, resources), style="what-limits"),)


def _build_resources(review: Review, bottleneck: Bottleneck, *, shaded: bool) -> Section:
    """Return a folded section with a table of all resources, and the figures by which each was ruled out or not."""
    resources = sorted(bottleneck.evidence.resources, key=lambda use: -use.state)
    shown = resources[: 4 * _MOST_HOSTS]
    load = bottleneck.evidence.load
    whole = load.load is None and not load.busy
    when = "Over the whole run" if whole else "At the highest load"
    columns = (
        *map(Column, ("Host", "Resource", "Figure")),
        *(Column(title, numeric=True) for title in (when, "At low load", "ChartLimit")),
        Column("From"),
    )
    in_charts = ", which is shaded in the charts" if shaded and not whole else ""
    summary = f"of {format_count(len(review.hosts), 'host')}, {when[0].lower()}{when[1:]}{in_charts}"
    rows = tuple(row for use in shown for row in _list_rows(use))
    label = "Resources and how near they were to their capacity"
    table = DocumentTable(columns, rows, label, hidden=len(resources) - len(shown))
    return Section("Resources", (table,), summary=summary, fold="closed")


def _list_rows(use: ResourceUse) -> list[tuple[Text, ...]]:
    """Return the table rows of a resource, one for each figure; only the first row names the host and the resource.

    If the use is not clear, a last row names the counters to record.
    """
    rows: list[tuple[Text, ...]] = [
        (
            figure.title + ("" if figure.subject.instance is None else f", {figure.subject.instance}"),
            format_value(figure.value, figure.unit),
            "" if figure.before is None else format_value(figure.before, figure.unit),
            "" if figure.limit is None else format_limit(figure.limit, figure.unit),
            ((figure.document or "", "small"),),
        )
        for figure in use.figures
    ]
    needed = use.needed if use.state <= UseState.UNCLEAR else ""
    if needed or not rows:
        rows.append((f"Record {needed}." if needed else "", "", "", "", ""))
    name: Text = (f"{_TITLES[use.resource]} ", (_STATES[use.state], "small"))
    return [((use.host, name) if at == 0 else ("", "")) + row for at, row in enumerate(rows)]


def _build_charts(review: Review, bottleneck: Bottleneck, spans: tuple[Span, ...]) -> list[ChartBlock]:
    """Return a chart of the bottleneck's main figure and a chart of the load, both with `spans` shaded, if recorded."""
    drawn: list[ChartBlock] = []
    figure = bottleneck.main
    if figure is not None and (lines := _list_lines(review, figure)):
        same = figure.signal not in _INSTEAD or figure.subject in review.signals.of(figure.signal)
        limit_text = f"limit {format_limit(figure.limit or 0.0, figure.unit)}"
        limits = (ChartLimit(figure.limit, limit_text),) if figure.limit is not None and same else ()
        title = add_subject(figure.title, figure.subject)
        unit = figure.unit if same else review.question.signals[_INSTEAD[figure.signal]].unit
        drawn.append(ChartBlock(ChartSpec(lines, unit, f"Chart: {title}.", limits, spans), "strip", title))
    if (load := bottleneck.evidence.load.load) is not None:
        hosts = ", ".join(load.hosts[:3]) + (", …" if len(load.hosts) > 3 else "")
        title = f"The load: {load.signal.title} of {hosts}"
        line = ChartSeries(load.signal.title, "samples", load.samples)
        spec = ChartSpec((line,), load.signal.unit, f"Chart: {title}.", spans=spans)
        drawn.append(ChartBlock(spec, "strip", title))
    return drawn


def _list_lines(review: Review, figure: Figure) -> tuple[ChartSeries, ...]:
    recorded, subject = review.signals.of(figure.signal), figure.subject
    if subject not in recorded and figure.signal in _INSTEAD:
        parts = review.signals.on(_INSTEAD[figure.signal], subject.host).items()
        shown = [(part, samples) for part, samples in parts if subject.instance in (None, part.instance)]
        return tuple(ChartSeries(str(part), "other" if at else "samples", s) for at, (part, s) in enumerate(shown))
    samples = recorded.get(subject)
    return (ChartSeries(figure.title, "samples", samples),) if samples is not None else ()


def _describe_doubt(bottleneck: Bottleneck | None) -> str:
    """Return a certain bottleneck as a doubt about health: `the processors of WEB01 limit this run`; else ""."""
    if bottleneck is None or not bottleneck.confident or bottleneck.limiting is None:
        return ""
    reason = summarize_bottleneck(bottleneck).removesuffix(".")
    return reason[:1].lower() + reason[1:]


def _find_doubted_value(bottleneck: Bottleneck | None) -> LimitedValue | None:
    """Return the main figure of the limiting resource with its limit; None without a limiting resource or a limit."""
    figure = bottleneck.main if bottleneck is not None and bottleneck.limiting is not None else None
    if bottleneck is None or figure is None or figure.limit is None:
        return None
    when = "over the whole run" if bottleneck.evidence.load.load is None else "at the highest load"
    healthy = Healthy(">" if figure.lower else "<", figure.limit)
    return LimitedValue(
        figure.value, figure.unit, healthy, f"{add_subject(figure.title, figure.subject)}, median {when}"
    )


def _describe_full_processor(bottleneck: Bottleneck | None) -> tuple[str, ...]:
    """Return sentences on full processors that no summary names as the bottleneck; empty if a limit was crossed."""
    if bottleneck is None or bottleneck.evidence.crossed:
        return ()
    texts = {
        ONE_PROCESS: "The process {} of {} uses all of one processor: what waits for it goes no faster.",
        ONE_PROCESSOR: "Processor {} of {} is full while others have room: what runs on it goes no faster.",
    }
    is_healthy = bottleneck.evidence.measured.review.verdict == Verdict.HEALTHY
    named = None if is_healthy and not bottleneck.confident else bottleneck.limiting
    uses = [use for use in bottleneck.evidence.resources if use.used_up and use is not named and use.aspect in texts]
    return tuple(texts[use.aspect].format(use.instance, use.host) for use in uses)


def summarize_bottleneck(bottleneck: Bottleneck) -> str:
    """Return the conclusion about the bottleneck in a sentence."""
    return list_sentences(bottleneck)[0].text


def _describe_next_step(bottleneck: Bottleneck | None) -> str:
    """Return what to do next about the bottleneck, in a sentence; empty if the figures do not tell."""
    use = bottleneck.limiting if bottleneck is not None else None
    if bottleneck is None or use is None:
        return ""
    if use.aspect == SQL_CACHE:
        measured, top = bottleneck.evidence.measured, bottleneck.evidence.load.top
        signals = ("sql.target_memory", "sql.total_memory", "memory.available")
        recorded = (measured.of_host(signal, use.host) for signal in signals)
        target, total, available = (compute_median_in(pair[1], top) if pair else np.nan for pair in recorded)
        # SQL Server uses all memory it may, while its host has plenty; NaN is false for both.
        if total >= _ALL_OF_IT * target and available >= _TO_SPARE * target:
            return (
                f"Raise max server memory: SQL Server uses all {format_value(target, 'bytes')} that it may, and "
                f"{use.host} has {format_value(available, 'bytes')} available."
            )
    if use.aspect == STOLEN:
        return f"Ask who runs the hypervisor of {use.host} for more processor time, or move it."
    if use.aspect in (ONE_PROCESS, ONE_PROCESSOR) and use.process:
        return f"More processors do not help {use.process}: it needs a faster one, or its work in several threads."
    return ""


def _describe_cause(first: Bottleneck | None, second: Bottleneck | None) -> str:
    """Return a sentence on the resource that limits the second run; empty if its kind also limits the first run."""
    if second is None or second.limiting is None or (first is not None and first.kind == second.kind):
        return ""
    return summarize_bottleneck(second).replace("this run", "it")


INSIGHT = Insight(
    "bottleneck",
    Heading("limit", "Bottleneck", "Bottleneck", "causes"),
    find_bottleneck,
    _build_blocks,
    cause=_describe_cause,
    summary=lambda limit: (
        summarize_bottleneck(limit) if limit is not None and limit.kind not in ("load", "unknown") else ""
    ),
    doubt=_describe_doubt,
    short=lambda limit: (limit.kind, limit.host) if limit is not None and limit.host else None,
    ahead=_describe_full_processor,
    doubted_value=_find_doubted_value,
    step=_describe_next_step,
)
