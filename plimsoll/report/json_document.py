"""Fills the JSON document of a review."""

import math
import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plimsoll.insights.insights import Insights, insights
from plimsoll.model.log import Log
from plimsoll.model.times import SECOND, iso
from plimsoll.report.json_phases import found_phases
from plimsoll.report.json_schema import (
    BreachPart,
    BriefPart,
    CoveragePart,
    FilePart,
    GroupPart,
    LogPart,
    OverridePart,
    PackPart,
    PhasePart,
    ProcessPart,
    RemarkPart,
    ReviewDocument,
    RulePart,
    RunPart,
    SourcePart,
    SpanPart,
    StatisticPart,
    ThresholdPart,
    UnjudgedPart,
)
from plimsoll.review.findings import CROSSED, Finding, Outcome, Processes
from plimsoll.review.groups import Group
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.review.statistics import Statistic
from plimsoll.review.verdict import group_sentence
from plimsoll.rules.crossings import Crossing
from plimsoll.rules.severity import SEVERITIES

_MOST_SPANS = 100  # of brief crossings, for each finding


def document(found: Insights) -> ReviewDocument:
    """The review as schema plimsoll.review/1."""
    review = found.review
    with ThreadPoolExecutor() as pool:
        hashes = list(pool.map(lambda log: log.digest, review.logs))
    files = [_file(review, log, digest) for log, digest in zip(review.logs, hashes, strict=True)]
    return ReviewDocument(
        verdict=review.verdict.value,
        headline=review.headline,
        doubts=[one.sentence for one in review.doubts],
        coverage=CoveragePart(
            thresholds=review.coverage.thresholds,
            judged=review.coverage.judged,
            unjudged=[UnjudgedPart(count=u.count, why=u.why, needs=u.fact) for u in review.coverage.unjudged],
            text=review.coverage.text,
        ),
        groups=[_group(one) for one in review.groups],
        counts=_counts(review.findings),
        log=LogPart(
            files=files,
            hosts=list(review.hosts),
            start=_iso(min((log.times[0] for log in review.logs if len(log.times)), default=None)),
            end=_iso(max((log.times[-1] for log in review.logs if len(log.times)), default=None)),
            zone=review.zone.label(review.start or 0) if review.zone.known else None,
            interval_s=_seconds(review.interval),
            samples=sum(file.samples for file in files),
            series=sum(file.series for file in files),
            values=sum(file.values for file in files),
            missing=sum(file.missing for file in files),
        ),
        run=RunPart(name=review.run.name, labels=review.run.labels, simulated=review.run.simulated),
        remarks=[
            RemarkPart(
                kind=r.kind.value,
                text=r.text,
                file=None if r.file is None else _text(r.file),
                line=r.line,
                counter=r.counter,
                count=r.count,
            )
            for r in review.remarks
        ],
        phases=[
            PhasePart(name=p.name, start=iso(p.start), end=iso(p.end), by_hand=review.phases_found is None)
            for p in review.phases
        ],
        phases_found=None if review.phases_found is None else found_phases(review.phases_found, review),
        packs=[PackPart(pack=a.pack.pack, title=a.pack.title, hosts=list(a.hosts), why=a.why) for a in review.applied],
        rules=[_rule(finding) for finding in review.findings],
        statistics=[_statistic(one, review.host_of(one.series)) for one in review.statistics],
        **{insight.json.name: found.of(insight) for insight in insights()},
    )


def _text(path: str | Path) -> str:
    """A path as it is, but for bytes that are not UTF-8, which JSON cannot hold."""
    return os.fsencode(path).decode(errors="replace")


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    """The number of findings by state, and of those that count as crossed by severity."""
    by_outcome = Counter(str(one.outcome) for one in findings)
    by_severity = Counter(one.rule.severity for one in findings if one.outcome in CROSSED)
    return {
        **{severity: by_severity[severity] for severity in SEVERITIES},
        **{str(outcome): by_outcome[str(outcome)] for outcome in Outcome},
    }


def _file(review: Review, log: Log, digest: str | None) -> FilePart:
    filled = len(log.times) > 0
    return FilePart(
        path=_text(log.path),
        sha256=digest,
        format=log.format,
        hosts=list(review.hosts_of(log)),
        start=_iso(log.times[0]) if filled else None,
        end=_iso(log.times[-1]) if filled else None,
        zone=log.zone.label(int(log.times[0]) if filled else 0) if log.zone.known else None,
        interval_s=_seconds(log.interval),
        samples=len(log.times),
        series=len(log.series),
        values=log.present,
        missing=log.missing,
    )


