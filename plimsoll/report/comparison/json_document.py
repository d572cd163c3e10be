"""The JSON of a comparison: schema plimsoll.comparison/1. docs/compare-json.md is made from the descriptions here.

Times are ISO 8601 in UTC. Within a version, fields and outcomes are only added, never changed or removed.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.compared_signal import ComparisonOutcome
from plimsoll.comparison.doubts import list_doubts
from plimsoll.comparison.run_table import run_table
from plimsoll.comparison.summary import answer, tell_story
from plimsoll.model.json_part import JsonPart, OptionalInstant, make_optional_getter, read_attribute
from plimsoll.model.times import format_iso
from plimsoll.review.sentences import describe_breach

SCHEMA = "plimsoll.comparison/1"
OutcomeName = Literal[
    "regression", "improvement", "change", "explained-by-load", "within-spread", "within-tolerance", "same", "unclear"
]
RankChance = Annotated[float | None, BeforeValidator(lambda ranks: ranks and ranks.chance)]
Count = Annotated[int, BeforeValidator(len)]
Start = Annotated[str | None, BeforeValidator(lambda phase: phase and format_iso(phase.start))]
End = Annotated[str | None, BeforeValidator(lambda phase: phase and format_iso(phase.end))]


class IntervalPart(JsonPart):
    """A 95 % confidence interval."""

    low: float
    high: float


class ComparedRun(JsonPart):
    """A run that was compared."""

    name: str = Field(description="The name of the run in all outputs.")
    source: str = Field(description="The run as named on the command line.")
    labels: dict[str, str] = read_attribute("review.run.labels")
    simulated: bool = read_attribute("review.run.simulated")
    start: OptionalInstant = read_attribute("review.start")
    end: OptionalInstant = read_attribute("review.end")
    hosts: list[str] = read_attribute("review.hosts")
    verdict: Literal["healthy", "not-healthy", "unknown"] = read_attribute(
        "insights.review.verdict", "That of its review."
    )


class ComparedPhase(JsonPart):
    """A phase that both runs have; start and end are null for the whole run."""

    name: str
    baseline_start: Start = read_attribute("first")
    baseline_end: End = read_attribute("first")
    start: Start = read_attribute("second")
    end: End = read_attribute("second")


class LevelPart(JsonPart):
    """The mean, percentiles and extremes of a signal in one run."""

    mean: float = read_attribute("mean.mean")
    error: float = read_attribute("mean.error", "Standard error of the mean, by the stationary bootstrap.")
    samples: int = read_attribute("mean.samples")
    effective_samples: float = read_attribute(
        "mean.effective", "How many independent samples would know the mean as well: neighbours tell much the same."
    )
    p5: float = read_attribute("p5.value")
    p95: float = read_attribute("p95.value")
    min: float = read_attribute("lowest")
    max: float = read_attribute("highest")


class SignalPart(JsonPart):
    """A signal of one host and instance in both runs, in one phase."""

    signal: str = read_attribute("name")
    title: str = read_attribute("signal.title")
    unit: str = read_attribute("signal.unit")
    host: str = read_attribute("subject.host")
    instance: str | None = read_attribute("subject.instance")
    other_host: str = read_attribute("other.host", "The host in the other run; mostly the same.")
    phase: str
    outcome: OutcomeName = Field(
        description="regression: worse by more than the tolerance, the load and the spread between runs of one build"
        " allow. improvement, change (neither direction is worse): likewise. "
        "explained-by-load: the load explains the difference. within-spread: runs of one build differ by"
        " as much. within-tolerance: the difference is too small to matter. same: the samples exclude a "
        "difference above the tolerance. unclear: too few samples to tell."
    )
    critical: bool = read_attribute("treatment.critical", "Whether a regression of it makes the run worse.")
    worse: Literal["higher", "lower", "either"] = read_attribute("treatment.worse")
    tolerance: float = read_attribute("tolerated", "Smaller differences do not matter; in the unit of the signal.")
    baseline: LevelPart = read_attribute("first")
    other: LevelPart = read_attribute("second")
    difference: float = read_attribute("difference.value", "Of the means: the other run less the baseline.")
    interval: IntervalPart = Field(description="The interval of the difference.")
    change: float | None = Field(
        description="The difference as a share of the baseline; null if a share has no meaning."
    )
    compatible: float = Field(description="The largest difference that is compatible with the samples.")
    chance: float = Field(
        description="The p-value of the difference, corrected for the number of compared signals (Hochberg)."
    )
    shift: float | None = Field(
        description="For comparison: the median of the differences between independent parts of the runs (Hodges "
        "and Lehmann). Null where a signal drifts too slowly for independent parts."
    )
    shift_chance: RankChance = read_attribute("ranks", "Its chance, by ranks (Mann and Whitney); null likewise.")
    p95_difference: float = read_attribute("peaks.value")
    p95_interval: IntervalPart = read_attribute("peaks.interval")
    comparable_peaks: bool = read_attribute(
        lambda compared: compared.first.samples.interval == compared.second.samples.interval,
        "Whether both runs were sampled at the same interval: a longer one flattens peaks.",
    )
    limit_crossed_in: Literal["baseline", "other"] | None = read_attribute(
        "crossed_in", "The only run that crossed a documented limit of it; null if none or both did."
    )


class LoadPart(JsonPart):
    """Whether both runs were under the same load in the compared phase."""

    same: bool | None = read_attribute("is_same", "Null if it is not known.")
    throughput_lost: bool = Field(
        description="Whether there were fewer operations although as many users waited, or connections were open."
    )
    tolerance: float = Field(description="The share by which loads may differ and still count as the same.")
    signals: list[SignalPart] = Field(
        description="The load signals, summed over hosts; the one that shows the load best comes first."
    )


class CrossedPart(JsonPart):
    """A documented limit that was crossed."""

    rule: str = read_attribute("rule.id")
    signal: str = read_attribute("rule.signal")
    severity: Literal["info", "warning", "critical"] = read_attribute("rule.severity")
    host: str = read_attribute(lambda finding: finding.subject.host if finding.subject else "")
    instance: str | None = read_attribute(make_optional_getter("subject.instance"))
    sentence: str = read_attribute(describe_breach)


class ThresholdsPart(JsonPart):
    """Limits (warning and critical) that only one of the runs crossed."""

    only_baseline: list[CrossedPart] = read_attribute("only_first")
    only_other: list[CrossedPart] = read_attribute("only_second")
    both: Annotated[list[CrossedPart], BeforeValidator(lambda pairs: [second for _, second in pairs])]
    unjudged: list[CrossedPart] = Field(description="Limits crossed in one run and not judged in the other.")


class BeyondPart(JsonPart):
    """A change that the mean of a signal hides, and that the baseline did not have."""

    what: Literal["stalls", "failures", "peaks", "noise"] = read_attribute(
        "shape",
        "stalls: hardly any work for 20 s or longer, at least twice. failures: at least 20 % of the "
        "requests failed for at least a minute without a break. peaks: more time above 1.5 times the "
        "99th percentile of the baseline. noise: samples deviate more from their neighbours.",
    )
    signal: str = read_attribute("compared.name")
    title: str = read_attribute("compared.signal.title")
    unit: str = read_attribute("compared.signal.unit")
    host: str = read_attribute("compared.subject.host")
    instance: str | None = read_attribute("compared.subject.instance")
    baseline: float = read_attribute(
        "before",
        "The share of samples stalled, the longest time on end in which requests failed (s), "
        "the 99th percentile, or the median deviation.",
    )
    other: float = read_attribute("after")


class CounterPart(JsonPart):
    """A counter without a signal whose mean changed by more than a quarter, or whose peaks are higher by half."""

    counter: str = read_attribute("name")
    host: str = read_attribute("series.host")
    baseline: float = read_attribute("before", "The mean; of a counter that only grows, the mean increase.")
    other: float = read_attribute("after")
    grows: bool
    peaks: bool = Field(description="Whether the values are 99th percentiles, as the means are alike.")
    costs: bool = Field(description="Whether it rose by half (a queue to twice) and its name says that this is worse.")


class CountersPart(JsonPart):
    """The counters without a signal, in the phase of the answer."""

    compared: int
    constant: int = Field(description="The number of counters that are constant in both runs.")
    too_few: int = Field(description="The number of counters with too few samples.")
    only_baseline: Count = read_attribute("only_first")
    only_other: Count = read_attribute("only_second")
    changed: list[CounterPart]


class RecordedPart(JsonPart):
    """A signal that only one run has, on a host that both have."""

    signal: str = read_attribute("name")
    title: str = read_attribute("signal.title")
    host: str
    instances: list[str]


class ComparedHost(JsonPart):
    """A host of the baseline, and its match in the other run."""

    baseline: str
    other: str


class RowPart(JsonPart):
    """The labels of a run, and its texts in the run table."""

    run: str = read_attribute("side.name")
    labels: dict[str, str] = read_attribute("side.review.run.labels")
    cells: dict[str, str] = Field(description="The texts by column; columns without records are left out.")


class SetPart(JsonPart):
    """A difference between the runs in a label, or in the facts of a host."""

    what: str = read_attribute("name")
    baseline: str = read_attribute("first")
    other: str = read_attribute("second")


class RenamedPart(JsonPart):
    """A host or instance of the baseline, and a host or instance of the other run that may be the same, renamed."""

    baseline: str = read_attribute("first")
    other: str = read_attribute("second")
    host: str | None = Field(description="The host of an instance, in the other run; null for a host.")


class ComparisonPart(JsonPart):
    """One run compared with the baseline."""

    run: ComparedRun = read_attribute("second")
    baselines: list[str] = read_attribute(
        lambda comparison: [side.name for side in comparison.baselines],
        "The names of all baseline runs; the last one is shown.",
    )
    answer: Literal["worse", "not-worse", "unknown"] = read_attribute(
        answer,
        "worse: a critical signal regressed, throughput was lost, or a limit was crossed that the "
        "baseline did not cross, and that is no chance. unknown: see doubts.",
    )
    story: list[str] = read_attribute(tell_story, "Three sentences: the load, what became worse, what did not change.")
    doubts: list[str] = read_attribute(list_doubts, "The reasons why it is unknown whether the run is no worse.")
    phase: str = read_attribute("phase.name", "The phase that the answer is based on.")
    phases: list[ComparedPhase]
    set_differently: list[SetPart] = Field(description="The labels and facts of hosts that differ.")
    load: LoadPart
    counts: dict[str, int] = read_attribute(
        lambda comparison: {outcome: len(comparison.of(outcome)) for outcome in ComparisonOutcome},
        "The number of signals by outcome, in the phase of the answer.",
    )
    regressions: list[SignalPart]
    signals: list[SignalPart] = read_attribute(
        lambda comparison: [signal for phase in comparison.phases for signal in comparison.in_phase(phase)],
        "All signals in all phases, the most important differences first.",
    )
    thresholds: ThresholdsPart
    beyond_means: list[BeyondPart] = read_attribute("reshaped")
    counters: CountersPart = read_attribute("unassigned_counters")
    not_compared: list[str] = read_attribute(
        lambda comparison: [signal.title for signal in comparison.integrating],
        "Signals that add up over time, so that their means say nothing.",
    )
    only_baseline: list[RecordedPart] = read_attribute(
        lambda comparison: comparison.lone[0], "Signals that only the baseline recorded."
    )
    only_other: list[RecordedPart] = read_attribute(lambda comparison: comparison.lone[1])
    hosts: list[ComparedHost] = read_attribute(
        lambda comparison: [{"baseline": first, "other": second} for first, second in comparison.hosts.pairs]
    )
    hosts_only_baseline: list[str] = read_attribute(lambda comparison: comparison.hosts.alone[0])
    hosts_only_other: list[str] = read_attribute(lambda comparison: comparison.hosts.alone[1])
    perhaps_renamed: list[RenamedPart] = read_attribute(
        "proposals", "Hosts and instances that look the same under different names; they are not compared."
    )


class ComparisonDocument(JsonPart):
    """The output of `plimsoll compare --json`."""

    schema_: Literal["plimsoll.comparison/1"] = Field(default=SCHEMA, alias="schema")
    baseline: ComparedRun
    comparisons: list[ComparisonPart] = Field(description="A comparison for each of the other runs.")
    table: list[RowPart] = Field(description="The run table: a row for each run, the baseline first.")


def build_document(comparisons: Sequence[Comparison]) -> ComparisonDocument:
    """Return the comparisons of runs with one baseline as schema plimsoll.comparison/1."""
    return ComparisonDocument.model_validate(
        {"baseline": comparisons[0].first, "comparisons": comparisons, "table": run_table(comparisons)}
    )
