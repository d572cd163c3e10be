"""The first screen of every report: the cause, the evidence, and what to look at next."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from plimsoll.insights.insights import Insights, LimitedValue, load_insights
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.remark import capitalize
from plimsoll.model.series import make_host_key
from plimsoll.model.value_text import format_value
from plimsoll.report.client_results import describe_client_results
from plimsoll.report.wording import describe_extreme, find_host
from plimsoll.review.findings import CROSSED, JUDGED, Doubt, Finding, Outcome, rank_nearness
from plimsoll.review.review import Review
from plimsoll.review.sentences import find_worst_shown, format_subject_title, format_threshold, limit_of
from plimsoll.review.verdict import Verdict, find_closest
from plimsoll.rules.next_steps import find_step, find_step_of_doubt
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.wording import limit_text

_MOST = 3
_MOST_NEXT = 2
_RECORD = "record the host with the counters that `plimsoll rules counters` lists"
_MOST_WORDS = 25  # of a headline
_CLAUSE = re.compile(r"(?<=[.;]) (?![^(]*\))")


@dataclass(frozen=True)
class EvidenceRow:
    """A value and its limit: as texts, and as numbers (`number`, `healthy`); `text` describes the value."""

    value: str
    limit: str
    text: str
    number: float
    healthy: Healthy


@dataclass(frozen=True)
class FirstScreen:
    """The first part of a report. `cause`, `next` and `clients` are sentences, or empty; `also` are further sentences.

    `headline` is the reason for the verdict: what a reader takes in at once, and the rest. `evidence` begins with the
    value that the verdict's sentence names, and is empty if the sentence names no value.
    """

    headline: tuple[str, str]
    cause: str
    evidence: Sequence[EvidenceRow]
    next: str
    clients: str
    also: Sequence[str]


def build_first_screen(result: Insights) -> FirstScreen:
    """Return what explains the verdict: how near a healthy run came to its limits, or what caused any other verdict."""
    is_healthy, named = result.review.verdict == Verdict.HEALTHY, _find_named(result)
    result = _select_system(result)
    crossed = _select_per_signal(_list_severe(result.review))
    shown = list(_list_evidence(result.review, named, crossed)) if named is not None else []
    text = " ".join(
        text for insight in load_insights() if insight.summary and (text := insight.summary(result.of(insight)))
    ) or (f"What that means: {crossed[0].rule.summary}" if crossed else "")
    headline_says_it = text.removesuffix(".").casefold() in result.review.answer.casefold()
    step = _find_next_step(result, crossed)
    advice = next((doubt.advice for doubt in result.review.doubts[:1] if step in (doubt.step, doubt.advice)), None)
    reason, coverage = result.review.reasons[0], result.review.coverage
    judged = f"{coverage.judged:,} of {coverage.thresholds:,} thresholds"  # the line on the coverage has it
    return FirstScreen(
        headline=split_headline(reason.replace(f"; {advice}.", ".") if advice else reason),
        cause="" if is_healthy or headline_says_it else text,
        evidence=shown[:_MOST],
        next=f"Next: {step}." if step else "",
        clients=describe_client_results(result.review),
        also=[sentence for sentence in result.review.reasons[1:] if judged not in sentence],
    )


def split_headline(text: str) -> tuple[str, str]:
    """Return as much of a headline as a reader takes in at once, and the rest as sentences of its own."""
    parts = _CLAUSE.split(text)
    words = list(accumulate(len(part.split()) for part in parts))
    count = max(1, sum(total <= _MOST_WORDS for total in words))
    head, rest = " ".join(parts[:count]), " ".join(parts[count:])
    return f"{head[:-1]}." if rest else head, capitalize(rest)


def _find_named(result: Insights) -> Finding | LimitedValue | None:
    """Return the worst crossing, nearest finding or doubted value that the verdict's sentence names; else None."""
    review = result.review
    match review.verdict:
        case Verdict.NOT_HEALTHY:
            return _list_severe(_select_system(result).review)[0]
        case Verdict.HEALTHY:
            return find_closest(review.findings)
        case Verdict.UNKNOWN:
            about = (doubt.about for doubt in review.doubts if doubt.about)
            shown = (
                insight.doubted_value(result.of(insight))
                for insight in load_insights()
                if insight.doubted_value and review.insight_doubts
            )
            return next(about, None) or next((limited_value for limited_value in shown if limited_value), None)


