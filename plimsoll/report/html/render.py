"""The review as one self-contained HTML file."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from plimsoll.charts.chart import Charts
from plimsoll.insights.insights import Insights
from plimsoll.model.document import Document
from plimsoll.model.times import Zone
from plimsoll.report.first_screen import build_first_screen
from plimsoll.report.html.appendix import (
    MOST_FILES,
    build_basis,
    build_hosts_table,
    build_statistics,
    build_unjudged,
    format_digest,
)
from plimsoll.report.html.crossed import CrossedSections
from plimsoll.report.html.gauge import compute_level, compute_value_level, draw_water
from plimsoll.report.html.matrix import build_matrix
from plimsoll.report.html.not_crossed import NotCrossed
from plimsoll.report.render.html import render_page
from plimsoll.report.wording import (
    describe_phases,
    describe_place,
    describe_scope,
    is_never_tested,
    list_old_limits,
    summarize_crossed,
)
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.review.review import Review
from plimsoll.review.sentences import (
    describe_breach,
    describe_length,
    describe_worst_reduction,
    find_worst_crossed,
    format_threshold,
    format_worst,
    name_place,
)
from plimsoll.review.verdict import Verdict

_MOST_ON_COVER = 3  # hosts, and files


def render(insights: Insights, zone: Zone | None = None, now: int | None = None, *, appendix: bool = False) -> str:
    """Return the report as HTML. Times are in `zone`, by default the log's own; `now` (UTC ns) is its time of creation.

    A screen shows everything. A printout has the cover and the findings; with `appendix`, everything.
    """
    review = insights.review
    zone = zone or review.zone
    hashed = ThreadPoolExecutor().map(format_digest, review.logs[:MOST_FILES])  # while the report is made
    signals = review.signals
    filled = review.start is not None and review.end is not None
    unsure = review.phases_found.unsure if review.phases_found else ()
    charts = Charts(review.start or 0, review.end or 0, review.phases, zone, unsure=unsure) if filled else None
    sections = CrossedSections(review, zone, signals, charts).sections()
    short, not_crossed = (
        NotCrossed(review, outcome, signals, charts, zone) for outcome in (Outcome.TOO_SHORT, Outcome.WITHIN)
    )
    first = build_first_screen(insights)
    causes, beside = (tuple(insights.sections(place, zone)) for place in ("causes", "beside"))
    title = f"{review.word} {_name(review)}"
    unjudged_blocks, digests = build_unjudged(review), [*hashed]
    document = Document("review", title, _name(review), (*causes, *beside), simulated=review.run.simulated)
    named = next(iter(first.evidence), None)
    is_critical = any(finding.rule.severity == "critical" for finding in review.of(*CROSSED))
    crossed_class = "critical" if is_critical else "warning"
    return render_page(
        document,
        charts,
        zone=zone.label(review.start or 0),
        now=now,
        template="report.html.j2",
        review=review,
        appendix=appendix,
        span=zone.span,
        verdict_text=review.word,
        headline=first.headline,
        verdict_class={Verdict.UNKNOWN: "unknown", Verdict.HEALTHY: "healthy"}.get(review.verdict, crossed_class),
        water=(draw_water(compute_value_level(named.number, named.healthy)) if named else None) or "",
        crossed_summary=summarize_crossed(review.findings),
        coverage=f"{review.coverage.text[:1].upper()}{review.coverage.text[1:]}.",
        scope=describe_scope(review, zone, named=False),
        first=first,
        phases=describe_phases(review, zone),
        summaries=[
            (group.severity, f"{group.worst.signal.title}, {describe_place(group)}", describe_breach(group.worst))
            for group in review.groups
            if group.worst.severe
        ],
        sections=[section for section in sections if section["severity"] != "info"],
        notes=[section for section in sections if section["severity"] == "info"],
        old_limits=list_old_limits(review.set_aside),
        short=short,
        held=not_crossed,
        matrix=build_matrix(review, lambda finding: _link(finding, short, not_crossed)),
        overridden=[
            dict.fromkeys((f.signal.title, f.override.note) for f in review.of(outcome) if f.override)
            for outcome in (Outcome.TOO_SHORT, Outcome.WITHIN)
        ],
        causes=causes,
        beside=beside,
        unjudged=unjudged_blocks,
        appendix_blocks=(
            *build_statistics(review, signals, zone),
            *unjudged_blocks,
            *build_basis(review, zone, digests),
        ),
        hosts=replace(build_hosts_table(review, _MOST_ON_COVER, label=""), hidden=0),
        files=[(str(log.path), sha) for log, sha in zip(review.logs[:_MOST_ON_COVER], digests, strict=False)],
        threshold=format_threshold,
        place=name_place,
        how_long=describe_length,
        worst=lambda finding: format_worst(finding, find_worst_crossed(finding)),
        water_of=lambda finding: draw_water(compute_level(finding)),
        reduced=describe_worst_reduction,
    )


def _name(review: Review) -> str:
    """Return the name of the report: the name of the run, else of its only file, else of the folder of its files."""
    paths = [log.path for log in review.logs]
    return review.run.name or (paths[0] if len(paths) == 1 else paths[0].absolute().parent).name


def _link(finding: Finding, short: NotCrossed, not_crossed: NotCrossed) -> str:
    """Return the id of the section that shows a finding outside the sections on crossed signals."""
    if finding.outcome in CROSSED:
        return "notes"
    if finding.outcome == Outcome.TOO_SHORT and is_never_tested(finding):
        return "unjudged"
    return (not_crossed if finding.outcome == Outcome.WITHIN else short).id(finding)
