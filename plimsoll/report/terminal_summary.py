"""The review as terminal text: the answer first, on one screen; its details by choice."""

from collections.abc import Iterator, Sequence

from plimsoll.insights.insights import Insights
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted, listed
from plimsoll.model.styled import Line, rows_of
from plimsoll.model.times import Zone
from plimsoll.report.first_screen import first_screen
from plimsoll.report.render.terminal import answer_lines
from plimsoll.report.terminal_details import UNJUDGED, by_signal, details, dim, head, rows, title, unjudged_titles, when
from plimsoll.report.wording import crossed_summary, host_of, never_tested, phases_text, scope
from plimsoll.review.findings import JUDGED, Outcome
from plimsoll.review.review import Review
from plimsoll.review.verdict import Group, Verdict

_VERDICT_STYLE = {Verdict.HEALTHY: "bold", Verdict.NOT_HEALTHY: "bold red", Verdict.UNKNOWN: "bold yellow"}
_WIDTH = 120  # where results do not go to a terminal
_MOST_ROWS = 40  # of one host
_MOST_ROWS_OF_MANY = 60  # of twenty hosts and more
_MANY = 20
_MOST_NAMES = 3
_NOT_CROSSED = (
    (Outcome.TOO_SHORT, "Recorded too briefly to judge"),
    (Outcome.HELD, "Within limits, nearest first"),
)
_REST = f"{Parameter.DETAILS} prints the rest; {Parameter.OUT} writes a report with all of it."


# How much is shown: crossed signals with their times, more of them in a line, signals within limits, insights.
_ROOMS = (
    *((8, 12, 8, 3), (6, 10, 6, 2), (5, 8, 5, 1), (4, 6, 4, 1), (3, 6, 4, 0)),
    *((3, 4, 3, 0), (2, 3, 3, 0), (1, 3, 2, 0), (1, 1, 1, 0), (1, 0, 0, 0)),
)


def lines(
    insights: Insights, zone: Zone | None = None, width: int | None = None, *, all_of_it: bool = False
) -> Iterator[Line]:
    """Yield the review line by line: at most 40 rows of a terminal for one host and 60 for many, or `all_of_it`.

    Times are in `zone`, by default the log's own. Tables fit the `width`; without one, the lines are for no terminal.
    """
    zone = zone or insights.review.zone
    if all_of_it:
        yield from answer(insights, zone)
        yield from details(insights, zone, width or 2 * _WIDTH)
        return
    hosts = len(insights.review.hosts)
    most = min(_MOST_ROWS_OF_MANY, _MOST_ROWS + (_MOST_ROWS_OF_MANY - _MOST_ROWS) * (hosts - 1) // (_MANY - 1))
    shown: list[Line] = []
    for room in _ROOMS:
        shown = [*answer(insights, zone), *_brief(insights, zone, width or _WIDTH, room)]
        if rows_of(shown, width or _WIDTH) <= most:
            break
    yield from shown


def in_brief(insights: Insights) -> Iterator[Line]:
    """Yield a run in two lines: its verdict, and the cause or what was judged."""
    review = insights.review
    name = (f"{review.run.name}: ",) if review.run.name else ()
    yield *name, (review.word, _VERDICT_STYLE[review.verdict]), f" {crossed_summary(review.findings)}"
    yield (f"  {first_screen(insights).cause or review.coverage.text}",)


def answer(insights: Insights, zone: Zone) -> Iterator[Line]:
    """Yield the verdict, the cause, what to look at next, and what was judged."""
    review = insights.review
    yield (review.word, _VERDICT_STYLE[review.verdict]), f" {review.answer}"
    first = first_screen(insights)
    if first.cause:
        yield ((first.cause, "bold"),)
    if first.next:
        yield (first.next,)
    yield (f"{crossed_summary(review.findings)} · {review.coverage.text}",)
    yield (dim(scope(review, zone)),)
    if phases := phases_text(review, zone):
        yield (dim(phases),)


def _brief(insights: Insights, zone: Zone, width: int, room: tuple[int, int, int, int]) -> Iterator[Line]:
    review, (full, heads, nearest, beside) = insights.review, room
    severe = [group for group in review.groups if group.worst.severe]
    if severe:
        yield ()
        yield from _crossed(review, severe, zone, full, heads)
    for outcome, heading in _NOT_CROSSED:
        findings = [finding for finding in review.of(outcome) if not never_tested(finding)]
        if findings and nearest:
            yield from title(heading)
            groups = by_signal(findings)
            yield from rows(groups[:nearest], width)
            if (value := len(groups) - nearest) > 0:
                yield (dim(f"  {counted(value, 'more signal')}"),)
    answers = [line for section in insights.sections("beside", zone) for line in answer_lines(section.blocks)]
    if answers and beside:
        yield from title("Also seen")
        yield from answers[:beside]
    yield ()
    if notes := _notes(review):
        yield (dim(notes),)
    for outcome, heading in UNJUDGED:
        judged = {(finding.rule.signal, host_of(finding)) for finding in review.findings if finding.outcome in JUDGED}
        if unjudged := [
            finding for finding in review.of(outcome) if (finding.rule.signal, host_of(finding)) not in judged
        ]:
            names = listed(list(unjudged_titles(unjudged, len(review.hosts))), _MOST_NAMES)
            yield (dim(f"{heading}: {names}."),)
    yield (dim(_REST),)


def _notes(review: Review) -> str:
    """Return what was crossed and does not count, in a line; empty if there is nothing of the kind."""
    names = [group.worst.signal.title for group in review.groups if not group.worst.severe]
    parts = [f"Notes (info): {listed(names, _MOST_NAMES)}"] if names else []
    old = dict.fromkeys(finding.signal.title for finding in review.set_aside)
    parts += [f"Old limits, not counted: {listed(list(old), _MOST_NAMES)}"] if old else []
    return ". ".join(parts) + "." if parts else ""


def _crossed(review: Review, groups: Sequence[Group], zone: Zone, full: int, heads: int) -> Iterator[Line]:
    for group in groups[:full]:
        yield head(group)
        yield (f"    {when(review, group.worst, zone)}. {group.worst.rule.summary}",)
    for group in groups[full : full + heads]:
        yield head(group)
    if (value := len(groups) - full - heads) > 0:
        yield (dim(f"{counted(value, 'more signal')} crossed"),)
