"""The JSON of a review: schema plimsoll.review/1. docs/review-json.md is made from the descriptions here.

`ReviewDocument.model_validate(Insights(review))` is the document. Times are ISO 8601 in UTC. Within a version, fields
and states of a rule are only added, never changed or removed.
"""

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field, create_model

from plimsoll.insights.insights import load_insights
from plimsoll.model.json_part import (
    Finite,
    Instant,
    JsonPart,
    OptionalInstant,
    OptionalSeconds,
    Seconds,
    add_values,
    make_optional_getter,
    read_attribute,
)
from plimsoll.model.log import Log
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.review.review import Review
from plimsoll.review.sentences import format_subject_title, limit_of
from plimsoll.review.verdict import group_sentence
from plimsoll.rules.crossings import Crossing
from plimsoll.rules.wording import SEVERITIES

SCHEMA = "plimsoll.review/1"
_MOST_SPANS = 100  # of brief crossings, for each finding
P = TypeVar("P", bound=JsonPart)


def _escape_path(path: str | Path) -> str:
    """Return a path as text; each byte that is not UTF-8, which JSON cannot contain, is replaced by U+FFFD."""
    return os.fsencode(path).decode(errors="replace")


def _name_zone(log: Log) -> str | None:
    return log.zone.label(int(log.times[0]) if len(log.times) else 0) if log.zone.is_specified else None


def _list_filled(review: Review) -> list[Log]:
    return [log for log in review.logs if len(log.times)]


def _list_files(review: Review) -> list[Any]:
    with ThreadPoolExecutor() as pool:
        hashes = pool.map(lambda log: log.digest, review.logs)
        return [
            add_values(log, hosts=review.hosts_of(log), sha256=digest)
            for log, digest in zip(review.logs, hashes, strict=True)
        ]


def _list_phases(review: Review) -> list[Any]:
    return [add_values(phase, by_hand=review.phases_found is None) for phase in review.phases]


def _encode_phases_found(review: Review) -> Any:
    if review.phases_found is None:
        return None
    before = dict.fromkeys(map(format_subject_title, review.before_steady))
    return add_values(review.phases_found, judged=review.judged_by_found is not None, crossed_before=[*before])


def _list_breaches(finding: Finding) -> list[Any]:
    """Return the breaches, each with the processes that used most of the rule's resource during the breach."""
    used = finding.processes
    if used is None:
        return [add_values(breach, processes=[]) for breach in finding.breaches]
    # Breaches by their samples may be fewer, as those that meet are one.
    shown = finding.counted.starts[finding.counted.starts.searchsorted(finding.breaches.starts, "right") - 1]
    users = [used.by_breach.get(start, ()) for start in shown.tolist()]
    return [
        add_values(breach, processes=[add_values(use, unit=used.signal.unit) for use in uses])
        for breach, uses in zip(finding.breaches, users, strict=True)
    ]


def _list_longest(crossings: Sequence[Crossing]) -> list[Crossing]:
    longest = sorted(crossings, key=lambda crossing: -crossing.duration)[:_MOST_SPANS]
    return sorted(longest, key=lambda crossing: crossing.start)


def _count_findings(findings: Sequence[Finding]) -> dict[str, int]:
    """Return the number of findings by state, and the number of crossed findings by severity."""
    by_outcome = Counter(str(finding.outcome) for finding in findings)
    by_severity = Counter(finding.rule.severity for finding in findings if finding.outcome in CROSSED)
    return {
        **{severity: by_severity[severity] for severity in SEVERITIES},
        **{str(outcome): by_outcome[str(outcome)] for outcome in Outcome},
    }


class FilePart(JsonPart):
    """One recording, and how many time rows, counter columns, and cells with and without a sample it has."""

    path: str = read_attribute(
        lambda log: _escape_path(log.path), "As it was named on the command line; live:HOST for what was collected."
    )
    sha256: str | None = Field(description="The SHA-256 of the file; null for collected samples.")
    format: str
    hosts: list[str]
    start: OptionalInstant = read_attribute(lambda log: log.times[0] if len(log.times) else None)
    end: OptionalInstant = read_attribute(lambda log: log.times[-1] if len(log.times) else None)
    zone: str | None = read_attribute(_name_zone, "The recorder's time zone; null if the log does not give it.")
    interval_s: OptionalSeconds = read_attribute("interval", "Median time between rows; null with fewer than two rows.")
    samples: int = read_attribute(lambda log: len(log.times), "Time rows.")
    series: int = read_attribute(lambda log: len(log.series), "Counter columns.")
    values: int = read_attribute("present", "Cells that hold a sample.")
    missing: int = Field(description="The number of cells without a sample.")


