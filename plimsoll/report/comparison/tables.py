"""Tables of the signals of a comparison."""

from collections.abc import Iterator, Sequence

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.compared_signal import DIFFERENT, Compared, ComparisonOutcome
from plimsoll.comparison.sentences import describe_change, name_place
from plimsoll.model.document import Block, Bullets, Column, DocumentTable, Paragraph, Section, Text
from plimsoll.model.remark import shorten
from plimsoll.model.times import format_duration
from plimsoll.model.value_text import format_percent, format_value, number
from plimsoll.review.sentences import format_threshold

TITLES = {
    ComparisonOutcome.REGRESSION: "Worse",
    ComparisonOutcome.IMPROVEMENT: "Better",
    ComparisonOutcome.CHANGE: "Changed",
    ComparisonOutcome.LOAD: "As the load, or the size of the host, lets expect",
    ComparisonOutcome.SPREAD: "Differs, as runs of one build may",
    ComparisonOutcome.WITHIN: "Differs, but by less than the tolerance",
    ComparisonOutcome.UNCLEAR: "Too few samples to tell",
    ComparisonOutcome.SAME: "No difference that matters",
}
_FIRST_ROWS = 5
_MOST_ROWS = 400
_PLACE = 36  # characters
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


def describe_result(compared: Compared) -> str:
    """Return the outcome of a signal in words; a change past a limit in only one run is not called usual."""
    usual = compared.outcome in (ComparisonOutcome.SPREAD, ComparisonOutcome.WITHIN, ComparisonOutcome.SAME)
    return "Past its limit in one run alone" if usual and compared.crossed_in else TITLES[compared.outcome]


def build_table(
    groups: Sequence[Sequence[Compared]], label: str, most: int = _MOST_ROWS, *, results: bool = False
) -> DocumentTable:
    """Return a table with a row for each group of signals; the row shows the host or instance that changed most."""
    rows = tuple(_build_row(group, results=results) for group in groups[:most])
    heads = (*_HEADS[:2], Column("Result"), *_HEADS[2:]) if results else _HEADS
    return DocumentTable(heads, rows, label, style="signals", hidden=max(0, len(groups) - most))


def build_first_rows(comparison: Comparison, groups: Sequence[Sequence[Compared]], label: str) -> Iterator[Block]:
    """Yield a table of the signals that became worse most, with why each counts; then the other signals, folded."""
    heads = (*_HEADS[:5], Column("Why it counts"))
    rows = tuple((*_build_row(group)[:5], _explain_weight(comparison, group[0])) for group in groups)
    yield DocumentTable(heads, rows[:_FIRST_ROWS], label, style="signals")
    if rest := rows[_FIRST_ROWS:]:
        table = DocumentTable(heads, rest, f"{label}, the rest", style="signals")
        yield Section("", (table,), fold="closed", style="unchanged", summary=f"{number(len(rest))} more became worse")


def build_signals_section(comparisons: Sequence[Comparison]) -> Section:
    """Build the tables of all signals by run and phase (folded), and lists of signals that only one run recorded."""
    parts = [part for comparison in comparisons for part in _build_signal_sections(comparison)]
    return Section("All signals", (Paragraph(_METHOD, "note"), *parts), anchor="signals", menu="All signals")


def format_cells(compared: Compared) -> tuple[str, str, str, str, str]:
    """Return the cells of a signal: both values, the change, the 95 % interval of the difference, effective samples."""
    unit = compared.signal.unit
    points = "points" if unit == "%" else unit
    low, high = compared.interval
    effective = [number(round(level.mean.effective)) for level in (compared.first, compared.second)]
    return (
        format_value(compared.before, unit),
        format_value(compared.second.mean.mean, unit),
        describe_change(compared),
        f"{format_signed(low, points)} to {format_signed(high, points)}",
        " and ".join(effective),
    )


def format_signed(value: float, unit: str) -> str:
    """Return a difference as text with its sign: `+12 /s` or `−3 points`."""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{format_value(abs(value), unit)}"


def _build_signal_sections(comparison: Comparison) -> Iterator[Section]:
    """Yield a folded table of all signals for each phase, changed signals first; then lists of lone signals.

    A lone signal was recorded in only one of the two runs.
    """
    name = comparison.second.name
    for phase in comparison.phases:
        signals = comparison.in_phase(phase)
        text = phase.name
        if phase.first and phase.second:
            lengths = [format_duration(part.end - part.start) for part in (phase.first, phase.second)]
            text = f"{phase.name}: {' and '.join(dict.fromkeys(lengths))}"
        changed = [[signal] for signal in signals if signal.outcome in DIFFERENT]
        rest = [[signal] for signal in signals if signal.outcome not in DIFFERENT]
        parts: list[Block] = [build_table(changed, f"{name} {text}", results=True)] if changed else []
        if rest:
            table = build_table(rest, f"{name} {text}, unchanged", results=True)
            count = f"{number(len(rest))} that did not change, or of which it cannot be told"
            parts.append(Section("", (table,), fold="closed", style="unchanged", summary=count))
        fold = "open" if phase is comparison.phase else "closed"
        yield Section(name, tuple(parts), fold=fold, summary=text)
    for side, lone in zip((comparison.first, comparison.second), comparison.lone, strict=True):
        if lone:
            names = tuple(f"{lone.signal.title} ({', '.join((lone.host, *lone.instances))})" for lone in lone)
            count = number(len(names))
            yield Section(f"Recorded only in {side.called}", (Bullets(names),), fold="closed", summary=count)


def _explain_weight(comparison: Comparison, compared: Compared) -> Text:
    """Return why a signal that became worse counts: a limit crossed in this run alone, else the tolerance."""
    findings = (finding for finding in comparison.thresholds.only_second if finding.rule.signal == compared.name)
    if compared.crossed_in == "other" and (finding := next(findings, None)):
        return (("", finding.rule.severity), f" limit {format_threshold(finding)}, crossed in this run alone")
    tolerance = format_percent(compared.treatment.tolerance)
    return f"more than the {tolerance} tolerated" if compared.treatment.critical else "a sign of it"


def _build_row(group: Sequence[Compared], *, results: bool = False) -> tuple[str, ...]:
    first, value = group[0], len(group) - 1
    where = shorten(name_place(first), _PLACE) + (f" (and {value} more)" if value else "")
    result = (describe_result(first),) if results else ()
    return first.signal.title, where, *result, *format_cells(first)
