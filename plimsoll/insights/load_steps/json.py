"""Load steps, as JSON."""

from typing import Literal

from pydantic import Field

from plimsoll.insights.insights import JsonField
from plimsoll.insights.load_steps.insight import list_sentences
from plimsoll.model.json_part import Instant, JsonPart, make_optional_getter, read_attribute


class StepHostPart(JsonPart):
    """A host during a load step."""

    host: str
    cpu: float | None = Field(description="Processor time in %.")
    context_switches: float | None = Field(description="Context switches a second.")


class LoadStepPart(JsonPart):
    """One load step: the means of its samples, without samples at its edges."""

    number: int
    start: Instant
    end: Instant
    samples: int
    load: float
    throughput: float | None
    throughput_error: float | None = read_attribute(
        lambda step: None if step.throughput is None else step.error,
        "Standard error of the throughput, with the autocorrelation of the samples.",
    )
    cpu: float | None = Field(description="Processor time in %, the mean of the hosts that do the work.")
    context_switches: float | None = Field(description="Context switches a second, the sum over these hosts.")
    bytes: float | None = Field(description="Bytes a second.")
    latency: float | None
    cost_percent: float | None = Field(description="Processor time (%) for one operation a second.")
    cost_core_seconds: float | None = read_attribute(
        "cost_seconds", "Processor seconds for one operation; null if the number of processors is not known."
    )
    cost_ppem: float | None = read_attribute(
        "cost_mhz",
        "Megahertz for one operation a second (the studies' PPEM); null if the number of processors or "
        "their clock is not known.",
    )
    left_out: bool = Field(description="Whether it has more context switches than the studies accept.")
    hosts: list[StepHostPart]


class EstimatePart(JsonPart):
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


class ScalabilityPart(JsonPart):
    """The universal scalability law of throughput over load, or why it is not fitted."""

    refused: str | None = read_attribute(
        lambda law: getattr(law, "why", None), "Why it is not fitted; the other fields are then null."
    )
    rate: EstimatePart | None = Field(default=None, description="The throughput at a load of 1 (lambda).")
    contention: EstimatePart | None = Field(default=None, description="The share of the work that must queue (sigma).")
    coherency: EstimatePart | None = Field(
        default=None, description="The cost of keeping each pair consistent (kappa)."
    )
    peak_load: EstimatePart | None = Field(
        default=None,
        validation_alias="peak",
        description="The load with the highest throughput; null if no maximum was measured.",
    )
    maximum: EstimatePart | None = Field(default=None, description="The throughput at that load.")
    extrapolated: bool | None = read_attribute(
        lambda law: False if getattr(law, "peak", None) else None,
        "False: a maximum beyond the measured loads is not claimed.",
        default=None,
    )
    r_squared: float | None = None
    aic: float | None = Field(default=None, description="Akaike's criterion of the law; lower is better.")
    aic_line: float | None = Field(default=None, description="Akaike's criterion of a straight line through 0.")


class KneePart(JsonPart):
    """The load at which throughput stops growing."""

    load: float
    throughput: float = read_attribute("value")


class LatencyKneePart(JsonPart):
    """The throughput up to which latency stays flat."""

    latency: float = read_attribute("flat", "While it is flat.")
    rate: float = Field(description="The highest throughput with flat latency.")
    maximum: float = read_attribute("highest", "The highest throughput.")


class LoadStepsPart(JsonPart):
    """The steps of a load that was raised or lowered level by level."""

    load: str = read_attribute("load.name", "The signal that has the steps.")
    load_kind: Literal["operations", "connections", "bytes"] | None = read_attribute(
        "load.kind", "Null for processor time, where no load was recorded."
    )
    load_unit: str = read_attribute("load.signal.unit")
    throughput: str | None = read_attribute(make_optional_getter("throughput.name"), "The signal of the throughput.")
    throughput_unit: str | None = read_attribute(make_optional_getter("throughput.signal.unit"))
    latency: str | None = read_attribute(
        make_optional_getter("latency.title"), "The title of the signal of the latency."
    )
    latency_unit: str | None = read_attribute(make_optional_getter("latency.unit"))
    by_hand: bool = Field(description="Whether the steps are phases in plimsoll.toml.")
    switches_limit: float | None = Field(
        description="The context switches a second above which steps are not chosen as the optimum."
    )
    steps: list[LoadStepPart]
    optimum: int | None = read_attribute(
        make_optional_getter("optimum.number"),
        "The number of the step with the highest throughput at the least cost; null if no higher load than "
        "in it was measured.",
    )
    falls_after: int | None = read_attribute(
        make_optional_getter("falls_after.number"),
        "The number of the step after which throughput falls although the load does not.",
    )
    switching: list[int] = read_attribute(
        lambda steps: [step.number for step in steps.switching or ()],
        "Two steps between which context switches double for less than 10 % more throughput; or empty.",
    )
    knee: KneePart | None
    latency_knee: LatencyKneePart | None
    scalability: ScalabilityPart = read_attribute("law")
    sentences: list[str] = read_attribute(list_sentences)


FIELD = JsonField("load_steps", LoadStepsPart | None, "Null if the load was not stepped.")