class LogPart(JsonPart):
    """All recordings together; the counts are sums over the files."""

    files: list[FilePart] = read_attribute(_list_files)
    hosts: list[str]
    start: OptionalInstant = read_attribute(
        lambda review: min((log.times[0] for log in _list_filled(review)), default=None)
    )
    end: OptionalInstant = read_attribute(
        lambda review: max((log.times[-1] for log in _list_filled(review)), default=None)
    )
    zone: str | None = read_attribute(
        lambda review: review.zone.label(review.start or 0) if review.zone.is_specified else None,
        "The time zone of the other outputs; null if no log gives one.",
    )
    interval_s: OptionalSeconds = read_attribute("interval", "The shortest interval of any file.")
    samples: int = read_attribute(lambda review: sum(len(log.times) for log in review.logs))
    series: int = read_attribute(lambda review: sum(len(log.series) for log in review.logs))
    values: int = read_attribute(lambda review: sum(log.present for log in review.logs))
    missing: int = read_attribute(lambda review: sum(log.missing for log in review.logs))


class RunPart(JsonPart):
    """The run as plimsoll.toml describes it."""

    name: str | None
    labels: dict[str, str]
    simulated: bool


class PhasePart(JsonPart):
    """A phase of the run; both ends belong to the phase."""

    name: str
    start: Instant
    end: Instant
    by_hand: bool = Field(
        description="Whether it was set by hand; otherwise it was found from the load, and no rule is judged by it."
    )


class BoundaryPart(JsonPart):
    """The start or the end of a steady state that was found."""

    at: Instant
    earliest: Instant = read_attribute("low", "With `latest`: it is between them with a probability of 95 %.")
    latest: Instant = read_attribute("high")
    confidence: float = Field(description="The probability that it is within 2 % of the run's length.")


class FoundPhasesPart(JsonPart):
    """The phases found from the load of a run."""

    steady: bool | None = read_attribute(
        lambda phases: bool(phases.phases) if phases.is_certain else None,
        "Whether there was a steady state; null if that is not known.",
    )
    sentence: str = Field(description="A sentence on the phases that were found, or on why none were.")
    signal: str | None = read_attribute(
        lambda phases: phases.signal or None, "The load signal; null if none was recorded."
    )
    title: str | None = read_attribute(lambda phases: phases.title or None)
    judged: bool = Field(description="Whether rules for a phase were judged in these phases.")
    crossed_before: list[str] = Field(
        description="The signals crossed only before the steady state, which do not count: `SIGNAL of SUBJECT`."
    )
    confidence: float | None = Field(
        description="The lowest confidence of the boundaries, halved if only processor time was recorded; null "
        "without a steady state."
    )
    begin: BoundaryPart | None = read_attribute(
        lambda phases: phases.boundaries[0], "Null if the run begins in the steady state, or there is none."
    )
    end: BoundaryPart | None = read_attribute(
        lambda phases: phases.boundaries[1], "Null if the run ends in the steady state, or there is none."
    )


class RemarkPart(JsonPart):
    """A remark on something that was skipped, repaired, guessed or is worth knowing."""

    kind: Literal["skipped", "repaired", "guessed", "noted", "unread", "cut", "contradictory"] = read_attribute(
        "kind.value",
        "unread: a recording that could not be read; cut: a large part of one; contradictory: different values for the "
        "same times.",
    )
    text: str
    file: str | None = read_attribute(lambda remark: remark.file and _escape_path(remark.file))
    line: int | None
    counter: str | None
    count: int = Field(description="The number of cells, rows or columns that it is about.")


class PackPart(JsonPart):
    """A pack and the hosts it was applied to."""

    pack: str = read_attribute("pack.pack")
    title: str = read_attribute("pack.title")
    hosts: list[str]
    why: str


class OverridePart(JsonPart):
    """A threshold that plimsoll.toml changes or switches off: the reason, and the documented values."""

    reason: str = read_attribute("override.reason")
    healthy: str = read_attribute(
        lambda finding: str(finding.documented.healthy), "As documented, before it was scaled by a host fact."
    )
    over_s: Seconds = read_attribute("documented.over")
    for_s: Seconds = read_attribute("documented.for_")
    scale: str | None = read_attribute("documented.scale")


class ThresholdPart(JsonPart):
    """The limit as applied to this host and instance."""

    healthy: str = read_attribute(lambda finding: str(limit_of(finding)), 'Operator and limit, such as "< 80".')
    limit: float = read_attribute(lambda finding: limit_of(finding).limit)
    documented: float = read_attribute(
        "documented.healthy.limit", "The limit before it was scaled by a host fact or set in plimsoll.toml."
    )
    unit: str = read_attribute("signal.unit")
    reduce: str = read_attribute("rule.reduce")
    over_s: Seconds = read_attribute(
        lambda finding: finding.track.window if finding.track else finding.rule.over, "The window, after widening."
    )
    for_s: Seconds = read_attribute("rule.for_")
    often: float = read_attribute(
        "rule.often", "The share of the judged time from which a rule that never fired counts as crossed."
    )
    phase: str | None = read_attribute("rule.phase")
    scale: str | None = read_attribute("rule.scale")
    override: OverridePart | None = read_attribute(
        lambda finding: finding if finding.override else None, "Null if plimsoll.toml does not change the threshold."
    )


