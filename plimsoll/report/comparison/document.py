"""The text of a comparison as blocks of a document, and its checks for a build server."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.compared_signal import DIFFERENT, Compared, ComparisonOutcome
from plimsoll.comparison.crossings import crossings
from plimsoll.comparison.doubts import counter_text, doubts, not_compared, proposed
from plimsoll.comparison.run_table import columns, run_table
from plimsoll.comparison.sentences import by_signal, change_text, distribution_change_text, moved, place, title
from plimsoll.comparison.summary import ANSWERS, Answer, account, answer, critical, story, unchanged
from plimsoll.model.document import (
    Block,
    Bullets,
    ChartBlock,
    Column,
    Document,
    DocumentCheck,
    DocumentTable,
    FactList,
    Paragraph,
    Section,
    Suite,
    Text,
    VerdictBlock,
    VerdictKind,
)
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted, listed, short
from plimsoll.model.styled import Line
from plimsoll.model.times import Zone, duration_text
from plimsoll.model.value_text import number, percent, quantity
from plimsoll.report.comparison.charts import Overlaid
from plimsoll.report.render.markdown import render_markdown
from plimsoll.report.render.terminal import render_lines
from plimsoll.report.wording import scope
from plimsoll.review.findings import Finding
from plimsoll.review.sentences import breach_sentence, threshold

_MOST_IN_FULL = 2
_MANY = f"Two runs at a time are shown in full; {Parameter.OUT} writes a report with all of them."
_REST = f"{Parameter.DETAILS} prints the rest; {Parameter.OUT} writes a report with all of it."
TITLES = {
    ComparisonOutcome.REGRESSION: "Worse",
    ComparisonOutcome.IMPROVEMENT: "Better",
    ComparisonOutcome.CHANGE: "Changed",
    ComparisonOutcome.LOAD: "As the load lets expect",
    ComparisonOutcome.SPREAD: "Differs, as runs of one build may",
    ComparisonOutcome.WITHIN: "Differs, but by less than the tolerance",
    ComparisonOutcome.UNCLEAR: "Too few samples to tell",
    ComparisonOutcome.SAME: "No difference that matters",
}
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
_MOST_ROWS = 400
_MOST_NAMES = 12
_MOST_CROSSED, _BRIEF_CROSSED = 8, 3
_MOST_MARKDOWN = 10
_REASON, _PLACE = 200, 36  # characters
_HEADS = (
    Column("Signal"),
    Column("Where"),
    Column("Baseline", numeric=True),
    Column("Other run", numeric=True),
    Column("Change", numeric=True, optional=3),
    Column("Difference, 95 % interval", numeric=True, optional=2),
    Column("Independent samples", numeric=True, optional=1),
)
_METHOD = (
    "A difference counts where it is larger than the tolerance of the signal, and than a prediction from the baseline "
    "allows: from the noise within the runs (stationary bootstrap, as samples depend on the ones before them) and from "
    "how much runs of one build differ, with chances raised for the number of signals (Hochberg). Independent samples: "
    "how many would know the means as well."
)


def name_of(comparisons: Sequence[Comparison]) -> str:
    """Return the name of the comparisons: `B, C compared with A`."""
    return (
        f"{', '.join(comparison.second.name for comparison in comparisons)} compared with {comparisons[0].first.name}"
    )


def result_of(compared: Compared) -> str:
    """Return the outcome of a signal in words; no variation is called usual that crosses a limit in one run alone."""
    usual = compared.outcome in (ComparisonOutcome.SPREAD, ComparisonOutcome.WITHIN, ComparisonOutcome.SAME)
    return "Past its limit in one run alone" if usual and compared.crossed_in else TITLES[compared.outcome]


def verdict(comparison: Comparison) -> VerdictBlock:
    """Return the block with the answer of a comparison, and the sentences that support the answer."""
    kind = answer(comparison)
    first, *sentences = account(comparison)
    return VerdictBlock(ANSWERS[kind], first, _KINDS[kind], tuple(sentences))


def blocks(
    comparison: Comparison, zone: Zone | None = None, charts: Overlaid | None = None, *, brief: bool = False
) -> Iterator[Block | VerdictBlock]:
    """Build the blocks on one run compared with the baseline; with `brief`, only what fits a terminal's screen.

    Times are in `zone`, by default the zone of each run's logs.
    """
    yield verdict(comparison)
    for outcome, most in (_BRIEF_ROWS if brief else _ROWS).items():
        for heading, signals in group_pairs((result_of(signal), signal) for signal in comparison.of(outcome)).items():
            groups = by_signal(signals)
            drawn = list(_charts(comparison, groups[: _DRAWN.get(outcome, 0)], charts))
            yield Section(heading, (_table(groups, heading, most), *drawn), noun="signals")
    if charts is not None and (same := unchanged(comparison)[:_MOST_SAME]):
        drawn = [ChartBlock(chart.chart, "small", chart.title) for chart in _charts(comparison, _singly(same), charts)]
        yield Section("What did not change", (_table(_singly(same), "What did not change"), *drawn), fold="open")
    yield from _crossed(comparison, brief=brief)
    if not brief and comparison.load.signals:
        note = f"Loads that differ by less than {percent(comparison.load.tolerance)} are the same."
        yield Section("Load", (_table([[signal] for signal in comparison.load.signals], "Load"),), note=note)
    yield FactList(tuple(_scopes(comparison, zone)))
    if not brief:
        yield from _sections_not_in_brief(comparison)


def summary(comparisons: Sequence[Comparison]) -> Iterator[Block | VerdictBlock]:
    """Build the summary for many runs: an overall answer, then the answer and the reason for each run."""
    answers = [answer(comparison) for comparison in comparisons]
    kinds = (Answer.WORSE, Answer.UNKNOWN, Answer.NOT_WORSE)
    counts = [f"{answers.count(kind)} {ANSWERS[kind].removesuffix('.').lower()}" for kind in kinds if kind in answers]
    gravest = next(kind for kind in kinds if kind in answers)
    baselines = listed([side.name for side in comparisons[0].baselines], _MOST_NAMES)
    head = f"Of {counted(len(answers), 'run')}, compared with {baselines}: {', '.join(counts)}."
    yield VerdictBlock(ANSWERS[gravest], head, _KINDS[gravest])
    yield FactList(
        tuple(
            (f"{ANSWERS[kind]:10} {comparison.second.name}", short(_reason(comparison), _REASON))
            for comparison, kind in zip(comparisons, answers, strict=True)
        )
    )


def runs_section(comparisons: Sequence[Comparison]) -> Section:
    """Build the run table: a column for each run, and a row for each measure in the table of the OCS study."""
    runs = run_table(comparisons)
    rows = tuple((name, *(run.cells.get(name, "–") for run in runs)) for name in columns(runs))
    heads = (Column(""), *(Column(run.side.name) for run in runs))
    title = "Runs (ramp-up / steady, where the phases are known)"
    return Section(
        title, (DocumentTable(heads, rows, "Runs", style="runs", brief=len(rows)),), anchor="runs", menu="Runs"
    )


def signals_section(comparisons: Sequence[Comparison]) -> Section:
    """Build the tables of all signals by run and phase (folded), and lists of signals that only one run recorded."""
    parts = [part for comparison in comparisons for part in _signals(comparison)]
    return Section("All signals", (Paragraph(_METHOD, "note"), *parts), anchor="signals", menu="All signals")


def markdown_blocks(comparisons: Sequence[Comparison]) -> Iterator[Block | VerdictBlock]:
    """Build the summary for a pull request: the answers, their reasons, and the signals that became worse or better."""
    for comparison in comparisons:
        result = answer(comparison)
        baselines = ", ".join(side.name for side in comparison.baselines)
        sentences = [*account(comparison), *map(breach_sentence, crossings(comparison)[:_MOST_MARKDOWN])]
        name = f"{comparison.second.name} compared with {baselines}"
        yield VerdictBlock(ANSWERS[result], name, _KINDS[result], tuple(sentences))
        if groups := by_signal(comparison.of(ComparisonOutcome.REGRESSION, ComparisonOutcome.IMPROVEMENT)):
            yield _table(groups, "Worse and better", _MOST_MARKDOWN, results=True)


def suites(comparisons: Sequence[Comparison]) -> list[Suite]:
    """Build a suite for each compared run: a check of the answer, and a check of each signal on each host.

    The check of a signal fails if a critical signal became worse; it is skipped if there are too few samples to tell.
    """
    return [
        Suite(
            f"{comparison.second.name} compared with {comparison.first.name}",
            [_answer_check(comparison), *_checks(comparison)],
        )
        for comparison in comparisons
    ]


def signed(value: float, unit: str) -> str:
    """Return a difference as text with its sign: `+12 /s` or `−3 points`."""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{quantity(abs(value), unit)}"


def _singly(signals: Sequence[Compared]) -> list[list[Compared]]:
    return [[signal] for signal in signals]


def _scopes(comparison: Comparison, zone: Zone | None) -> Iterator[tuple[str, str]]:
    yield "Baseline", _scope(comparison.first, zone)
    if comparison.earlier:
        names = listed([side.name for side in reversed(comparison.earlier)], _MOST_NAMES)
        yield "Earlier", f"{counted(len(comparison.earlier), 'earlier run')} of the baseline: {names}"
    yield "Compared", _scope(comparison.second, zone)
    remark = f"; {comparison.hosts.remark}" if comparison.hosts.remark else ""
    yield "Judged in", f"{comparison.phase.name}{remark}"
    if comparison.set_differently:
        yield "Set differently", listed([changed.text for changed in comparison.set_differently], _MOST_NAMES)


def _scope(side: RunSide, zone: Zone | None) -> str:
    name = "" if side.review.run.name == side.name else f"{side.name} · "
    return f"{name}{scope(side.review, zone or side.review.zone)}"


def _reason(comparison: Comparison) -> str:
    load, worse, _ = story(comparison)
    if answer(comparison) == Answer.UNKNOWN:
        return f"{'; '.join(doubts(comparison))}."
    return f"{load} {worse}" if comparison.load.throughput_lost else worse


def _table(
    groups: Sequence[Sequence[Compared]], label: str, most: int = _MOST_ROWS, *, results: bool = False
) -> DocumentTable:
    """Return a table with a row for each group of signals, on the host or instance that changed most in the group."""
    rows = tuple(_row(group, results=results) for group in groups[:most])
    heads = (*_HEADS[:2], Column("Result"), *_HEADS[2:]) if results else _HEADS
    return DocumentTable(heads, rows, label, style="signals", hidden=max(0, len(groups) - most))


def _row(group: Sequence[Compared], *, results: bool = False) -> tuple[str, ...]:
    first, value = group[0], len(group) - 1
    where = short(place(first), _PLACE) + (f" (and {value} more)" if value else "")
    result = (result_of(first),) if results else ()
    return first.signal.title, where, *result, *_cells(first)


def _cells(compared: Compared) -> tuple[str, str, str, str, str]:
    """Return the cells of a signal: both values, the change, the 95 % interval of the difference, effective samples."""
    unit = compared.signal.unit
    points = "points" if unit == "%" else unit
    low, high = compared.interval
    effective = [number(round(level.mean.effective)) for level in (compared.first, compared.second)]
    return (
        quantity(compared.before, unit),
        quantity(compared.second.mean.mean, unit),
        change_text(compared),
        f"{signed(low, points)} to {signed(high, points)}",
        " and ".join(effective),
    )


def _charts(
    comparison: Comparison, groups: Sequence[Sequence[Compared]], charts: Overlaid | None
) -> Iterator[ChartBlock]:
    """Yield a chart for each group of signals; it overlays the first signal of the group in both runs."""
    for at, group in enumerate(groups if charts else ()):
        first = group[0]
        if charts and (chart := charts.add(comparison, first)):
            text = moved(first) if first.outcome in DIFFERENT else "did not change"
            name = f"{title(first)} of {place(first)} {text}"
            yield ChartBlock(chart, "full" if at < _FULL_CHARTS else "small", f"{name[:1].upper()}{name[1:]}")


def _crossed(comparison: Comparison, *, brief: bool) -> Iterator[Section]:
    """Yield sections on limits crossed in only one run; unless `brief`, also on limits crossed in both.

    The latter section includes limits crossed in one run and not judged in the other.
    """
    thresholds, most = comparison.thresholds, _BRIEF_CROSSED if brief else _MOST_CROSSED
    baseline = comparison.first.called if not comparison.earlier else "the baseline"
    for side, findings in (
        (comparison.second.called, _crossed_alone(comparison, 1)),
        (baseline, _crossed_alone(comparison, 0)),
    ):
        if findings:
            limits: list[Text] = [
                (("", finding.rule.severity), f" {breach_sentence(finding)}") for finding in findings[:most]
            ]
            heading, hidden = f"Limits crossed only in {side}", max(0, len(findings) - most)
            yield Section(heading, (Bullets(tuple(limits)),), hidden=hidden, noun="limits")
    texts = (
        ("Crossed in both", [second for _, second in thresholds.both]),
        ("Crossed in one run, and not judged in the other", list(thresholds.unjudged)),
    )
    notes = [
        Paragraph(
            f"{text}: {_names([f'{finding.signal.title} ({threshold(finding)})' for finding in findings])}.", "note"
        )
        for text, findings in texts
        if findings
    ]
    if notes and not brief:
        yield Section("Other crossed limits", tuple(notes))


def _crossed_alone(comparison: Comparison, side: int) -> list[Finding]:
    """Return the limits that only the compared run crossed (side 1), or only the baseline, in all its runs (side 0)."""

    def of(other: Comparison) -> dict[object, Finding]:
        findings = (other.thresholds.only_first, other.thresholds.only_second)[side]
        return {(finding.rule.id, finding.subject and finding.subject.key): finding for finding in findings}

    others = [of(other) for other in comparison.against]
    return [finding for key, finding in of(comparison).items() if all(key in other for other in others)]


def _sections_not_in_brief(comparison: Comparison) -> Iterator[Section]:
    """Yield sections left out in brief: worse in other phases, unclear, unchanged, hidden by means, not compared."""
    for phase, worse in comparison.also_worse():
        heading = f"Worse in the {phase.name} phase alone"
        yield Section(heading, (_table(by_signal(worse), heading, _ROWS[ComparisonOutcome.CHANGE]),), noun="signals")
    for outcome in (ComparisonOutcome.UNCLEAR, ComparisonOutcome.WITHIN, ComparisonOutcome.SAME):
        # Signals that crossed a limit in one run alone are left out, even if their means hardly differ.
        if groups := by_signal(comparison.within_limits(outcome)):
            yield Section(TITLES[outcome], (Paragraph(_names([group[0].signal.title for group in groups]), "note"),))
    yield from _bullets(
        "Beyond the means", [distribution_change_text(reshaped) for reshaped in comparison.reshaped], "signals"
    )
    counters = comparison.unassigned_counters
    shown = [*counters.costs, *(counter for counter in counters.changed if counter not in counters.costs)]
    yield from _bullets(
        "Counters without a signal that changed", [counter_text(counter) for counter in shown], "counters"
    )
    if notes := list(_not_compared_sentences(comparison)):
        yield Section("Not compared", tuple(Paragraph(text, "note") for text in notes))


def _bullets(heading: str, texts: Sequence[str], text: str) -> Iterator[Section]:
    if texts:
        hidden = max(0, len(texts) - _MOST_CROSSED)
        yield Section(heading, (Bullets(tuple(texts[:_MOST_CROSSED])),), hidden=hidden, noun=text)


def _names(names: Sequence[str]) -> str:
    return listed(list(dict.fromkeys(names)), _MOST_NAMES)


def _not_compared_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield sentences on what could not be compared: counters, sums, signals and hosts that only one run has."""
    if text := not_compared(comparison):
        yield text
    if comparison.integrating:
        names = _names([signal.title for signal in comparison.integrating])
        yield f"Not compared by their means, as they add up over time: {names}."
    sides = (comparison.first, comparison.second)
    for side, lone in zip(sides, comparison.lone, strict=True):
        if lone:
            yield f"Recorded only in {side.called}: {_names([f'{lone.signal.title} ({lone.host})' for lone in lone])}."
    for side, hosts in zip(sides, comparison.hosts.alone, strict=True):
        if hosts:
            yield f"Only {side.called} has the hosts {listed(hosts, _MOST_NAMES)}."
    yield from (f"{proposed(comparison, proposal)}." for proposal in comparison.proposals[:_MOST_CROSSED])