def _list_evidence(review: Review, named: Finding | LimitedValue, crossed: Sequence[Finding]) -> Iterator[EvidenceRow]:
    """Yield the named value first, then the other crossings; without crossings, the values nearest to their limits."""
    if isinstance(named, LimitedValue):
        value, limit = format_value(named.value, named.unit), limit_text(named.healthy, named.unit)
        yield EvidenceRow(value, limit, named.description, named.value, named.healthy)
    findings = (named,) if isinstance(named, Finding) else ()
    yield from map(_make_evidence_row, _select_per_signal((*findings, *(crossed or _list_nearest(review)))))


def _select_system(result: Insights) -> Insights:
    """Return the insights of a single host if the hosts are not one system, as no host's load explains another host.

    The host is that of the worst crossing, else the host that an insight names as short of a resource.
    """
    review = result.review
    if not review.is_apart or review.verdict == Verdict.HEALTHY:
        return result
    hosts = [finding.subject.host for finding in _list_severe(review) if finding.subject] or [
        host for _, host in _list_short_resources(result)
    ]
    return Insights(review.only(hosts[0])) if hosts else result


def _list_severe(review: Review) -> list[Finding]:
    return [finding for finding in review.of(*CROSSED) if finding.severe]


def _list_short_resources(result: Insights) -> list[tuple[str, str]]:
    """Return a resource and a host for each insight that names the resource of the host as the cause."""
    return [named for insight in load_insights() if insight.short and (named := insight.short(result.of(insight)))]


def _select_per_signal(findings: Sequence[Finding]) -> list[Finding]:
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.rule.signal, finding)
    return list(first.values())


def _list_nearest(review: Review) -> list[Finding]:
    """Return the findings within their limits, the finding with the least room first."""
    severe = [finding for finding in review.of(Outcome.WITHIN) if finding.severe]
    return sorted((near for near in severe if near.room is not None and not near.signal.fact), key=rank_nearness)


def _make_evidence_row(finding: Finding) -> EvidenceRow:
    worst = find_worst_shown(finding)
    within = " within the crossings that count" if finding.outcome in CROSSED and worst != finding.worst else ""
    text = f"{format_subject_title(finding)}, {describe_extreme(finding)}{within}"
    return EvidenceRow(
        format_value(worst, finding.signal.unit), format_threshold(finding), text, worst, limit_of(finding)
    )


def _find_next_step(result: Insights, crossed: Sequence[Finding]) -> str:
    """Return what to do next: about the bottleneck or the leak, else about the worst crossing, else about the doubt."""
    review = result.review
    steps = (step for insight in load_insights() if insight.step and (step := insight.step(result.of(insight))))
    step = next(steps, "").removesuffix(".")
    step = step[:1].lower() + step[1:]
    if crossed:
        finding = _select_of_cause(result, crossed) or crossed[0]
        return "; ".join(filter(None, (step or _find_step_of(finding, review), _look_at(review, finding))))
    if review.verdict == Verdict.HEALTHY:
        return step
    doubt = next(iter(review.doubts), Doubt(""))
    current = [finding for finding in review.of(*JUDGED) if not finding.superseded_by]
    finding = _select_of_cause(result, current) if doubt in review.insight_doubts else doubt.about
    about = finding and _find_step_of(finding, review)
    return step or doubt.step or find_step_of_doubt(doubt.sentence) or doubt.advice or about or _RECORD


def _find_step_of(finding: Finding, review: Review) -> str:
    return find_step(finding.rule, find_host(finding) if len(review.computers) > 1 else "")


def _select_of_cause(result: Insights, findings: Sequence[Finding]) -> Finding | None:
    """Return the first finding, worst first, on a resource that an insight names as the cause; None without one."""
    causes = {(resource, make_host_key(host)) for resource, host in _list_short_resources(result)}
    for finding in findings:
        resource = finding.signal.resource or (finding.signal.pressure and finding.signal.pressure.resource)
        if finding.subject and (resource, make_host_key(finding.subject.host)) in causes:
            return finding
    return None


def _look_at(review: Review, finding: Finding) -> str:
    """Return which other signals to look at, and when the limit was crossed, or to record if none of them was."""
    signals, spans = review.question.signals, finding.counted.longest(1)
    names = [name for name in finding.rule.look_at if name in signals]
    recorded = [name for name in names if review.signals.on(name, find_host(finding))]
    titles = ", ".join(signals[name].title for name in (recorded or names)[:_MOST_NEXT])
    if not recorded or not spans:
        return f"record {titles}, too" if titles else ""
    start, end = (review.clock(review.zone, instant) for instant in (spans[0].start, spans[0].end))
    return f"look at {titles} from {start} to {end}"