class ProcessPart(JsonPart):
    """A process that used much of the rule's resource, by the signal that the rule says to look at."""

    instance: str
    mean_while: float = read_attribute("inside", "While the threshold was crossed.")
    mean_otherwise: float | None = read_attribute(
        "otherwise",
        "In the rest of `phase`, outside all breaches of the rule; null if phases are not known, if no "
        "single phase contains the breach, or if nothing is left of it.",
    )
    phase: str | None = read_attribute(
        lambda use: use.phase or None, "The phase that contains the breach, if mean_otherwise is of its rest."
    )
    unit: str


class BreachPart(JsonPart):
    """A crossing that fired."""

    start: Instant
    end: Instant
    fired_at: Instant
    duration_s: Seconds = read_attribute("duration")
    worst: float = Field(description="The worst of the reduced values.")
    mean: float
    processes: list[ProcessPart] = Field(
        description="The three processes that used most, highest first; empty if processes were not recorded, and "
        "for breaches other than the hundred longest of a rule and subject."
    )


class SpanPart(JsonPart):
    """A crossing that did not fire."""

    start: Instant
    end: Instant
    duration_s: Seconds = read_attribute("duration")
    worst: float


class BriefPart(JsonPart):
    """Crossings too short to fire."""

    count: int = read_attribute(len)
    longest_s: Seconds = read_attribute(lambda brief: max((crossing.duration for crossing in brief), default=0))
    spans: list[SpanPart] = read_attribute(_list_longest, "The hundred longest, in time order.")


class SourcePart(JsonPart):
    """The source of the limit."""

    document: str
    place: str
    quote: str | None


class RulePart(JsonPart):
    """One rule for one host and instance."""

    pack: str = read_attribute("pack.pack")
    rule: str = read_attribute("rule.id")
    signal: str = read_attribute("rule.signal")
    title: str = read_attribute("signal.title")
    host: str | None = read_attribute(
        make_optional_getter("subject.host"), "Null where the rule's pack applies to no host."
    )
    instance: str | None = read_attribute(make_optional_getter("subject.instance"))
    state: Literal[
        "crossed",
        "often-crossed",
        "too-short",
        "held",
        "no-data",
        "not-judged",
        "not-recorded",
        "does-not-apply",
        "off",
    ] = read_attribute(
        "outcome.value",
        "Treat an unknown state as not judged. often-crossed: it never fired, but was crossed for at least "
        "for_s in total and for the share `often` of the judged time; it counts as crossed. too-short: the recording "
        "is shorter than the threshold must be crossed to count.",
    )
    needs: str | None = Field(description="The fact that is needed to judge the rule; null if none is missing.")
    severity: Literal["info", "warning", "critical"] = read_attribute("rule.severity")
    threshold: ThresholdPart = read_attribute(lambda finding: finding)
    worst: Finite = Field(
        description="The worst of the values as reduced by the threshold, not of the samples; null without data."
    )
    breaches: list[BreachPart] = read_attribute(_list_breaches)
    brief_crossings: BriefPart = read_attribute(lambda finding: finding.crossings[~finding.crossings.fired])
    crossed_s: Seconds = read_attribute(
        "time_crossed", "How long it was crossed in total: true evaluations times 10 s."
    )
    share_of_time: float | None = Field(
        description="The share of evaluations with data at which the condition was true."
    )
    evaluations: int = read_attribute(
        lambda finding: finding.track.judged if finding.track else 0, "Evaluations with data."
    )
    stretch_s: OptionalSeconds = read_attribute(
        "stretch",
        "The longest time judged without a break; if it is shorter than for_s, nothing could count as "
        "crossed. Null without data.",
    )
    superseded_by: list[str] = Field(
        description="The current rules judged on this host instead, because of which this old limit has severity info."
    )
    notes: list[str]
    summary: str = read_attribute("rule.summary")
    sources: list[SourcePart] = read_attribute("rule.sources")


class GroupPart(JsonPart):
    """A crossed signal, on one host or on several, by one rule or by several."""

    signal: str
    title: str = read_attribute("worst.signal.title")
    severity: Literal["info", "warning", "critical"] = Field(description="The severity of its worst rule.")
    hosts: list[str] = Field(description="The hosts, the worst first.")
    rules: list[str] = read_attribute(
        lambda group: [rule.id for rule in group.rules], "The ids of the crossed rules, the worst first."
    )
    not_counted: list[str] = read_attribute(
        lambda group: list(dict.fromkeys(finding.rule.id for finding in group.not_counted)),
        "Old limits that a current rule supersedes, crossed or not.",
    )
    sentence: str = read_attribute(group_sentence)