def _signals(comparison: Comparison) -> Iterator[Section]:
    """Yield a folded table of all signals for each phase, changed signals first; then lists of lone signals.

    A lone signal was recorded in only one of the two runs.
    """
    name = comparison.second.name
    for phase in comparison.phases:
        signals = comparison.in_phase(phase)
        text = phase.name
        if phase.first and phase.second:
            lengths = [duration_text(part.end - part.start) for part in (phase.first, phase.second)]
            text = f"{phase.name}: {' and '.join(dict.fromkeys(lengths))}"
        changed = [[signal] for signal in signals if signal.outcome in DIFFERENT]
        rest = [[signal] for signal in signals if signal.outcome not in DIFFERENT]
        parts: list[Block] = [_table(changed, f"{name} {text}", results=True)] if changed else []
        if rest:
            table = _table(rest, f"{name} {text}, unchanged", results=True)
            count = f"{number(len(rest))} that did not change, or of which it cannot be told"
            parts.append(Section("", (table,), fold="closed", style="unchanged", summary=count))
        fold = "open" if phase is comparison.phase else "closed"
        yield Section(name, tuple(parts), fold=fold, summary=text)
    for side, lone in zip((comparison.first, comparison.second), comparison.lone, strict=True):
        if lone:
            names = tuple(f"{lone.signal.title} ({', '.join((lone.host, *lone.instances))})" for lone in lone)
            count = number(len(names))
            yield Section(f"Recorded only in {side.called}", (Bullets(names),), fold="closed", summary=count)


