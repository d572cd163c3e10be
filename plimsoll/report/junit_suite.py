"""The review as JUnit XML for build servers: a suite for each pack, a check for each rule and host.

A check fails if a warning or critical threshold was crossed or often crossed. A check is skipped, with the reason, if
the rule was not judged for any instance. The time of a check is how long the threshold was crossed. The first suite has
a single check, the verdict: an error if the run is not known to be healthy.
"""

from collections.abc import Iterator, Sequence

from plimsoll.model.document import DocumentCheck, Suite
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, Zone
from plimsoll.report.render.junit import render_junit
from plimsoll.report.wording import describe_reason, describe_users, find_host, format_lasting
from plimsoll.review.doubts import join_doubts
from plimsoll.review.findings import CROSSED, JUDGED, Finding, Outcome
from plimsoll.review.review import Review
from plimsoll.review.sentences import describe_breach, describe_phase, format_threshold, format_worst, name_place
from plimsoll.review.verdict import Verdict

_SKIPPED = {
    Outcome.TOO_SHORT: "recorded too briefly to judge",
    Outcome.NO_DATA: "no data: recorded, but without samples that could be judged",
    Outcome.NOT_JUDGED: "not judged",
    Outcome.NOT_RECORDED: "not recorded in these logs",
    Outcome.DOES_NOT_APPLY: "does not apply",
    Outcome.OFF: "switched off in plimsoll.toml",
}


def format_junit(review: Review, zone: Zone | None = None) -> str:
    """Return the review as JUnit XML. Times in messages are in `zone`, by default the log's own."""
    zone = zone or review.zone
    cases: dict[str, dict[tuple[str, str], list[Finding]]] = {applied.pack.pack: {} for applied in review.applied}
    for finding in review.findings:
        host = make_host_key(find_host(finding))
        cases[finding.pack.pack].setdefault((finding.rule.id, host), []).append(finding)
    suites = [Suite("verdict", [_build_verdict_check(review)], review.start)]
    for applied in review.applied:
        order = {rule.id: at for at, rule in enumerate(applied.pack.rules)}
        of_pack = sorted(cases[applied.pack.pack].items(), key=lambda item: (order[item[0][0]], item[0][1]))
        checks = [_check(findings, applied.why, zone) for _, findings in of_pack]
        suites.append(Suite(applied.pack.pack, checks, review.start))
    return render_junit("plimsoll", suites, timed=True)


def _build_verdict_check(review: Review) -> DocumentCheck:
    group, name, output = "verdict", "the run can be judged", (review.headline, review.coverage.text)
    if not review.doubts and review.verdict != Verdict.UNKNOWN:
        return DocumentCheck(group, name, output=output)
    message = join_doubts(review.doubts) if review.doubts else review.answer
    return DocumentCheck(group, name, "error", "not-known", message, output=output)


def _check(findings: Sequence[Finding], why: str, zone: Zone) -> DocumentCheck:
    """Return the check of one rule on one host; `findings` are the findings of all instances, worst first."""
    first = findings[0]
    crossed = [finding for finding in findings if finding.outcome in CROSSED]
    details, others = tuple(_list_details(crossed, zone)), tuple(_list_other_findings(findings))
    name = f"{first.rule.id} on {first.subject.host}" if first.subject else first.rule.id
    longest = max(int(finding.counted.durations.sum()) for finding in findings) / SECOND
    if any(finding.severe for finding in crossed):
        text = f" (and {len(crossed) - 1} more)" if len(crossed) > 1 else ""
        message = f"{describe_breach(crossed[0])}{text}"
        return DocumentCheck(first.pack.pack, name, "failed", first.rule.severity, message, details, others, longest)
    if not any(finding.outcome in JUDGED for finding in findings):
        return DocumentCheck(first.pack.pack, name, "skipped", message=_join_reasons(findings, why))
    return DocumentCheck(first.pack.pack, name, output=(*details, *others), duration_s=longest)


def _list_details(crossed: Sequence[Finding], zone: Zone) -> Iterator[str]:
    """Yield every breach of every instance: when, how long, worst value, threshold; then the rule's sources."""
    for finding in crossed:
        threshold = f"{format_threshold(finding)}{describe_phase(finding)}"
        yield f"{finding.signal.title}, {name_place(finding)}: threshold {threshold}"
        for crossing in finding.counted:
            when = f"{zone.span(crossing.start, crossing.end)} ({format_lasting(crossing.duration)})"
            yield f"  {when}, worst {format_worst(finding, crossing.worst)}"
            if processes := describe_users(finding, crossing.start):
                yield f"    {processes}"
        yield from (f"  {note}" for note in finding.notes)
    if crossed:
        rule = crossed[0].rule
        yield rule.summary
        yield from (f"source: {source.document}, {source.place}" for source in rule.sources)


def _list_other_findings(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield lines on the instances that crossed no limit: overrides, and reasons why the rule was not judged."""
    for finding in findings:
        if finding.outcome == Outcome.WITHIN:
            if finding.override:
                yield f"{name_place(finding)}: {finding.override.note}"
        elif finding.outcome not in CROSSED:
            because = f": {describe_reason(finding)}" if describe_reason(finding) else ""
            yield f"{name_place(finding)}: {_SKIPPED[finding.outcome]}{because}"


def _join_reasons(findings: Sequence[Finding], why: str) -> str:
    """Return the reasons why no instance was judged."""
    reasons: dict[str, None] = {}
    for finding in findings:
        because = why if finding.outcome == Outcome.DOES_NOT_APPLY else describe_reason(finding)
        reasons[_SKIPPED[finding.outcome] + (f": {because}" if because else "")] = None
    return "; ".join(reasons)
