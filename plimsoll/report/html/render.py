"""The review as one HTML file that loads nothing else."""

from dataclasses import dataclass

from plimsoll.charts.chart import Charts
from plimsoll.insights.insights import Insights
from plimsoll.model.document import Document
from plimsoll.model.times import Zone
from plimsoll.model.value_text import number
from plimsoll.report.first_screen import FirstScreen, first_screen
from plimsoll.report.html import cover
from plimsoll.report.html.crossed import crossed
from plimsoll.report.html.gauge import level_of, water
from plimsoll.report.html.matrix import matrix
from plimsoll.report.html.not_crossed import NotCrossed
from plimsoll.report.html.statistics_table import statistics
from plimsoll.report.html.unjudged import unjudged
from plimsoll.report.phases_text import phases_text
from plimsoll.report.render.html import render_page
from plimsoll.report.wording import condition_text, crossed_summary, host_of, never_tested, old_limits, scope, threshold
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.review.review import Review
from plimsoll.review.sentences import how_long, place, worst_crossed, worst_text
from plimsoll.review.verdict import Verdict
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.wording import limit_text

_MOST_REMARKS = 200
_UNJUDGED = (
    (
        Outcome.TOO_SHORT,
        "Too short, and not met",
        "recorded for less than what counts, and another condition of their rules never held in it",
    ),
    (Outcome.NO_DATA, "No data", "recorded, but without samples that could be judged"),
    (
        Outcome.NOT_JUDGED,
        "Not judged",
        "something that must be known is missing, or their phase does not occur in this run",
    ),
    (Outcome.NOT_RECORDED, "Not recorded", "the rules apply to these hosts, but these logs lack the counters"),
    (Outcome.DOES_NOT_APPLY, "Does not apply", "no host in these logs is of the kind the rules are for"),
    (Outcome.OFF, "Switched off", "plimsoll.toml says not to judge them, and why"),
)


def render(found: Insights, zone: Zone | None = None, now: int | None = None, *, appendix: bool = False) -> str:
    """The report. Times are in `zone`, by default the log's own; `now` (UTC ns) is when it is made.

    With the `appendix` everything is printed on paper, without it the cover and the findings. A screen has all of it.

    Characters that UTF-8 cannot encode (half of a surrogate pair in a counter's name) become question marks.
    """
    review = found.review
    zone = zone or review.zone
    hashes = cover.Hashes(review)
    signals = review.signals
    filled = review.start is not None and review.end is not None
    unsure = review.phases_found.unsure if review.phases_found else ()
    charts = Charts(review.start or 0, review.end or 0, review.phases, zone, unsure=unsure) if filled else None
    sections = crossed(review, zone, signals, charts)
    short, held = (NotCrossed(review, outcome, signals, charts, zone) for outcome in (Outcome.TOO_SHORT, Outcome.HELD))
    first = first_screen(found)
    causes, beside = (tuple(found.sections(place, zone)) for place in ("causes", "beside"))
    title = f"{review.word} {_name(review)}"
    document = Document("review", title, _name(review), (*causes, *beside), simulated=review.run.simulated)
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
        headline=review.answer,
        verdict_class=_verdict_class(review),
        water=_named_water(first),
        crossed_summary=crossed_summary(review.findings),
        coverage=_sentence(review.coverage.text),
        scope=scope(review, zone),
        first=first,
        phases=phases_text(review, zone),
        summaries=cover.summaries(review),
        sections=[one for one in sections if one.severity != "info"],
        notes=[one for one in sections if one.severity == "info"],
        old_limits=old_limits(review.set_aside),
        short=short,
        held=held,
        matrix=matrix(review, lambda one: _link(one, short, held)),
        overridden=[
            dict.fromkeys((f.signal.title, f.override.note) for f in review.of(outcome) if f.override)
            for outcome in (Outcome.TOO_SHORT, Outcome.HELD)
        ],
        causes=causes,
        beside=beside,
        statistics=statistics(review, signals, zone),
        unjudged=[
            (title, text, len(some), unjudged(review, some))
            for outcome, title, text in _UNJUDGED
            if (some := _not_judged(review, outcome))
        ],
        rules=_rules(review),
        remarks=review.remarks[:_MOST_REMARKS],
        hosts=cover.hosts(review),
        files=cover.files(review, zone, hashes),
        threshold=threshold,
        place=place,
        how_long=how_long,
        worst=_worst,
    )


def _sentence(clause: str) -> str:
    """`Both thresholds that apply were judged.`"""
    return f"{clause[:1].upper()}{clause[1:]}."


@dataclass(frozen=True)
class _RuleEntry:
    """One rule in the list of rules."""

    rule: Rule
    pack: str
    signal: Signal
    limit: str
    condition: str
    look_at: str
    overrides: tuple[str, ...]


def _rules(review: Review) -> list[_RuleEntry]:
    signals = review.question.signals
    overridden: dict[str, dict[str, dict[str, None]]] = {}  # hosts by rule and note
    for finding in review.findings:
        if finding.override:
            notes = overridden.setdefault(finding.rule.id, {})
            notes.setdefault(finding.override.note, {})[host_of(finding)] = None
    return [
        _RuleEntry(
            rule,
            applied.pack.title,
            signals[rule.signal],
            limit_text(rule.healthy, signals[rule.signal].unit, rule.scale),
            condition_text(rule, signals[rule.signal].unit),
            ", ".join(signals[name].title for name in rule.look_at if name in signals),
            tuple(f"{', '.join(hosts)}: {note}" for note, hosts in overridden.get(rule.id, {}).items()),
        )
        for applied in review.applied
        for rule in applied.pack.rules
    ]


def _name(review: Review) -> str:
    """The name of the report: the run's, else that of its file."""
    count = len(review.logs)
    return review.run.name or (review.logs[0].path.name if count == 1 else f"{number(count)} files")


def _verdict_class(review: Review) -> str:
    """The CSS class of the verdict: the worst severity if the run is not healthy."""
    if review.verdict != Verdict.NOT_HEALTHY:
        return "unknown" if review.verdict == Verdict.UNKNOWN else "healthy"
    severities = {finding.rule.severity for finding in review.of(*CROSSED)}
    return "critical" if "critical" in severities else "warning"


def _not_judged(review: Review, outcome: Outcome) -> list[Finding]:
    """The findings of an outcome that are listed as not judged: of those recorded too briefly, the never tested."""
    return [one for one in review.of(outcome) if outcome != Outcome.TOO_SHORT or never_tested(one)]


def _link(finding: Finding, short: NotCrossed, held: NotCrossed) -> str:
    """The id of what tells more of a finding that was not crossed, or that is an old limit by itself."""
    if finding.outcome in CROSSED:
        return "notes"
    if finding.outcome == Outcome.TOO_SHORT and never_tested(finding):
        return "unjudged"
    return (held if finding.outcome == Outcome.HELD else short).id(finding)


def _named_water(first: FirstScreen) -> str:
    """The gauge next to the verdict, at the value that its sentence names; empty where it names none."""
    named = first.named
    return (water(level_of(named.number, named.healthy)) if named else None) or ""


def _worst(finding: Finding) -> str:
    return worst_text(finding, worst_crossed(finding))