class UnjudgedPart(JsonPart):
    """Thresholds that were not judged."""

    count: int
    why: Literal["needs", "too-short", "no-data", "no-phase", "not-recorded", "off"]
    needs: str | None = read_attribute("fact")


class CoveragePart(JsonPart):
    """How many of the applicable thresholds (rules on a host) were judged, for at least one instance."""

    thresholds: int
    judged: int
    unjudged: list[UnjudgedPart]
    text: str


class StatisticPart(JsonPart):
    """One series over the whole run or in one phase, in the counter's own unit.

    If the recorder changed its interval, samples are weighted by the interval.
    """

    host: str = Field(description="The computer that the counter describes, if another computer collected it.")
    counter: str = read_attribute("series.path")
    measurement: str = read_attribute("series.measurement")
    field: str = read_attribute("series.field")
    instance: str | None = read_attribute(lambda statistic: statistic.series.tag("instance"))
    phase: str
    samples: int = read_attribute("figures.samples")
    missing: int = read_attribute("figures.missing")
    mean: float | None = read_attribute("figures.mean")
    min: float | None = read_attribute("figures.minimum")
    p1: float | None = read_attribute("figures.p1")
    p5: float | None = read_attribute("figures.p5")
    p50: float | None = read_attribute("figures.median")
    p95: float | None = read_attribute("figures.p95")
    p99: float | None = read_attribute("figures.p99")
    max: float | None = read_attribute("figures.maximum")
    nonzero_share: float | None = read_attribute("figures.nonzero_share")
    nonzero_mean: float | None = read_attribute("figures.nonzero_mean")


class FailureReasonPart(JsonPart):
    """A reason, as the load driver recorded it, for which so many of its requests failed."""

    reason: str
    requests: int


class _JudgedPart(JsonPart):
    """The first fields of the document: the verdict, what was judged, and the findings."""

    schema_: Literal["plimsoll.review/1"] = Field(default=SCHEMA, alias="schema")
    verdict: Literal["healthy", "not-healthy", "unknown"] = read_attribute(
        "review.verdict.value",
        "not-healthy: a warning or critical threshold was crossed or often crossed; unknown: nothing "
        "could be judged, or there is a doubt.",
    )
    headline: str = read_attribute("review.headline")
    doubts: list[str] = read_attribute(
        lambda insights: [doubt.sentence for doubt in insights.review.doubts],
        "Why the run is not known to be healthy although nothing was crossed.",
    )
    failure_reasons: list[FailureReasonPart] = read_attribute(
        "review.failure_reasons", "The most frequent reasons for failed requests of load drivers."
    )
    coverage: CoveragePart = read_attribute("review.coverage")
    groups: list[GroupPart] = read_attribute(
        "review.groups", "What was crossed, worst first; what the headline counts."
    )
    counts: dict[str, int] = read_attribute(
        lambda insights: _count_findings(insights.review.findings),
        "Entries of `rules` by state; those that are crossed or often crossed by severity.",
    )
    log: LogPart = read_attribute("review")
    run: RunPart = read_attribute("review.run")
    remarks: list[RemarkPart] = read_attribute("review.remarks")
    phases: list[PhasePart] = read_attribute(
        lambda insights: _list_phases(insights.review), "Set by hand, else found from the load; empty if not known."
    )
    phases_found: FoundPhasesPart | None = read_attribute(
        lambda insights: _encode_phases_found(insights.review), "Null if the phases are set by hand."
    )
    packs: list[PackPart] = read_attribute("review.applied")
    rules: list[RulePart] = read_attribute("review.findings")


def _add_insights(base: type[P], place: str) -> type[P]:
    """Return the model `base` with a field for each insight whose heading has this `place`."""
    fields: dict[str, Any] = {
        insight.json.name: (
            insight.json.type,
            read_attribute(lambda insights, insight=insight: insights.of(insight), insight.json.description or None),
        )
        for insight in load_insights()
        if insight.heading.place == place
    }
    return create_model(base.__name__, __base__=base, **fields)


class _Measured(_add_insights(_JudgedPart, "beside")):
    """The fields of `_JudgedPart`, then the insights at the place `beside`, then the statistics."""

    statistics: list[StatisticPart] = read_attribute(
        lambda insights: [
            add_values(statistic, host=insights.review.host_of(statistic.series))
            for statistic in insights.review.statistics
        ]
    )


class ReviewDocument(_add_insights(_Measured, "causes")):
    """The complete JSON document of a review."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
