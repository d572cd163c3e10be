"""The review as terminal text, a screen or two: the verdict first, then what was crossed, held and not judged."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from plimsoll.insights.insights import Insights
from plimsoll.insights.registry import insights
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted, listed, short
from plimsoll.model.styled import Line, Part
from plimsoll.model.times import Zone
from plimsoll.model.value_text import percent, quantity
from plimsoll.report.first_screen import first_screen
from plimsoll.report.wording import (
    crossed_summary,
    extreme,
    host_of,
    margin,
    old_limits_in_brief,
    reason,
    scope,
    spans_text,
    threshold,
    used_by,
)
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.groups import Group
from plimsoll.review.ranking import nearness
from plimsoll.review.review import Review
from plimsoll.review.sentences import crossed_clause, in_phase, place, worst_crossed, worst_text
from plimsoll.review.verdict import Verdict
from plimsoll.rules.severity import COLOURS, MARKS

_VERDICT_STYLE = {Verdict.HEALTHY: "bold", Verdict.NOT_HEALTHY: "bold red", Verdict.UNKNOWN: "bold yellow"}
_UNJUDGED = (
    (Outcome.NO_DATA, "No data"),
    (Outcome.NOT_JUDGED, "Not judged"),
    (Outcome.NOT_RECORDED, "Not recorded in these logs"),
    (Outcome.OFF, "Switched off in plimsoll.toml"),
)
_MOST_IN_FULL = 6  # groups with their details
_MOST_IN_A_LINE = 12  # more groups, a line each
_MOST_HELD = 15
_MOST_SPANS = 3
_MOST_NAMES = 12
_PLACE_WIDTH = 36
_SEE_REPORT = f"{Parameter.OUT} writes a report with all of them"


def lines(found: Insights, zone: Zone | None = None) -> Iterator[Line]:
    """The review line by line. Times are in `zone`, by default the log's own."""
    review = found.review
    zone = zone or review.zone
    yield (review.word, _VERDICT_STYLE[review.verdict]), f" {review.answer}"
    first = first_screen(found)
    if first.cause:
        yield ((first.cause, "bold"),)
    if first.next:
        yield (f"Look at next: {first.next}.",)
    yield (f"{crossed_summary(review.findings)} · {review.coverage.text}",)
    yield (_dim(scope(review, zone)),)
    if review.phases_found and review.phases_found.worth_telling:
        yield (_dim(review.phases_found.sentence),)
    yield from _insights(found, "causes", zone)
    if review.groups:
        yield from _title("Crossed")
        yield from _crossed(review, zone)
    for outcome, title in ((Outcome.TOO_SHORT, "Recorded too briefly to judge"), (Outcome.HELD, "Held")):
        if findings := [one for one in review.of(outcome) if not never_tested(one)]:
            yield from _title(title)
            yield from _table(findings, zone)
    yield from _insights(found, "beside", zone)
    yield from _unjudged(review)
    yield from _packs(review)


def _insights(found: Insights, place: str, zone: Zone) -> Iterator[Line]:
    """The insights of a place; those with one heading under it together."""
    for heading, every in groupby((one for one in insights() if one.heading.place == place), lambda one: one.heading):
        told = [one.told(found.of(one), zone) for one in every]
        if not any(one.lines for one in told):
            continue
        yield from _title(heading.title)
        for one in told:
            yield from one.lines
        if hidden := sum(one.hidden for one in told):
            yield (_dim(f"  {f'{hidden:,} more {told[0].what}'.strip()}; {_SEE_REPORT}"),)


def _title(text: str) -> Iterator[Line]:
    yield ()
    yield ((text, "bold"),)


def _dim(text: str) -> Part:
    return text, "dim"


def _crossed(review: Review, zone: Zone) -> Iterator[Line]:
    for group in review.groups[:_MOST_IN_FULL]:
        yield from _group(group, zone)
    for group in review.groups[_MOST_IN_FULL : _MOST_IN_FULL + _MOST_IN_A_LINE]:
        yield _head(group)
    if (more := len(review.groups) - _MOST_IN_FULL - _MOST_IN_A_LINE) > 0:
        yield (_dim(f"{counted(more, 'more signal')} crossed; {_SEE_REPORT}"),)


def _head(group: Group) -> Line:
    colour, mark, worst = COLOURS[group.severity], MARKS[group.severity], group.worst
    where = place(worst)
    if len(group.hosts) > 1:
        where = f"{group.on_hosts}, worst {where}"
    elif (instances := group.instances_on(host_of(worst))) > 1:
        where = f"{where} (worst of {instances:,})"
    return (
        (f"{mark} {group.severity}", colour),
        "  ",
        (f"{worst.signal.title} · {where}", "bold"),
        f"  worst {worst_text(worst, worst_crossed(worst))}  threshold {threshold(worst)}",
    )


