"""The review on a terminal: the verdict first, a line for each breach, then what held and what could not be judged."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape

from model.errors import printable
from model.remark import counted
from model.times import Zone, words
from review.findings import Finding, Outcome
from review.numbers import quantity
from review.review import Review
from review.verdict import Verdict, extreme, in_phase, margin, said, tally, threshold, worst_text
from review.wording import MARKS, WITH_REASON, host_of, lasted, place, reason, scope, used_by

_COLOURS = {"critical": "red", "warning": "yellow", "info": "cyan"}
_VERDICT_STYLE = {Verdict.HEALTHY: "bold", Verdict.NOT_HEALTHY: "bold red", Verdict.UNKNOWN: "bold yellow"}
_JUDGED = (
    (Outcome.TOO_SHORT, "Crossed, but recorded too briefly to tell"),
    (Outcome.HELD, "Held"),
)
_UNJUDGED = (
    (Outcome.NO_DATA, "No data"),
    (Outcome.NOT_JUDGED, "Not judged"),
    (Outcome.NOT_RECORDED, "Not recorded in these logs"),
    (Outcome.OFF, "Switched off in plimsoll.toml"),
)


def show(review: Review, console: Console, zone: Zone | None = None) -> None:
    """Print a review. Times are in `zone`, by default the log's own."""
    for line in lines(review, zone or review.zone):
        for part in line.split("\n"):
            console.print(printable(part), soft_wrap=True, highlight=False)


def lines(review: Review, zone: Zone) -> Iterator[str]:
    """The review line by line, in rich's markup."""
    style = _VERDICT_STYLE[review.verdict]
    yield f"[{style}]{said(review.verdict)}[/] {escape(review.answer)}"
    yield tally(review.findings)
    yield f"[dim]{escape(scope(review, zone))}[/]"
    crossed = review.of(Outcome.CROSSED)
    if crossed:
        yield "\n[bold]Crossed[/]"
        for finding in crossed:
            yield from _breaches(finding, zone)
    for outcome, title in _JUDGED:
        if found := review.of(outcome):
            yield f"\n[bold]{title}[/]"
            yield from _table(found)
    yield from _unjudged(review)
    yield from _packs(review)


def _breaches(finding: Finding, zone: Zone) -> Iterator[str]:
    colour, mark = _COLOURS[finding.rule.severity], MARKS[finding.rule.severity]
    sources = "; ".join(f"{source.document}, {source.place}" for source in finding.rule.sources)
    for one in finding.breaches:
        yield (
            f"[{colour}]{mark} {finding.rule.severity}[/]  "
            f"[bold]{escape(f'{finding.signal.title} · {place(finding)}')}[/]  "
            f"{zone.span(one.start, one.end)} ({lasted(one.duration)}){in_phase(finding)}  "
            f"worst {worst_text(finding, one.worst)}  threshold {threshold(finding)}  [dim]{escape(sources)}[/]"
        )
        if processes := used_by(finding, one.start):
            yield f"    {escape(processes)}"
    yield f"    {escape(finding.rule.summary)}"
    for note in finding.notes:
        yield f"    [dim]{escape(note)}[/]"


def _table(held: Sequence[Finding]) -> Iterator[str]:
    """A line for each rule, nearest to its limit first: of several subjects the one nearest the limit."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in held:
        by_rule.setdefault(finding.rule.id, []).append(finding)
    rows = [_row(alike) for alike in by_rule.values()]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row, alike in zip(rows, by_rule.values(), strict=True):
        cells = (escape(cell.ljust(width)) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()
        reasons = dict.fromkeys(reason(one) for one in alike if one.outcome == Outcome.TOO_SHORT)
        for note in (*reasons, *_overridden(alike)):
            yield f"      [dim]{escape(note)}[/]"


def _overridden(alike: Sequence[Finding]) -> Iterator[str]:
    """What plimsoll.toml did to a rule, with the hosts it did so for where those are not all."""
    hosts: dict[str, dict[str, None]] = {}
    for finding in alike:
        hosts.setdefault(finding.override.note if finding.override else "", {})[host_of(finding)] = None
    for note, where in hosts.items():
        if note:
            yield note if len(hosts) == 1 else f"{', '.join(where)}: {note}"


def _row(alike: Sequence[Finding]) -> tuple[str, ...]:
    nearest = alike[0]
    brief = [one for finding in alike for one in finding.brief if finding.outcome == Outcome.HELD]
    longest = max((one.duration for one in brief), default=0)
    return (
        nearest.signal.title,
        place(nearest) + (f" (worst of {len(alike)})" if len(alike) > 1 else ""),
        f"{extreme(nearest)} {quantity(nearest.worst, nearest.signal.unit)}",
        threshold(nearest),
        margin(nearest),
        f"{counted(len(brief), 'brief crossing')}{f', longest {words(longest)}' if longest else ''}" if brief else "",
    )


def _unjudged(review: Review) -> Iterator[str]:
    for outcome, title in _UNJUDGED:
        found = review.of(outcome)
        if not found:
            continue
        names: dict[str, list[str]] = {}
        for finding in found:
            names.setdefault(finding.signal.title, []).append(place(finding))
        everywhere = len(review.hosts)
        listed = (
            f"{name} ({', '.join(places)})" if len(places) < everywhere else name for name, places in names.items()
        )
        yield f"\n[bold]{title}[/]"
        if outcome in WITH_REASON:
            yield from (f"  [dim]{escape(line)}[/]" for line in dict.fromkeys(map(_with_reason, found)))
        else:
            yield f"  [dim]{escape(', '.join(listed))}[/]"


def _with_reason(finding: Finding) -> str:
    return f"{finding.signal.title} ({place(finding)}): {reason(finding)}"


def _packs(review: Review) -> Iterator[str]:
    """Which packs were applied to which hosts, and why the others were not."""
    used = [applied for applied in review.applied if applied.hosts]
    unused = [applied for applied in review.applied if not applied.hosts]
    everywhere = len(review.hosts)
    where = (a.pack.pack if len(a.hosts) == everywhere else f"{a.pack.pack} ({', '.join(a.hosts)})" for a in used)
    yield f"\n[dim]Judged by the packs {escape(', '.join(where))}.[/]"
    if unused:
        yield f"[dim]Do not apply: {escape('; '.join(f'{a.pack.pack} ({a.why})' for a in unused))}.[/]"
