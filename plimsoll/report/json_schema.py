"""The JSON of a review: schema plimsoll.review/1. docs/review-json.md is made from the descriptions here.

Times are ISO 8601 in UTC. Fields, and states of a rule, are added within a version, never changed or removed.
"""

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from plimsoll.insights.insights import insights

SCHEMA = "plimsoll.review/1"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True, defer_build=True)


P = TypeVar("P", bound=_Part)


class FilePart(_Part):
    """One recording, and how many time rows, counter columns, and cells with and without a sample it has."""

    path: str = Field(description="As it was named on the command line; live:HOST for what was collected.")
    sha256: str | None = Field(description="Of its bytes; null for what was collected.")
    format: str
    hosts: list[str]
    start: str | None
    end: str | None
    zone: str | None = Field(description="The recorder's time zone; null if the log does not give it.")
    interval_s: float | None = Field(description="Median time between rows; null with fewer than two rows.")
    samples: int = Field(description="Time rows.")
    series: int = Field(description="Counter columns.")
    values: int = Field(description="Cells that hold a sample.")
    missing: int = Field(description="Cells that hold none.")


class LogPart(_Part):
    """All recordings together; the counts are sums over the files."""

    files: list[FilePart]
    hosts: list[str]
    start: str | None
    end: str | None
    zone: str | None = Field(description="The time zone of the other outputs; null if no log gives one.")
    interval_s: float | None = Field(description="The shortest interval of any file.")
    samples: int
    series: int
    values: int
    missing: int


class RunPart(_Part):
    """What plimsoll.toml says about the run."""

    name: str | None
    labels: dict[str, str]
    simulated: bool


class PhasePart(_Part):
    """A phase of the run; both ends belong to it."""

    name: str
    start: str
    end: str
    by_hand: bool = Field(description="Set by hand; else found from the load, and no rule is judged by it.")


class BoundaryPart(_Part):
    """Where a steady state that was found begins or ends."""

    at: str
    earliest: str = Field(description="With `latest`: it is between them with a probability of 95 %.")
    latest: str
    confidence: float = Field(description="The probability that it is within 2 % of the run's length.")


class FoundPhasesPart(_Part):
    """What the load of a run tells of its phases."""

    steady: bool | None = Field(description="Whether there was a steady state; null if that is not known.")
    sentence: str = Field(description="What was found, and why not if nothing was.")
    signal: str | None = Field(description="The load signal; null if none was recorded.")
    title: str | None
    judged: bool = Field(description="Whether rules for a phase were judged by them.")
    crossed_before: list[str] = Field(
        description="What was crossed before the steady state only, and so does not count: `SIGNAL of SUBJECT`."
    )
    confidence: float | None = Field(
        description="The least of the boundaries' confidence, halved where only processor time was recorded; null "
        "without a steady state."
    )
    begin: BoundaryPart | None = Field(description="Null if the run begins in the steady state, or there is none.")
    end: BoundaryPart | None = Field(description="Null if the run ends in the steady state, or there is none.")


class RemarkPart(_Part):
    """Something that was skipped, repaired, guessed or is worth knowing."""

    kind: Literal["skipped", "repaired", "guessed", "noted", "unread", "contradictory"] = Field(
        description="unread: a recording that could not be read; contradictory: different values for the same times."
    )
    text: str
    file: str | None
    line: int | None
    counter: str | None
    count: int = Field(description="How many cells, rows or columns it is about.")


class PackPart(_Part):
    """A pack and the hosts it was applied to."""

    pack: str
    title: str
    hosts: list[str]
    why: str


class OverridePart(_Part):
    """Why plimsoll.toml changes a threshold or switches it off, and the documented values."""

    reason: str
    healthy: str = Field(description="As documented, before it was scaled by a host fact.")
    over_s: float
    for_s: float
    scale: str | None


class ThresholdPart(_Part):
    """The limit as it was applied to this host and instance."""

    healthy: str = Field(description='Operator and limit, such as "< 80".')
    limit: float
    documented: float = Field(description="The limit before it was scaled by a host fact or set in plimsoll.toml.")
    unit: str
    reduce: str
    over_s: float = Field(description="The window, after widening.")
    for_s: float
    often: float = Field(
        description="The share of the judged time from which a rule that never fired counts as crossed."
    )
    phase: str | None
    scale: str | None
    override: OverridePart | None = Field(description="Null if plimsoll.toml does not change the threshold.")


class ProcessPart(_Part):
    """A process that used much of what the rule is about, by the signal the rule says to look at."""

    instance: str
    mean_while: float = Field(description="While the threshold was crossed.")
    mean_otherwise: float | None = Field(
        description="In the rest of `phase`, outside all breaches of the rule; null if phases are not known, if no "
        "single phase contains the breach, or if nothing is left of it."
    )
    phase: str | None = Field(description="The phase that contains the breach, if mean_otherwise is of its rest.")
    unit: str


