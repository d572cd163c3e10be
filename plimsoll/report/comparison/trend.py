"""The changes over a series of runs as lines of a terminal, Markdown and JUnit XML."""

from collections.abc import Iterator
from math import isfinite

from plimsoll.comparison.trend import FEWEST_BEFORE, Change, Course, HistoryTrend
from plimsoll.model.document import (
    Block,
    Column,
    Document,
    DocumentCheck,
    DocumentTable,
    Paragraph,
    Suite,
    VerdictBlock,
)
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.styled import Line
from plimsoll.model.value_text import format_percent, format_value
from plimsoll.report.comparison.tables import format_signed
from plimsoll.report.render.junit import render_junit
from plimsoll.report.render.markdown import render_markdown
from plimsoll.report.render.terminal import render_lines

_MOST_ROWS = 15
_MOST_NAMES = 6
_COLUMNS = ("", "Since run", "Signal", "Where", "Change", "Difference of the levels")


def format_lines(trend: HistoryTrend) -> Iterator[Line]:
    """Return lines of a terminal: the answer, then the changes, the latest first."""
    return render_lines(_build_blocks(trend))


def format_markdown(trend: HistoryTrend) -> str:
    """Return Markdown: the answer, and a table of the changes."""
    return render_markdown(Document("comparison", "HistoryTrend", "HistoryTrend", tuple(_build_blocks(trend))))


def format_junit(trend: HistoryTrend) -> str:
    """Return JUnit XML: a case on whether changes can be told, then a case for each signal of a host or instance.

    The first case is an error if there are too few runs to tell. The case of a signal fails if the latest change of the
    signal is for the worse; the message names the first run on the new level.
    """
    unknown = not trend.changes and not trend.can_tell
    first = DocumentCheck(
        "trend",
        "a change could be told",
        "error" if unknown else "passed",
        "not-known" if unknown else "",
        next(describe_limits(trend)) if unknown else "",
        output=(f"{answer(trend)} {describe_scope(trend)}", *describe_limits(trend)),
    )
    name = f"{trend.runs[0].name} to {trend.runs[-1].name}"
    return render_junit("plimsoll runs trend", [Suite(name, [first, *map(_check, trend.courses)])])


def is_worse(trend: HistoryTrend) -> bool:
    """Return whether a signal became worse."""
    return any(change.is_worse for change in trend.changes)


def answer(trend: HistoryTrend) -> str:
    """Return the answer in two words: `Became worse.`"""
    if not trend.changes:
        return "Nothing changed." if trend.can_tell else "Not known."
    return "Became worse." if is_worse(trend) else "Became better."


def describe_scope(trend: HistoryTrend) -> str:
    """Return a sentence on what was examined: the numbers of changes, signals and runs."""
    runs = f"{format_count(len(trend.runs), 'run')}, {trend.runs[0].name} to {trend.runs[-1].name}"
    growing = "what grows with every operation is compared with the load"
    signals = f"{format_count(len(trend.courses), 'signal')} of {runs}; {growing}."
    return f"{format_count(len(trend.changes), 'change')} in {signals}" if trend.changes else signals


def describe_limits(trend: HistoryTrend) -> Iterator[str]:
    """Yield sentences on signals that were not examined, and on changes too small or too recent to see."""
    if not len(trend.courses):
        yield "No signal of which one direction is worse is in all runs."
    elif not trend.can_tell:
        yield f"Too few runs, or too unlike, to tell a change of one of {format_count(len(trend.courses), 'signal')}."
    if trend.partly:
        names = join_names(list(dict.fromkeys(signal.title for _, signal, _ in trend.partly)), _MOST_NAMES)
        yield f"Not looked at, as not all runs have them: {names}."
    half, most = trend.visible(0.5), trend.visible(1.0)
    if isfinite(half):
        sizes = f"of half of the signals by {format_percent(half)} or more"
        sizes += f", of all by {format_percent(most)}" if isfinite(most) else ""
        first, last = trend.runs[FEWEST_BEFORE].name, trend.runs[-FEWEST_BEFORE].name
        yield f"A change since one of the runs from {first} to {last} could be seen {sizes}."
    yield "A change of the last two runs shows once there is a third."


def describe_change(change: Change) -> str:
    """Return a change in words: `rose from 40 % to 46 % (+15 %; 95 %: +5 points to +7 points)`."""
    return f"{_format_levels(change)} ({_format_difference(change)})"


def _build_blocks(trend: HistoryTrend) -> Iterator[Block | VerdictBlock]:
    """Yield the verdict, a table of the changes, and sentences on what was not examined or cannot be seen."""
    yield VerdictBlock(answer(trend), describe_scope(trend), "critical" if is_worse(trend) else "healthy")
    if trend.changes:
        rows = tuple(
            (
                "worse" if change.is_worse else "better",
                change.run.name,
                change.signal.title,
                str(change.subject),
                _format_levels(change),
                _format_difference(change),
            )
            for change in trend.changes[:_MOST_ROWS]
        )
        yield DocumentTable(tuple(map(Column, _COLUMNS)), rows)
    if (value := len(trend.changes) - _MOST_ROWS) > 0:
        yield Paragraph(f"{format_count(value, 'more change')}, of earlier runs, in the JSON.", "note")
    yield from (Paragraph(text, "note") for text in describe_limits(trend))


def _check(course: Course) -> DocumentCheck:
    group, name = course.name.partition(".")[0], f"{course.name} on {course.subject}"
    texts = tuple(
        f"since {change.run.name}: {change.signal.title} {describe_change(change)}" for change in course.changes
    )
    if course.changes and course.changes[-1].is_worse:
        return DocumentCheck(group, name, "failed", "regression", texts[-1], output=texts)
    return DocumentCheck(group, name, output=texts or ("no change",))


def _format_levels(change: Change) -> str:
    before, after = change.point.before, change.point.after
    verb = "rose" if after > before else "fell"
    return f"{verb} from {format_value(before, change.signal.unit)} to {format_value(after, change.signal.unit)}"


def _format_difference(change: Change) -> str:
    before, after = change.point.before, change.point.after
    share = f"{'+' if after > before else '−'}{format_percent(abs(after / before - 1))}; " if before else ""
    unit = "points" if change.signal.unit == "%" else change.signal.unit
    return f"{share}95 %: {format_signed(change.interval.low, unit)} to {format_signed(change.interval.high, unit)}"
