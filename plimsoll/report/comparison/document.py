"""The text of a comparison as blocks of a document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.compared_signal import DIFFERENT, Compared, ComparisonOutcome
from plimsoll.comparison.crossings import find_new_crossings
from plimsoll.comparison.doubts import describe_counter, describe_not_compared, describe_proposal, list_doubts
from plimsoll.comparison.run_table import list_columns, run_table
from plimsoll.comparison.sentences import (
    describe_distribution_change,
    describe_move,
    format_title,
    group_by_signal,
    name_place,
)
from plimsoll.comparison.summary import (
    ANSWERS,
    Answer,
    answer,
    list_account,
    list_account_of_rows,
    list_unchanged,
    tell_story,
)
from plimsoll.model.document import (
    Block,
    Bullets,
    ChartBlock,
    Column,
    Document,
    DocumentTable,
    FactList,
    Paragraph,
    Section,
    Text,
    VerdictBlock,
    VerdictKind,
)
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import format_count, join_names, shorten
from plimsoll.model.styled import Line
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_percent
from plimsoll.report.comparison.tables import TITLES, build_first_rows, build_table, describe_result
from plimsoll.report.render.markdown import render_markdown
from plimsoll.report.render.terminal import render_lines
from plimsoll.report.wording import describe_scope
from plimsoll.review.findings import Finding
from plimsoll.review.sentences import describe_breach, format_threshold

if TYPE_CHECKING:
    from plimsoll.report.comparison.charts import Overlaid

_MOST_IN_FULL = 2
_MANY = f"Two runs at a time are shown in full; {Parameter.OUT} writes a report with all of them."
_REST = f"{Parameter.DETAILS} prints the rest; {Parameter.OUT} writes a report with all of it."
_KINDS: Mapping[Answer, VerdictKind] = {
    Answer.WORSE: "critical",
    Answer.NOT_WORSE: "healthy",
    Answer.UNKNOWN: "unknown",
}
_ROWS = {
    ComparisonOutcome.REGRESSION: 20,
    ComparisonOutcome.IMPROVEMENT: 10,
    ComparisonOutcome.CHANGE: 8,
    ComparisonOutcome.LOAD: 5,
    ComparisonOutcome.SPREAD: 5,
}
_BRIEF_ROWS = {
    ComparisonOutcome.REGRESSION: 8,
    ComparisonOutcome.IMPROVEMENT: 5,
    ComparisonOutcome.CHANGE: 3,
    ComparisonOutcome.SPREAD: 3,
}
_DRAWN = {ComparisonOutcome.REGRESSION: 10, ComparisonOutcome.IMPROVEMENT: 4, ComparisonOutcome.CHANGE: 3}
_FULL_CHARTS = 3
_MOST_SAME = 4
_MOST_NAMES = 12
_MOST_CROSSED, _BRIEF_CROSSED = 8, 3
_MOST_MARKDOWN = 10
_REASON = 200  # characters


def name_of(comparisons: Sequence[Comparison]) -> str:
    """Return the name of the comparisons: `B, C compared with A`."""
    names = ", ".join(comparison.second.name for comparison in comparisons)
    return f"{names} compared with {comparisons[0].first.name}"


def build_verdict(comparison: Comparison, *, with_rows: bool = False) -> VerdictBlock:
    """Return the block with the answer of a comparison, and its reasons; `with_rows`, signals follow in a table."""
    kind = answer(comparison)
    first, *sentences = (list_account_of_rows if with_rows else list_account)(comparison)
    return VerdictBlock(ANSWERS[kind], first, _KINDS[kind], tuple(sentences))


def build_blocks(
    comparison: Comparison, zone: Zone | None = None, charts: "Overlaid | None" = None, *, brief: bool = False
) -> Iterator[Block | VerdictBlock]:
    """Build the blocks on one run compared with the baseline; with `brief`, only what fits a terminal's screen.

    Times are in `zone`, by default the zone of each run's logs.
    """
    yield build_verdict(comparison, with_rows=charts is not None)
    different = {signal.name for signal in comparison.of(ComparisonOutcome.REGRESSION, ComparisonOutcome.IMPROVEMENT)}
    for outcome, most in (_BRIEF_ROWS if brief else _ROWS).items():
        for heading, signals in group_pairs(
            (describe_result(signal), signal)
            for signal in comparison.of(outcome)
            if outcome != ComparisonOutcome.SPREAD or signal.name not in different
        ).items():
            groups = group_by_signal(signals)
            drawn = list(_build_charts(comparison, groups[: _DRAWN.get(outcome, 0)], charts))
            tables: Iterable[Block] = [build_table(groups, heading, most)]
            if charts is not None and outcome == ComparisonOutcome.REGRESSION:
                tables = build_first_rows(comparison, groups, heading)
            yield Section(heading, (*tables, *drawn), noun="signals")
    if charts is not None and (same := list_unchanged(comparison)[:_MOST_SAME]):
        heading, groups = "What did not change", [[signal] for signal in same]
        drawn = [replace(chart, size="small") for chart in _build_charts(comparison, groups, charts)]
        yield Section(heading, (build_table(groups, heading), *drawn), fold="open")
    yield from _build_crossed_sections(comparison, brief=brief)
    if not brief and comparison.load.signals:
        note = f"Loads that differ by less than {format_percent(comparison.load.tolerance)} are the same."
        yield Section("Load", (build_table([[signal] for signal in comparison.load.signals], "Load"),), note=note)
    yield FactList(tuple(_list_scopes(comparison, zone)))
    if not brief:
        yield from _build_further_sections(comparison)


def build_summary(comparisons: Sequence[Comparison]) -> Iterator[Block | VerdictBlock]:
    """Build the summary for many runs: an overall answer, then the answer and the reason for each run."""
    answers = [answer(comparison) for comparison in comparisons]
    kinds = (Answer.WORSE, Answer.UNKNOWN, Answer.NOT_WORSE)
    counts = [f"{answers.count(kind)} {ANSWERS[kind].removesuffix('.').lower()}" for kind in kinds if kind in answers]
    gravest = next(kind for kind in kinds if kind in answers)
    baselines = join_names([side.name for side in comparisons[0].baselines], _MOST_NAMES)
    head = f"Of {format_count(len(answers), 'run')}, compared with {baselines}: {', '.join(counts)}."
    yield VerdictBlock(ANSWERS[gravest], head, _KINDS[gravest])
    rows = (
        (f"{ANSWERS[kind]:10} {comparison.second.name}", shorten(_find_reason(comparison), _REASON))
        for comparison, kind in zip(comparisons, answers, strict=True)
    )
    yield FactList(tuple(rows))


def build_runs_section(comparisons: Sequence[Comparison]) -> Section:
    """Build the run table: a column for each run, and a row for each measure, such as users or response time."""
    runs = run_table(comparisons)
    rows = tuple((name, *(run.cells.get(name, "–") for run in runs)) for name in list_columns(runs))
    heads = (Column(""), *(Column(run.side.name) for run in runs))
    table = DocumentTable(heads, rows, "Runs", style="runs", brief=len(rows))
    return Section("Runs (ramp-up / steady, where the phases are known)", (table,), anchor="runs", menu="Runs")


def build_markdown_blocks(comparisons: Sequence[Comparison]) -> Iterator[Block | VerdictBlock]:
    """Build the summary for a pull request: the answers, their reasons, and the signals that became worse or better."""
    for comparison in comparisons:
        result = answer(comparison)
        baselines = ", ".join(side.name for side in comparison.baselines)
        sentences = [*list_account(comparison), *map(describe_breach, find_new_crossings(comparison)[:_MOST_MARKDOWN])]
        name = f"{comparison.second.name} compared with {baselines}"
        yield VerdictBlock(ANSWERS[result], name, _KINDS[result], tuple(sentences))
        if groups := group_by_signal(comparison.of(ComparisonOutcome.REGRESSION, ComparisonOutcome.IMPROVEMENT)):
            yield build_table(groups, "Worse and better", _MOST_MARKDOWN, results=True)


def _list_scopes(comparison: Comparison, zone: Zone | None) -> Iterator[tuple[str, str]]:
    yield "Baseline", _format_scope(comparison.first, zone)
    if comparison.earlier:
        names = join_names([side.name for side in reversed(comparison.earlier)], _MOST_NAMES)
        yield "Earlier", f"{format_count(len(comparison.earlier), 'earlier run')} of the baseline: {names}"
    yield "Compared", _format_scope(comparison.second, zone)
    remark = f"; {comparison.hosts.remark}" if comparison.hosts.remark else ""
    yield "Judged in", f"{comparison.phase.name}{remark}"
    if comparison.set_differently:
        yield "Set differently", join_names([changed.text for changed in comparison.set_differently], _MOST_NAMES)


def _format_scope(side: RunSide, zone: Zone | None) -> str:
    name = "" if side.review.run.name == side.name else f"{side.name} · "
    return f"{name}{describe_scope(side.review, zone or side.review.zone)}"


def _find_reason(comparison: Comparison) -> str:
    load, worse, _ = tell_story(comparison)
    if answer(comparison) == Answer.UNKNOWN:
        return f"{'; '.join(list_doubts(comparison))}."
    return f"{load} {worse}" if comparison.load.throughput_lost else worse


def _build_charts(
    comparison: Comparison, groups: Sequence[Sequence[Compared]], charts: "Overlaid | None"
) -> Iterator[ChartBlock]:
    """Yield a chart for each group of signals; it overlays the first signal of the group in both runs."""
    for at, group in enumerate(groups if charts else ()):
        first = group[0]
        if charts and (chart := charts.add(comparison, first)):
            text = describe_move(first) if first.outcome in DIFFERENT else "did not change"
            name = f"{format_title(first)} of {name_place(first)} {text}"
            yield ChartBlock(chart, "full" if at < _FULL_CHARTS else "small", f"{name[:1].upper()}{name[1:]}")


def _build_crossed_sections(comparison: Comparison, *, brief: bool) -> Iterator[Section]:
    """Yield sections on limits crossed in only one run; unless `brief`, also on limits crossed in both.

    The latter section includes limits crossed in one run and not judged in the other.
    """
    thresholds, most = comparison.thresholds, _BRIEF_CROSSED if brief else _MOST_CROSSED
    baseline = comparison.first.called if not comparison.earlier else "the baseline"
    for side, findings in (
        (comparison.second.called, _list_crossed_alone(comparison, 1)),
        (baseline, _list_crossed_alone(comparison, 0)),
    ):
        limits: list[Text] = [(("", finding.rule.severity), f" {describe_breach(finding)}") for finding in findings]
        yield from _build_bullets(f"Limits crossed only in {side}", limits, "limits", most)
    other_limits = {
        "Crossed in both": [second for _, second in thresholds.both],
        "Crossed in one run, and not judged in the other": thresholds.unjudged,
    }
    notes: list[Block] = []
    for heading, findings in other_limits.items():
        names = _join_names([f"{finding.signal.title} ({format_threshold(finding)})" for finding in findings])
        notes += [Paragraph(f"{heading}: {names}.", "note")] if findings else []
    if notes and not brief:
        yield Section("Other crossed limits", tuple(notes))


def _list_crossed_alone(comparison: Comparison, side: int) -> list[Finding]:
    """Return the limits that only one side crossed: the compared run (side 1), or all runs of the baseline (side 0)."""

    def of(other: Comparison) -> dict[object, Finding]:
        findings = (other.thresholds.only_first, other.thresholds.only_second)[side]
        return {(finding.rule.id, finding.subject and finding.subject.key): finding for finding in findings}

    others = [of(other) for other in comparison.against]
    return [finding for key, finding in of(comparison).items() if all(key in other for other in others)]


def _build_further_sections(comparison: Comparison) -> Iterator[Section]:
    """Yield sections left out in brief: worse in other phases, unclear, unchanged, hidden by means, not compared."""
    for phase, worse in comparison.also_worse():
        heading = f"Worse in the {phase.name} phase alone"
        table = build_table(group_by_signal(worse), heading, _ROWS[ComparisonOutcome.CHANGE])
        yield Section(heading, (table,), noun="signals")
    for outcome in (ComparisonOutcome.UNCLEAR, ComparisonOutcome.WITHIN, ComparisonOutcome.SAME):
        # Signals that crossed a limit in one run alone are left out, even if their means hardly differ.
        if groups := group_by_signal(comparison.within_limits(outcome)):
            names = _join_names([group[0].signal.title for group in groups])
            yield Section(TITLES[outcome], (Paragraph(names, "note"),))
    yield from _build_bullets("Beyond the means", [*map(describe_distribution_change, comparison.reshaped)], "signals")
    counters = comparison.unassigned_counters
    shown = [*counters.costs, *(counter for counter in counters.changed if counter not in counters.costs)]
    yield from _build_bullets("Counters without a signal that changed", [*map(describe_counter, shown)], "counters")
    if notes := list(_describe_not_compared(comparison)):
        yield Section("Not compared", tuple(Paragraph(text, "note") for text in notes))


def _build_bullets(heading: str, texts: Sequence[Text], noun: str, most: int = _MOST_CROSSED) -> Iterator[Section]:
    if texts:
        yield Section(heading, (Bullets(tuple(texts[:most])),), hidden=max(0, len(texts) - most), noun=noun)


def _join_names(names: Sequence[str]) -> str:
    return join_names(list(dict.fromkeys(names)), _MOST_NAMES)


def _describe_not_compared(comparison: Comparison) -> Iterator[str]:
    """Yield sentences on what could not be compared: counters, sums, signals and hosts that only one run has."""
    if text := describe_not_compared(comparison):
        yield text
    if comparison.integrating:
        names = _join_names([signal.title for signal in comparison.integrating])
        yield f"Not compared by their means, as they add up over time: {names}."
    sides = (comparison.first, comparison.second)
    for side, lone in zip(sides, comparison.lone, strict=True):
        if lone:
            names = _join_names([f"{signal.signal.title} ({signal.host})" for signal in lone])
            yield f"Recorded only in {side.called}: {names}."
    for side, hosts in zip(sides, comparison.hosts.alone, strict=True):
        if hosts:
            yield f"Only {side.called} has the hosts {join_names(hosts, _MOST_NAMES)}."
    yield from (f"{describe_proposal(comparison, proposal)}." for proposal in comparison.proposals[:_MOST_CROSSED])


def format_lines(
    comparisons: Sequence[Comparison], zone: Zone | None = None, width: int | None = None, *, all_of_it: bool = True
) -> Iterator[Line]:
    """Yield the comparisons as lines of a terminal; unless `all_of_it`, or if there are many, only a summary.

    Times are in `zone`, by default the zone of each run's logs. Tables fit the `width`; without `width`, the output
    does not go to a terminal.
    """
    if len(comparisons) > (_MOST_IN_FULL if all_of_it else 1):
        yield from render_lines(build_summary(comparisons), width)
    else:
        for at, comparison in enumerate(comparisons):
            if at:
                yield ()
            yield from render_lines(build_blocks(comparison, zone, brief=not all_of_it), width)
    if not all_of_it:
        yield ()
        yield ((_REST, "dim"),)
        return
    if len(comparisons) > _MOST_IN_FULL:
        yield ((f"  {_MANY}", "dim"),)
    yield from render_lines([build_runs_section(comparisons)], width)


def format_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the summary of each comparison as Markdown, for example for a pull request."""
    name = name_of(comparisons)
    return render_markdown(Document("comparison", name, name, tuple(build_markdown_blocks(comparisons))))