def _answer_check(comparison: Comparison) -> DocumentCheck:
    """Return the check of the answer: an error if unknown, failed if the run is worse and no other check says so."""
    result, name, sentences = answer(comparison), "the run is not worse", story(comparison)
    output = tuple(sentences)
    if result == Answer.UNKNOWN:
        return DocumentCheck("comparison", name, "error", "not-known", "; ".join(doubts(comparison)), output=output)
    if comparison.load.throughput_lost:
        return DocumentCheck("comparison", name, "failed", "throughput", sentences[0], output=output)
    if result == Answer.WORSE and not critical(comparison):
        return DocumentCheck("comparison", name, "failed", "worse", sentences[1], output=output)
    return DocumentCheck("comparison", name, output=output)


def _checks(comparison: Comparison) -> Iterator[DocumentCheck]:
    """Yield a check for each signal on each host: failed, skipped or passed."""
    groups = group_pairs(((signal.name, signal.subject.host), signal) for signal in comparison.judged)
    for (signal, host), signals in groups.items():
        group, name, output = signal.partition(".")[0], f"{signal} on {host}", tuple(map(_line, signals))
        failed = [
            compared
            for compared in signals
            if compared.outcome == ComparisonOutcome.REGRESSION and compared.treatment.critical
        ]
        if failed:
            message = f"{title(failed[0])} of {place(failed[0])} {moved(failed[0])}"
            yield DocumentCheck(group, name, "failed", "regression", message, tuple(map(_line, failed)), output)
        elif all(compared.outcome == ComparisonOutcome.UNCLEAR for compared in signals):
            yield DocumentCheck(group, name, "skipped", message="too few samples to tell", output=output)
        else:
            yield DocumentCheck(group, name, output=output)