def _group(group: Group, zone: Zone) -> Iterator[Line]:
    worst = group.worst
    sources = "; ".join(dict.fromkeys(f"{source.document}, {source.place}" for source in worst.rule.sources))
    yield _head(group)
    yield (f"    {_when(worst, zone)}",)
    longest = max(worst.counted, key=lambda one: one.duration)
    if processes := used_by(worst, longest.start):
        yield (f"    {processes}",)
    yield f"    {worst.rule.summary}  ", _dim(sources)
    places = list(dict.fromkeys(place(one) for one in group.findings))
    if len(places) > 1:
        yield (f"    also {listed(places[1:], 6)}",)
    for rule in group.rules[1:]:
        other = next(one for one in group.findings if one.rule.id == rule.id)
        yield (_dim(f"    {rule.id} ({rule.severity}, {threshold(other)}): {crossed_clause(other)}"),)
    for note in worst.notes:
        yield (_dim(f"    {note}"),)
    if old := old_limits_in_brief(group):
        yield (_dim(f"    {old}"),)


def _when(finding: Finding, zone: Zone) -> str:
    spans = spans_text(finding.counted, zone, _MOST_SPANS)
    if finding.outcome == Outcome.OFTEN:
        return f"{percent(finding.share_of_time or 0)} of the time{in_phase(finding)}: {spans}"
    return f"{spans}{in_phase(finding)}"


def never_tested(finding: Finding) -> bool:
    """Whether it held only because its other conditions never did, which says nothing of its value."""
    return finding.outcome == Outcome.HELD and math.isnan(finding.nearest)


def _table(found: Sequence[Finding], zone: Zone) -> Iterator[Line]:
    """A line for each signal, nearest to its limit first: the rule and subject that came nearest."""
    by_signal: dict[str, list[Finding]] = {}
    for finding in sorted(found, key=nearness):
        by_signal.setdefault(finding.rule.signal, []).append(finding)
    groups = list(by_signal.values())
    rows = [_row(group) for group in groups[:_MOST_HELD]]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row, group in zip(rows, groups, strict=False):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield (("  " + "  ".join(cells)).rstrip(),)
        nearest = group[0]
        if nearest.brief and nearest.outcome == Outcome.HELD:
            yield (f"      crossed briefly: {spans_text(nearest.brief, zone, _MOST_SPANS)}",)
        reasons = dict.fromkeys(reason(one) for one in group if one.outcome == Outcome.TOO_SHORT and one.undecided)
        for note in (*reasons, *_overridden(group)):
            yield (_dim(f"      {note}"),)
    if (more := len(groups) - _MOST_HELD) > 0:
        yield (_dim(f"  {counted(more, 'more signal')}; {_SEE_REPORT}"),)


def _overridden(alike: Sequence[Finding]) -> Iterator[str]:
    """What plimsoll.toml changed in a rule, with the hosts unless it changed it on all of them."""
    hosts: dict[str, dict[str, None]] = {}
    for finding in alike:
        hosts.setdefault(finding.override.note if finding.override else "", {})[host_of(finding)] = None
    for note, where in hosts.items():
        if note:
            yield note if len(hosts) == 1 else f"{listed(list(where), 6)}: {note}"


def _row(alike: Sequence[Finding]) -> tuple[str, ...]:
    nearest = alike[0]
    places = len({one.subject.key for one in alike if one.subject})
    rules = len({one.rule.id for one in alike})
    return (
        nearest.signal.title,
        short(place(nearest), _PLACE_WIDTH) + (f" (worst of {places:,})" if places > 1 else ""),
        f"{extreme(nearest)} {quantity(_value(nearest), nearest.signal.unit)}",
        threshold(nearest) + (f" (and {counted(rules - 1, 'more limit')})" if rules > 1 else ""),
        margin(nearest) + ("" if nearest.severe else "  info"),
    )


def _value(finding: Finding) -> float:
    """The value the margin is computed from; the worst value if the rule's other conditions never held."""
    return finding.worst if math.isnan(finding.nearest) else finding.nearest


def _unjudged(review: Review) -> Iterator[Line]:
    for outcome, title in _UNJUDGED:
        found = review.of(outcome)
        if not found:
            continue
        yield from _title(title)
        if outcome in (Outcome.NOT_JUDGED, Outcome.OFF):
            by_reason: dict[str, dict[str, None]] = {}
            for one in found:
                by_reason.setdefault(reason(one), {})[f"{one.signal.title} ({one.rule.id}, {place(one)})"] = None
            for why, names in list(by_reason.items())[:_MOST_NAMES]:
                yield (_dim(f"  {listed(list(names), 4)}: {why}"),)
            if (more := len(by_reason) - _MOST_NAMES) > 0:
                yield (_dim(f"  {counted(more, 'more reason')}; {_SEE_REPORT}"),)
        else:
            yield (_dim(f"  {listed(list(_titles(found, len(review.hosts))), _MOST_NAMES)}"),)


def _titles(found: Iterable[Finding], hosts: int) -> Iterator[str]:
    """The signals, with their hosts unless they are all hosts of the run."""
    where: dict[str, dict[str, None]] = {}
    for one in found:
        where.setdefault(one.signal.title, {})[host_of(one)] = None
    for title, names in where.items():
        yield f"{title} ({listed(list(names), 3)})" if len(names) < hosts else title


def _packs(review: Review) -> Iterator[Line]:
    """Which packs were applied to which hosts."""
    used = [applied for applied in review.applied if applied.hosts]
    everywhere = len(review.hosts)
    where = (a.pack.pack if len(a.hosts) == everywhere else f"{a.pack.pack} ({listed(a.hosts, 3)})" for a in used)
    yield ()
    yield (_dim(f"Judged by the packs {', '.join(where)}."),)