def _group(group: Group) -> GroupPart:
    return GroupPart(
        signal=group.signal,
        title=group.worst.signal.title,
        severity=group.severity,
        hosts=list(group.hosts),
        rules=[rule.id for rule in group.rules],
        not_counted=list(dict.fromkeys(one.rule.id for one in group.not_counted)),
        sentence=group_sentence(group),
    )


def _rule(finding: Finding) -> RulePart:
    rule, documented, subject, track = finding.rule, finding.documented, finding.subject, finding.track
    healthy = limit_of(finding)
    return RulePart(
        pack=finding.pack.pack,
        rule=rule.id,
        signal=rule.signal,
        title=finding.signal.title,
        host=subject.host if subject else None,
        instance=subject.instance if subject else None,
        state=finding.outcome.value,
        needs=finding.needs,
        severity=rule.severity,
        threshold=ThresholdPart(
            healthy=str(healthy),
            limit=healthy.limit,
            documented=documented.healthy.limit,
            unit=finding.signal.unit,
            reduce=rule.reduce,
            over_s=(track.window if track else rule.over) / SECOND,
            for_s=rule.for_ / SECOND,
            often=rule.often,
            phase=rule.phase,
            scale=rule.scale,
            override=OverridePart(
                reason=finding.override.reason,
                healthy=str(documented.healthy),
                over_s=documented.over / SECOND,
                for_s=documented.for_ / SECOND,
                scale=documented.scale,
            )
            if finding.override
            else None,
        ),
        worst=_finite(finding.worst),
        breaches=[
            BreachPart(
                start=iso(one.start),
                end=iso(one.end),
                fired_at=iso(one.fired_at),
                duration_s=one.duration / SECOND,
                worst=one.worst,
                mean=one.mean,
                processes=_processes(finding.processes, one.start),
            )
            for one in finding.breaches
            if one.fired_at is not None
        ],
        brief_crossings=_brief(finding.brief),
        crossed_s=finding.time_crossed / SECOND,
        share_of_time=finding.share_of_time,
        evaluations=track.judged if track else 0,
        stretch_s=_seconds(finding.stretch),
        superseded_by=list(finding.superseded_by),
        notes=list(finding.notes),
        summary=rule.summary,
        sources=[SourcePart(document=s.document, place=s.place, quote=s.quote) for s in rule.sources],
    )


def _brief(crossings: Sequence[Crossing]) -> BriefPart:
    longest = sorted(crossings, key=lambda one: -one.duration)[:_MOST_SPANS]
    return BriefPart(
        count=len(crossings),
        longest_s=max((one.duration for one in longest), default=0) / SECOND,
        spans=[
            SpanPart(start=iso(one.start), end=iso(one.end), duration_s=one.duration / SECOND, worst=one.worst)
            for one in sorted(longest, key=lambda one: one.start)
        ],
    )


def _processes(found: Processes | None, start: int) -> list[ProcessPart]:
    uses = found.by_breach.get(start, ()) if found else ()
    unit = found.signal.unit if found else ""
    return [
        ProcessPart(
            instance=u.instance, mean_while=u.inside, mean_otherwise=u.otherwise, phase=u.phase or None, unit=unit
        )
        for u in uses
    ]


def _statistic(one: Statistic, host: str) -> StatisticPart:
    series, figures = one.series, one.figures
    return StatisticPart(
        host=host,
        counter=series.path,
        measurement=series.measurement,
        field=series.field,
        instance=series.tag("instance"),
        phase=one.phase,
        samples=figures.samples,
        missing=figures.missing,
        mean=figures.mean,
        min=figures.minimum,
        p1=figures.p1,
        p5=figures.p5,
        p50=figures.median,
        p95=figures.p95,
        p99=figures.p99,
        max=figures.maximum,
        nonzero_share=figures.nonzero_share,
        nonzero_mean=figures.nonzero_mean,
    )


def _iso(instant: int | None) -> str | None:
    return None if instant is None else iso(int(instant))


def _seconds(duration: int | None) -> float | None:
    return None if duration is None else duration / SECOND


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
