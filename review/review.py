"""A review: the logs of one run, judged by the packs that apply."""

import hashlib
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

from model.log import Log
from model.names import Unrecognised, unrecognised
from model.remark import Kind, Remark, counted
from model.run import Phase, Run
from model.times import SECOND, Zone, iso
from review.document import (
    BreachPart,
    BriefPart,
    FilePart,
    LogPart,
    PackPart,
    PhasePart,
    RemarkPart,
    ReviewDocument,
    RulePart,
    RunPart,
    SourcePart,
    StatisticPart,
    ThresholdPart,
)
from review.facts import Facts
from review.findings import Applied, Finding, Outcome, Question, judge
from review.statistics import Statistic, statistics
from review.verdict import Verdict, counts, headline, limit_of, said, verdict


@dataclass(frozen=True)
class Review:
    """A run and everything found in it; the terminal, the report and the JSON are made from this."""

    logs: tuple[Log, ...]
    run: Run
    question: Question
    findings: tuple[Finding, ...]
    applied: tuple[Applied, ...]
    remarks: tuple[Remark, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether the run was good."""
        return verdict(self.findings, self.doubtful)

    @property
    def headline(self) -> str:
        """The verdict and the answer."""
        return f"{said(self.verdict)} {self.answer}"

    @property
    def answer(self) -> str:
        """What stands after the verdict."""
        return headline(self.findings, self.doubtful)

    @cached_property
    def unrecognised(self) -> tuple[Unrecognised, ...]:
        """What was recorded under names that look like Windows' own in a language that is not known."""
        return tuple(unrecognised({series.key: series for log in self.logs for series in log.series}.values()))

    @cached_property
    def doubtful(self) -> tuple[Unrecognised, ...]:
        """Those of hosts for which a rule for every host finds no counter: it may lie under such a name."""
        lacking = {
            finding.subject.host.casefold()
            for finding in self.of(Outcome.NOT_RECORDED)
            if finding.subject and finding.pack.applies_to is None
        }
        return tuple(one for one in self.unrecognised if one.host.casefold() in lacking)

    def of(self, *outcomes: Outcome) -> list[Finding]:
        """The findings with these outcomes, worst first."""
        return [finding for finding in self.findings if finding.outcome in outcomes]

    @property
    def phases(self) -> Sequence[Phase]:
        """The phases of the run, empty where they are not known."""
        return self.question.phases

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The recorded computers, each written as first seen."""
        first: dict[str, str] = {}
        for log in self.logs:
            for host in log.hosts:
                first.setdefault(host.casefold(), host)
        return tuple(first.values())

    @cached_property
    def zone(self) -> Zone:
        """The zone times are shown in: that of the first log that knows its own."""
        return next((log.zone for log in self.logs if log.zone.known), self.logs[0].zone)

    @cached_property
    def start(self) -> int | None:
        """The first instant reviewed (UTC ns); None where the logs hold no rows."""
        first = min((int(log.times[0]) for log in self.logs if len(log.times)), default=None)
        return first if first is None else max(first, self.question.start or first)

    @cached_property
    def end(self) -> int | None:
        """The last instant reviewed."""
        last = max((int(log.times[-1]) for log in self.logs if len(log.times)), default=None)
        return last if last is None else min(last, self.question.end or last)

    @cached_property
    def interval(self) -> int | None:
        """The shortest sampling interval of any log, in ns."""
        return min((log.interval for log in self.logs if log.interval), default=None)

    @cached_property
    def counters(self) -> int:
        """How many different series were recorded."""
        return len({series.key for log in self.logs for series in log.series})

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """Every series over the whole run and in each phase."""
        return tuple(statistics(self.logs, self.phases, self.question.start, self.question.end))


def review(logs: Sequence[Log], run: Run, question: Question, facts: Facts, remarks: Sequence[Remark] = ()) -> Review:
    """Judge the logs of one run. `remarks` are what is worth knowing beside what the readers remarked."""
    findings, applied = judge(logs, question, facts)
    everything = (*(remark for log in logs for remark in log.remarks), *remarks)
    found = Review(tuple(logs), run, question, tuple(findings), tuple(applied), everything)
    return replace(found, remarks=(*everything, *(_not_recognised(one) for one in found.unrecognised)))


def _not_recognised(one: Unrecognised) -> Remark:
    text = (
        f"{counted(one.counters, 'counter')} of {one.object} on {one.host} not recognised, so no limit of theirs is "
        "judged; if Windows calls them so in its language, name them with --names"
    )
    return Remark(Kind.NOTED, text, count=one.counters)


def document(review: Review) -> ReviewDocument:
    """The review for other programs."""
    with ThreadPoolExecutor() as pool:
        hashes = list(pool.map(_hash, review.logs))
    files = [_file(log, digest) for log, digest in zip(review.logs, hashes, strict=True)]
    return ReviewDocument(
        verdict=review.verdict.value,
        headline=review.headline,
        counts=counts(review.findings),
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
            RemarkPart(kind=r.kind.value, text=r.text, file=r.file, line=r.line, counter=r.counter, count=r.count)
            for r in review.remarks
        ],
        phases=[PhasePart(name=p.name, start=iso(p.start), end=iso(p.end)) for p in review.phases],
        packs=[PackPart(pack=a.pack.pack, title=a.pack.title, hosts=list(a.hosts), why=a.why) for a in review.applied],
        rules=[_rule(finding) for finding in review.findings],
        statistics=[_statistic(statistic) for statistic in review.statistics],
    )


def _hash(log: Log) -> str:
    if log.sha256:
        return log.sha256
    with (log.file or log.path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file(log: Log, digest: str) -> FilePart:
    filled = len(log.times) > 0
    return FilePart(
        path=str(log.path),
        sha256=digest,
        format=log.format,
        hosts=list(log.hosts),
        start=_iso(log.times[0]) if filled else None,
        end=_iso(log.times[-1]) if filled else None,
        zone=log.zone.label(int(log.times[0]) if filled else 0) if log.zone.known else None,
        interval_s=_seconds(log.interval),
        samples=len(log.times),
        series=len(log.series),
        values=log.present,
        missing=log.missing,
    )


def _rule(finding: Finding) -> RulePart:
    rule, subject, track = finding.rule, finding.subject, finding.track
    healthy = limit_of(finding)
    return RulePart(
        pack=finding.pack.pack,
        rule=rule.id,
        signal=rule.signal,
        title=finding.signal.title,
        host=subject.host if subject else None,
        instance=subject.instance if subject else None,
        state=finding.outcome.value,
        severity=rule.severity,
        threshold=ThresholdPart(
            healthy=str(healthy),
            limit=healthy.limit,
            documented=rule.healthy.limit,
            unit=finding.signal.unit,
            reduce=rule.reduce,
            over_s=(track.window if track else rule.over) / SECOND,
            for_s=rule.for_ / SECOND,
            phase=rule.phase,
            scale=rule.scale,
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
            )
            for one in finding.breaches
            if one.fired_at is not None
        ],
        brief_crossings=BriefPart(
            count=len(finding.brief), longest_s=max((one.duration for one in finding.brief), default=0) / SECOND
        ),
        share_of_time=finding.share_of_time,
        evaluations=track.judged if track else 0,
        notes=list(finding.notes),
        summary=rule.summary,
        sources=[SourcePart(document=s.document, place=s.place, quote=s.quote) for s in rule.sources],
    )


def _statistic(one: Statistic) -> StatisticPart:
    series = one.series
    return StatisticPart(
        host=series.host,
        counter=series.path,
        measurement=series.measurement,
        field=series.field,
        instance=series.tag("instance"),
        phase=one.phase,
        samples=one.samples,
        missing=one.missing,
        mean=one.mean,
        min=one.minimum,
        p50=one.median,
        p95=one.p95,
        p99=one.p99,
        max=one.maximum,
        nonzero_share=one.nonzero_share,
        nonzero_mean=one.nonzero_mean,
    )


def _iso(instant: int | None) -> str | None:
    return None if instant is None else iso(int(instant))


def _seconds(duration: int | None) -> float | None:
    return None if duration is None else duration / SECOND


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
