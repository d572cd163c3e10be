"""The review as terminal text: the answer first, on one screen; details on request."""

from collections.abc import Iterable, Iterator, Sequence

from plimsoll.insights.insights import Insights
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import format_count, join_names, shorten
from plimsoll.model.styled import Line, Part, count_cells, count_rows, format_columns
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_percent, format_value
from plimsoll.report.first_screen import build_first_screen
from plimsoll.report.render.terminal import answer_lines, render_lines
from plimsoll.report.wording import (
    describe_extreme,
    describe_phases,
    describe_reason,
    describe_scope,
    describe_spans,
    describe_users,
    find_host,
    format_margin,
    is_never_tested,
    summarize_crossed,
    summarize_old_limits,
)
from plimsoll.review.findings import CROSSED, JUDGED, Finding, Outcome, rank_nearness
from plimsoll.review.review import Review
from plimsoll.review.sentences import (
    describe_crossing,
    describe_length,
    describe_phase,
    find_worst_crossed,
    find_worst_shown,
    format_threshold,
    format_worst,
    name_place,
)
from plimsoll.review.verdict import Group, Verdict, group_sentence
from plimsoll.rules.wording import COLOURS, MARKS

UNJUDGED = (
    (Outcome.NO_DATA, "No data"),
    (Outcome.NOT_JUDGED, "Not judged"),
    (Outcome.NOT_RECORDED, "Not recorded in these logs"),
    (Outcome.OFF, "Switched off in plimsoll.toml"),
)
_PLACE_WIDTH = 36
_SHORT_PLACE = 20
_MOST_IN_FULL = 6  # groups with their details
_MOST_IN_A_LINE = 12  # more groups, a line each
_MOST_HELD = 15
_MOST_SPANS = 3
_MOST_UNJUDGED = 12
_SEE_REPORT = f"{Parameter.OUT} writes a report with all of them"
_VERDICT_STYLE = {Verdict.HEALTHY: "bold", Verdict.NOT_HEALTHY: "bold red", Verdict.UNKNOWN: "bold yellow"}
_WIDTH = 120  # where results do not go to a terminal
_MOST_ROWS = 40  # of one host
_MOST_ROWS_OF_MANY = 60  # of twenty hosts and more
_MANY = 20
_MOST_NAMES = 3
_REST = f"{Parameter.DETAILS} prints the rest; {Parameter.OUT} writes a report with all of it."
# How many are shown: crossed signals with their times, with one line each, signals within limits, insights.
_ROOMS = (
    *((8, 12, 8, 3), (6, 10, 6, 2), (5, 8, 5, 1), (4, 6, 4, 1), (3, 6, 4, 0)),
    *((3, 4, 3, 0), (2, 3, 3, 0), (1, 3, 2, 0), (1, 1, 1, 0), (1, 0, 0, 0)),
)