class BreachPart(_Part):
    """A crossing that fired."""

    start: str
    end: str
    fired_at: str
    duration_s: float
    worst: float = Field(description="Of the reduced values; so is the mean.")
    mean: float
    processes: list[ProcessPart] = Field(
        description="The three that used most, most first; empty where processes were not recorded, and for breaches "
        "beyond the hundred longest of a rule and subject."
    )


class SpanPart(_Part):
    """A crossing that did not fire."""

    start: str
    end: str
    duration_s: float
    worst: float


class BriefPart(_Part):
    """Crossings too short to fire."""

    count: int
    longest_s: float
    spans: list[SpanPart] = Field(description="The hundred longest, in time order.")


class SourcePart(_Part):
    """Where the limit comes from."""

    document: str
    place: str
    quote: str | None


class RulePart(_Part):
    """One rule for one host and instance."""

    pack: str
    rule: str
    signal: str
    title: str
    host: str | None = Field(description="Null where the rule's pack applies to no host.")
    instance: str | None
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
    ] = Field(
        description="Treat an unknown state as not judged. often-crossed: it never fired, but was crossed for at least "
        "for_s in total and for the share `often` of the judged time; it counts as crossed. too-short: the recording "
        "is shorter than the threshold must be crossed to count."
    )
    needs: str | None = Field(description="What must be known before it can be judged; null if nothing is missing.")
    severity: Literal["info", "warning", "critical"]
    threshold: ThresholdPart
    worst: float | None = Field(
        description="Of the values as reduced by the threshold, not of the samples; null without data."
    )
    breaches: list[BreachPart]
    brief_crossings: BriefPart
    crossed_s: float = Field(description="How long it was crossed in total: true evaluations times 10 s.")
    share_of_time: float | None = Field(description="True evaluations over evaluations with data.")
    evaluations: int = Field(description="Evaluations with data.")
    stretch_s: float | None = Field(
        description="The longest time judged without a break; if it is shorter than for_s, nothing could count as "
        "crossed. Null without data."
    )
    superseded_by: list[str] = Field(
        description="The current rules that were judged on this host instead; they make this old limit a note (info)."
    )
    notes: list[str]
    summary: str
    sources: list[SourcePart]


class GroupPart(_Part):
    """A signal that was crossed, on one host or on several, by one rule or by several."""

    signal: str
    title: str
    severity: Literal["info", "warning", "critical"] = Field(description="That of its worst rule.")
    hosts: list[str] = Field(description="The worst first.")
    rules: list[str] = Field(description="The worst first.")
    not_counted: list[str] = Field(description="Old limits that a current rule supersedes, crossed or not.")
    sentence: str


class UnjudgedPart(_Part):
    """Thresholds that were not judged."""

    count: int
    why: Literal["needs", "too-short", "no-data", "no-phase", "not-recorded", "off"]
    needs: str | None


class CoveragePart(_Part):
    """How many of the thresholds that apply were judged: one is a rule on a host, judged if any instance was."""

    thresholds: int
    judged: int
    unjudged: list[UnjudgedPart]
    text: str


class StatisticPart(_Part):
    """One series over the whole run or in one phase, in the counter's own unit.

    Where the recorder changed its interval, samples weigh as much as the time they stand for.
    """

    host: str = Field(description="The computer the counter is of, where another one collected it.")
    counter: str
    measurement: str
    field: str
    instance: str | None
    phase: str
    samples: int
    missing: int
    mean: float | None
    min: float | None
    p1: float | None
    p5: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None
    nonzero_share: float | None
    nonzero_mean: float | None


class _Judged(_Part):
    """What was judged, and how."""

    schema_: Literal["plimsoll.review/1"] = Field(default=SCHEMA, alias="schema")
    verdict: Literal["healthy", "not-healthy", "unknown"] = Field(
        description="not-healthy: a warning or critical threshold was crossed or often crossed; unknown: nothing "
        "could be judged, or there is a doubt."
    )
    headline: str
    doubts: list[str] = Field(description="Why the run is not known to be healthy although nothing was crossed.")
    coverage: CoveragePart
    groups: list[GroupPart] = Field(description="What was crossed, worst first; what the headline counts.")
    counts: dict[str, int] = Field(
        description="Entries of `rules` by state; those that are crossed or often crossed by severity."
    )
    log: LogPart
    run: RunPart
    remarks: list[RemarkPart]
    phases: list[PhasePart] = Field(description="Set by hand, else found from the load; empty if not known.")
    phases_found: FoundPhasesPart | None = Field(description="Null if the phases are set by hand.")
    packs: list[PackPart]
    rules: list[RulePart]


def _with_insights(base: type[P], place: str) -> type[P]:
    """The document so far, with the fields of the insights of a place."""
    fields: dict[str, Any] = {
        one.json.name: (one.json.type, Field(description=one.json.description or None))
        for one in insights()
        if one.heading.place == place
    }
    return create_model(base.__name__, __base__=base, **fields)


class _Measured(_with_insights(_Judged, "beside")):
    """What was judged, what stands beside it, and the statistics."""

    statistics: list[StatisticPart]


class ReviewDocument(_with_insights(_Measured, "causes")):
    """A review as a whole."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
