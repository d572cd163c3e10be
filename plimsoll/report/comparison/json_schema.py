"""The JSON of a comparison: schema plimsoll.comparison/1. docs/compare-json.md is made from the descriptions here.

Times are ISO 8601 in UTC. Fields, and outcomes, are added within a version, never changed or removed.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "plimsoll.comparison/1"
OutcomeName = Literal[
    "regression", "improvement", "change", "explained-by-load", "within-spread", "within-tolerance", "same", "unclear"
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class IntervalPart(_Part):
    """A 95 % confidence interval."""

    low: float
    high: float


class RunPart(_Part):
    """A run that was compared."""

    name: str = Field(description="As it is called in all outputs.")
    source: str = Field(description="As it was named on the command line.")
    labels: dict[str, str]
    simulated: bool
    start: str | None
    end: str | None
    hosts: list[str]
    verdict: Literal["healthy", "not-healthy", "unknown"] = Field(description="That of its review.")


class PhasePart(_Part):
    """A phase both runs have; start and end are null for the whole run."""

    name: str
    baseline_start: str | None
    baseline_end: str | None
    start: str | None
    end: str | None


class LevelPart(_Part):
    """A signal in one run."""

    mean: float
    error: float = Field(description="Standard error of the mean, by the stationary bootstrap.")
    samples: int
    effective_samples: float = Field(
        description="How many independent samples would know the mean as well: neighbours tell much the same."
    )
    p5: float
    p95: float
    min: float
    max: float


class SignalPart(_Part):
    """A signal of one host and instance in both runs, in one phase."""

    signal: str
    title: str
    unit: str
    host: str
    instance: str | None
    other_host: str = Field(description="The host in the other run; mostly the same.")
    phase: str
    outcome: OutcomeName = Field(
        description="regression: worse by more than the tolerance, and both methods agree. improvement, change "
        "(neither direction is bad): likewise, and by more than the load explains and runs of one build differ by. "
        "explained-by-load, within-spread: by no more than that. within-tolerance: it differs, but by less than "
        "matters. same: no difference larger than the tolerance is compatible with the samples. unclear: too few "
        "samples to tell."
    )
    critical: bool = Field(description="Whether a regression of it makes the run worse.")
    worse: Literal["higher", "lower", "either"]
    tolerance: float = Field(description="Smaller differences do not matter; in the unit of the signal.")
    baseline: LevelPart
    other: LevelPart
    difference: float = Field(description="Of the means: the other run less the baseline.")
    interval: IntervalPart = Field(description="Of the difference.")
    change: float | None = Field(description="The difference as a share of the baseline; null if that means nothing.")
    compatible: float = Field(description="The largest difference that is compatible with the samples.")
    chance: float = Field(
        description="The chance that a difference is called so although there is none, raised for all signals that "
        "are compared (Holm)."
    )
    shift: float | None = Field(
        description="The second method's difference: the median of that between independent parts of the runs (Hodges "
        "and Lehmann). Null where a signal drifts too slowly for independent parts."
    )
    shift_chance: float | None = Field(description="Its chance, by ranks (Mann and Whitney); null likewise.")
    p95_difference: float
    p95_interval: IntervalPart
    comparable_peaks: bool = Field(
        description="Whether both runs were sampled at the same interval: a longer one flattens peaks."
    )
    limit_crossed_in: Literal["baseline", "other"] | None = Field(
        description="The only run that crossed a documented limit of it; null if none or both did."
    )


class LoadPart(_Part):
    """Whether both runs were under the same load, in the phase to judge by."""

    same: bool | None = Field(description="Null if it is not known.")
    throughput_lost: bool = Field(description="Fewer operations although as many connections were held.")
    tolerance: float = Field(description="Loads that differ by a smaller share are the same.")
    signals: list[SignalPart] = Field(description="Summed over hosts; the one that tells most first.")


class CrossedPart(_Part):
    """A documented limit that was crossed."""

    rule: str
    signal: str
    severity: Literal["info", "warning", "critical"]
    host: str
    instance: str | None
    sentence: str


class ThresholdsPart(_Part):
    """Limits (warning and critical) that were crossed in one run and not in the other."""

    only_baseline: list[CrossedPart]
    only_other: list[CrossedPart]
    both: list[CrossedPart]
    unjudged: list[CrossedPart] = Field(description="Crossed in one run, and not judged in the other.")


class BeyondPart(_Part):
    """What the mean of a signal hides, and the baseline did not have."""

    what: Literal["stalls", "failures", "peaks", "noise"] = Field(
        description="stalls: hardly any work for 20 s or longer, at least twice. failures: 20 % of the requests or "
        "more failed for a minute or longer on end. peaks: more of the time above 1.5 times the 99th percentile of the "
        "baseline. noise: samples are further from their neighbours."
    )
    signal: str
    title: str
    unit: str
    host: str
    instance: str | None
    baseline: float = Field(
        description="The share of samples stalled, the longest time on end in which requests failed (s), "
        "the 99th percentile, or the median deviation."
    )
    other: float


class CounterPart(_Part):
    """A counter that no signal knows, and that changed by more than a quarter, or whose peaks are higher by half."""

    counter: str
    host: str
    baseline: float = Field(description="The mean; of a counter that only grows, the mean increase.")
    other: float
    grows: bool
    peaks: bool = Field(description="Whether the values are 99th percentiles, and the means are alike.")
    costs: bool = Field(description="Whether it rose by half, a queue to twice, and its name says that this is worse.")


class CountersPart(_Part):
    """The counters that no signal knows, in the phase to judge by."""

    compared: int
    constant: int = Field(description="Constant in both runs.")
    too_few: int = Field(description="With too few samples.")
    only_baseline: int
    only_other: int
    changed: list[CounterPart]


class RecordedPart(_Part):
    """A signal that only one run has, of a host that both have."""

    signal: str
    title: str
    host: str
    instances: list[str]


class HostPart(_Part):
    """A host of the baseline, and the one that belongs to it."""

    baseline: str
    other: str


class RowPart(_Part):
    """A run in the run table."""

    run: str
    labels: dict[str, str]
    cells: dict[str, str] = Field(description="By column; what was not recorded is left out.")


class SetPart(_Part):
    """A label, or the facts of a host, that the runs do not share."""

    what: str
    baseline: str
    other: str


class RenamedPart(_Part):
    """A name of the baseline, and what may be the same in the other run."""

    baseline: str
    other: str
    host: str | None = Field(description="The host of an instance, in the other run; null for a host.")


class ComparisonPart(_Part):
    """One run held against the baseline."""

    run: RunPart
    baselines: list[str] = Field(description="The names of all runs of the baseline; the last is the one shown.")
    answer: Literal["worse", "not-worse", "unknown"] = Field(
        description="worse: a critical signal regressed, throughput was lost, or a limit was crossed that the baseline "
        "held, and that is no chance of these two runs. unknown: see doubts."
    )
    story: list[str] = Field(description="Three sentences: the load, what became worse, what did not change.")
    doubts: list[str] = Field(description="Why it is not known to be no worse.")
    phase: str = Field(description="The phase it is judged by.")
    phases: list[PhasePart]
    set_differently: list[SetPart] = Field(description="Labels and facts of hosts.")
    load: LoadPart
    counts: dict[str, int] = Field(description="Signals by outcome, in the phase it is judged by.")
    regressions: list[SignalPart]
    signals: list[SignalPart] = Field(description="All signals in all phases, the most important differences first.")
    thresholds: ThresholdsPart
    beyond_means: list[BeyondPart]
    counters: CountersPart
    not_compared: list[str] = Field(description="Signals that add up over time, so that their means say nothing.")
    only_baseline: list[RecordedPart] = Field(description="Signals that only the baseline recorded.")
    only_other: list[RecordedPart]
    hosts: list[HostPart]
    hosts_only_baseline: list[str]
    hosts_only_other: list[str]
    perhaps_renamed: list[RenamedPart] = Field(description="What looks the same under another name, not compared.")


class ComparisonDocument(_Part):
    """`plimsoll compare --json`."""

    schema_: Literal["plimsoll.comparison/1"] = Field(default=SCHEMA, alias="schema")
    baseline: RunPart
    comparisons: list[ComparisonPart] = Field(description="One for each of the other runs.")
    table: list[RowPart] = Field(description="The run table: a row for each run, the baseline first.")