def format_lines(
    insights: Insights, zone: Zone | None = None, width: int | None = None, *, all_of_it: bool = False
) -> Iterator[Line]:
    """Yield the review line by line: all of it, or at most 40 rows of a terminal for one host, and 60 for many hosts.

    Times are in `zone`, by default the log's own. Tables fit the `width`; without `width`, the output does not go to a
    terminal.
    """
    zone = zone or insights.review.zone
    if all_of_it:
        yield from answer(insights, zone)
        yield from list_details(insights, zone, width or 2 * _WIDTH)
        return
    hosts = len(insights.review.computers)
    most = min(_MOST_ROWS_OF_MANY, _MOST_ROWS + (_MOST_ROWS_OF_MANY - _MOST_ROWS) * (hosts - 1) // (_MANY - 1))
    shown: list[Line] = []
    first, not_crossed = [*answer(insights, zone)], [*_group_not_crossed(insights.review)]
    beside = [line for section in insights.sections("beside", zone) for line in answer_lines(section.blocks)]
    for room in _ROOMS:
        shown = [*first, *_list_brief_lines(insights.review, zone, width or _WIDTH, room, not_crossed, beside)]
        if count_rows(shown, width or _WIDTH) <= most:
            break
    yield from shown


def summarize_review(insights: Insights) -> Iterator[Line]:
    """Yield two lines on a run: the verdict, then the cause, else how many thresholds were judged."""
    review = insights.review
    name = (f"{review.run.name}: ",) if review.run.name else ()
    yield *name, (review.word, _VERDICT_STYLE[review.verdict]), f" {summarize_crossed(review.findings)}"
    yield (f"  {build_first_screen(insights).cause or review.coverage.text}",)


def answer(insights: Insights, zone: Zone) -> Iterator[Line]:
    """Yield the verdict, the cause, what to look at next, and what was judged."""
    review = insights.review
    first = build_first_screen(insights)
    yield (review.word, _VERDICT_STYLE[review.verdict]), f" {first.headline[0]}"
    if first.headline[1]:
        yield (first.headline[1],)
    if first.cause:
        yield ((first.cause, "bold"),)
    also = (f"Also: {sentence}" for sentence in first.also)
    yield from ((text,) for text in (first.next, first.clients, *also) if text)
    yield (f"{summarize_crossed(review.findings)} · {review.coverage.text}",)
    yield (dim_text(describe_scope(review, zone)),)
    if phases := describe_phases(review, zone):
        yield (dim_text(phases),)


def _list_brief_lines(
    review: Review,
    zone: Zone,
    width: int,
    room: tuple[int, int, int, int],
    not_crossed: Sequence[tuple[str, list[list[Finding]]]],
    beside: Sequence[Line],
) -> Iterator[Line]:
    """Yield lines after the answer; `room` limits crossed signals (full, then short), other signals, and insights."""
    full, heads, nearest, most_beside = room
    severe = [group for group in review.groups if group.worst.severe]
    if severe:
        yield ()
    for at, group in enumerate(severe[: full + heads]):
        yield format_group(group)
        if at < full:
            yield (f"    {describe_time(group.worst, zone)}. {group.worst.rule.summary}",)
            if not at and (processes := describe_users(group.worst, group.worst.counted.longest(1)[0].start)):
                yield (f"    {processes}",)
    if (value := len(severe) - full - heads) > 0:
        yield (dim_text(f"{format_count(value, 'more signal')} crossed"),)
    for heading, groups in not_crossed:
        if nearest:
            yield from format_heading(heading)
            yield from format_rows(groups[:nearest], width)
            if (value := len(groups) - nearest) > 0:
                yield (dim_text(f"  {format_count(value, 'more signal')}"),)
    if beside and most_beside:
        yield from format_heading("Also seen")
        yield from beside[:most_beside]
    yield ()
    if notes := _summarize_notes(review):
        yield (dim_text(notes),)
    for outcome, heading in UNJUDGED:
        judged = {(finding.rule.signal, find_host(finding)) for finding in review.findings if finding.outcome in JUDGED}
        if unjudged := [
            finding for finding in review.of(outcome) if (finding.rule.signal, find_host(finding)) not in judged
        ]:
            names = join_names(list(list_unjudged_titles(unjudged, len(review.computers))), _MOST_NAMES)
            yield (dim_text(f"{heading}: {names}."),)
    yield (dim_text(_REST),)


def _summarize_notes(review: Review) -> str:
    """Return a line on crossings that the verdict does not count; empty if there are none."""
    notes = [group_sentence(group).removesuffix(".") for group in review.groups if not group.worst.severe]
    parts = [f"Notes (info): {join_names(notes, _MOST_NAMES)}"] if notes else []
    old = dict.fromkeys(finding.signal.title for finding in review.set_aside)
    parts += [f"Old limits, not counted: {join_names(list(old), _MOST_NAMES)}"] if old else []
    return ". ".join(parts) + "." if parts else ""


def list_details(insights: Insights, zone: Zone, width: int) -> Iterator[Line]:
    """Yield the lines of everything after the first screen, with tables that fit the `width`."""
    review = insights.review
    yield from render_lines(insights.sections("causes", zone))
    if groups := [group for group in review.groups if group.worst.severe]:
        yield from format_heading("Crossed")
        for group in groups[:_MOST_IN_FULL]:
            yield from _group(group, zone)
        for group in groups[_MOST_IN_FULL : _MOST_IN_FULL + _MOST_IN_A_LINE]:
            yield format_group(group)
        if (value := len(groups) - _MOST_IN_FULL - _MOST_IN_A_LINE) > 0:
            yield (dim_text(f"{format_count(value, 'more signal')} crossed; {_SEE_REPORT}"),)
    yield from _list_note_groups(review, zone)
    for heading, groups in _group_not_crossed(review):
        yield from format_heading(heading)
        yield from _format_table(groups, zone, width)
    yield from render_lines(insights.sections("beside", zone))
    yield from _list_unjudged(review)
    used = [applied for applied in review.applied if applied.hosts]
    everywhere = len(review.computers)
    where = (a.pack.pack if len(a.hosts) == everywhere else f"{a.pack.pack} ({join_names(a.hosts, 3)})" for a in used)
    if used:
        yield ()
        yield (dim_text(f"Judged by the packs {', '.join(where)}."),)


def _list_note_groups(review: Review, zone: Zone) -> Iterator[Line]:
    """Yield lines on crossings that the verdict does not count: crossings of severity info, and replaced old limits."""
    groups = [group for group in review.groups if not group.worst.severe]
    old = summarize_old_limits(review.set_aside)
    if groups or old:
        yield from format_heading("Notes, which the verdict does not count")
    for group in groups[:_MOST_IN_FULL]:
        yield from _group(group, zone)
    for group in groups[_MOST_IN_FULL:]:
        yield format_group(group)
    if old:
        yield (dim_text(f"  {old}"),)


def _group(group: Group, zone: Zone) -> Iterator[Line]:
    """Yield the lines on a crossed signal: when, by which processes, the meaning, the source, and other subjects."""
    worst = group.worst
    sources = "; ".join(dict.fromkeys(f"{source.document}, {source.place}" for source in worst.rule.sources))
    yield format_group(group)
    yield (f"    {describe_time(worst, zone)}",)
    longest = worst.counted.longest(1)[0]
    if processes := describe_users(worst, longest.start):
        yield (f"    {processes}",)
    yield f"    {worst.rule.summary}  ", dim_text(sources)
    places = list(dict.fromkeys(name_place(finding) for finding in group.findings))
    if len(places) > 1:
        yield (f"    also {join_names(places[1:], 6)}",)
    for rule in group.rules[1:]:
        other = next(finding for finding in group.findings if finding.rule.id == rule.id)
        yield (dim_text(f"    {rule.id} ({rule.severity}, {format_threshold(other)}): {describe_crossing(other)}"),)
    for note in worst.notes:
        yield (dim_text(f"    {note}"),)
    if old := summarize_old_limits(group.not_counted):
        yield (dim_text(f"    {old}"),)


def describe_time(finding: Finding, zone: Zone) -> str:
    """Return when a limit was crossed; if it never fired, also for what share of the time."""
    spans = describe_spans(zone, finding, finding.counted, _MOST_SPANS)
    if finding.outcome == Outcome.OFTEN:
        return f"{format_percent(finding.share_of_time or 0)} of the time{describe_phase(finding)}: {spans}"
    return f"{spans}{describe_phase(finding)}"


def _group_not_crossed(review: Review) -> Iterator[tuple[str, list[list[Finding]]]]:
    """Yield each heading on uncrossed limits with the findings of each signal below it, nearest to the limit first.

    A limit is left out for a subject that crossed another limit of the same signal, or of its free space.
    """
    crossed = {(finding.rule.signal, finding.subject, finding.severe) for finding in review.of(*CROSSED)}
    short = {finding.subject for finding in review.of(*CROSSED) if finding.signal.resource == "space"}

    def signals(outcome: Outcome) -> list[list[Finding]]:
        findings = [finding for finding in review.of(outcome) if not is_never_tested(finding)]
        return group_by_signal(
            finding
            for finding in findings
            if not any((finding.rule.signal, finding.subject, of) in crossed for of in (True, finding.severe))
            and not (finding.signal.resource == "space" and finding.subject in short)
        )

    within = signals(Outcome.WITHIN)
    for heading, groups in (
        ("Recorded too briefly to judge", signals(Outcome.TOO_SHORT)),
        ("Crossed too briefly to count", [group for group in within if group[0].brief]),
        ("Within limits, least room first", [group for group in within if not group[0].brief]),
    ):
        if groups:
            yield heading, groups


def _format_table(groups: Sequence[Sequence[Finding]], zone: Zone, width: int) -> Iterator[Line]:
    """Yield a line for each signal, nearest to its limit first, with the rule and subject that came nearest.

    Below the line are brief crossings, overrides, and reasons why the signal was recorded too briefly.
    """
    for row, group in zip(format_rows(groups[:_MOST_HELD], width), groups, strict=False):
        yield row
        nearest = group[0]
        if nearest.crossed_briefly and nearest.outcome == Outcome.WITHIN:
            yield (f"      crossed: {describe_spans(zone, nearest, nearest.brief, _MOST_SPANS)}",)
        reasons = dict.fromkeys(
            describe_reason(finding) for finding in group if finding.outcome == Outcome.TOO_SHORT and finding.undecided
        )
        for note in (*reasons, *_list_overridden(group)):
            yield (dim_text(f"      {note}"),)
    if (value := len(groups) - _MOST_HELD) > 0:
        yield (dim_text(f"  {format_count(value, 'more signal')}; {_SEE_REPORT}"),)


def _list_overridden(alike: Sequence[Finding]) -> Iterator[str]:
    """Yield what plimsoll.toml changed in a rule; if not the same for all hosts, each change with its hosts."""
    hosts: dict[str, dict[str, None]] = {}
    for finding in alike:
        hosts.setdefault(finding.override.note if finding.override else "", {})[find_host(finding)] = None
    for note, where in hosts.items():
        if note:
            yield note if len(hosts) == 1 else f"{join_names(list(where), 6)}: {note}"


def _list_unjudged(review: Review) -> Iterator[Line]:
    """Yield lines on the rules that were not judged, by outcome and reason."""
    for outcome, heading in UNJUDGED:
        findings = review.of(outcome)
        if not findings:
            continue
        yield from format_heading(heading)
        if outcome in (Outcome.NOT_JUDGED, Outcome.OFF):
            by_reason: dict[str, dict[str, None]] = {}
            for finding in findings:
                name = f"{finding.signal.title} ({finding.rule.id}, {name_place(finding)})"
                by_reason.setdefault(describe_reason(finding), {})[name] = None
            for why, names in list(by_reason.items())[:_MOST_UNJUDGED]:
                yield (dim_text(f"  {join_names(list(names), 4)}: {why}"),)
            if (value := len(by_reason) - _MOST_UNJUDGED) > 0:
                yield (dim_text(f"  {format_count(value, 'more reason')}; {_SEE_REPORT}"),)
        else:
            titles = list(list_unjudged_titles(findings, len(review.computers)))
            yield (dim_text(f"  {join_names(titles, _MOST_UNJUDGED)}"),)


def format_heading(text: str) -> Iterator[Line]:
    """Yield a heading, after an empty line."""
    yield ()
    yield ((text, "bold"),)


def dim_text(text: str) -> Part:
    """Return a text in a dim style."""
    return text, "dim"


def format_group(group: Group) -> Line:
    """Return a line on a crossed signal: severity, title, place, worst value and limit."""
    colour, mark, worst = COLOURS[group.severity], MARKS[group.severity], group.worst
    where = name_place(worst)
    if len(group.hosts) > 1:
        where = f"{group.on_hosts}, worst {where}"
    elif (instances := group.instances_on(find_host(worst))) > 1:
        where = f"{where} (worst of {instances:,})"
    return (
        (f"{mark} {group.severity}", colour),
        "  ",
        (f"{worst.signal.title} · {where}", "bold"),
        f"  {format_worst(worst, find_worst_crossed(worst))}, limit {format_threshold(worst)}",
    )


def group_by_signal(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings by signal, each list with the finding nearest to its limit first."""
    groups = group_pairs((finding.rule.signal, finding) for finding in sorted(findings, key=rank_nearness))
    return list(groups.values())


def format_rows(groups: Sequence[Sequence[Finding]], width: int) -> list[Line]:
    """Return a row for each signal, on the rule and subject nearest to a limit, with as many columns as fit `width`."""
    fitting: list[str] = []
    for table in zip(*map(_list_layouts, groups), strict=True):
        fitting = format_columns(table)
        if all(count_cells(row) <= width for row in fitting):
            break
    return [(row,) for row in fitting]


def _list_layouts(alike: Sequence[Finding]) -> tuple[tuple[str, ...], ...]:
    """Return the cells of a signal's row in five layouts, the widest first."""
    nearest = alike[0]
    name, where, limit = nearest.signal.title, name_place(nearest), format_threshold(nearest)
    value = format_value(find_worst_shown(nearest), nearest.signal.unit)
    is_brief = nearest.brief and nearest.outcome == Outcome.WITHIN
    room = (describe_length(nearest) if is_brief else format_margin(nearest)) + ("" if nearest.severe else "  info")
    subjects = len({finding.subject.key for finding in alike if finding.subject})
    worst_where = shorten(where, _PLACE_WIDTH) + (f" (worst of {subjects:,})" if subjects > 1 else "")
    further = len({finding.rule.id for finding in alike}) - 1
    all_limits = limit + (f" (and {format_count(further, 'more limit')})" if further else "")
    return (
        (name, worst_where, f"{describe_extreme(nearest)} {value}", all_limits, room),
        (name, worst_where, value, limit, room),
        (name, shorten(where, _SHORT_PLACE), value, limit, room),
        (name, value, limit, room),
        (name, value, limit),
    )


def list_unjudged_titles(findings: Iterable[Finding], hosts: int) -> Iterator[str]:
    """Yield the titles of signals that were not judged, with their hosts unless these are all `hosts` of the run."""
    where: dict[str, dict[str, None]] = {}
    for finding in findings:
        where.setdefault(finding.signal.title, {})[find_host(finding)] = None
    for title, names in where.items():
        yield f"{title} ({join_names(list(names), 3)})" if len(names) < hosts else title