def _line(compared: Compared) -> str:
    first, second, change, interval, effective = _cells(compared)
    change = f" ({change})" if change else ""
    return (
        f"{place(compared)}: {result_of(compared).lower()}: {first} to {second}{change}, difference {interval} "
        f"(95 %), {effective} independent samples"
    )


def lines(
    comparisons: Sequence[Comparison], zone: Zone | None = None, width: int | None = None, *, all_of_it: bool = True
) -> Iterator[Line]:
    """Yield the comparisons as lines of a terminal, of many only the answers; unless `all_of_it`, about a screenful.

    Times are in `zone`, by default the zone of each run's logs. Tables fit the `width`; without `width`, the output
    does not go to a terminal.
    """
    if len(comparisons) > (_MOST_IN_FULL if all_of_it else 1):
        yield from render_lines(summary(comparisons), width)
    else:
        for at, comparison in enumerate(comparisons):
            if at:
                yield ()
            yield from render_lines(blocks(comparison, zone, brief=not all_of_it), width)
    if not all_of_it:
        yield ()
        yield ((_REST, "dim"),)
        return
    if len(comparisons) > _MOST_IN_FULL:
        yield ((f"  {_MANY}", "dim"),)
    yield from render_lines([runs_section(comparisons)], width)


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the summary of each comparison as Markdown, for example for a pull request."""
    name = name_of(comparisons)
    return render_markdown(Document("comparison", name, name, tuple(markdown_blocks(comparisons))))
