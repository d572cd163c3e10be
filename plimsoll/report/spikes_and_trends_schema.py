"""The parts of a review's JSON on regular spikes, trends and averages that mislead."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class RisingPart(_Part):
    """A signal that is higher in spikes, with its means in them and between them."""

    signal: str
    title: str
    host: str
    instance: str | None
    unit: str
    inside: float
    between: float


class SpikingPart(_Part):
    """A signal with regular spikes of its own."""

    signal: str
    title: str
    host: str
    instance: str | None
    unit: str
    count: int
    typical: float = Field(description="The median of the highest values of the spikes.")
    highest: float
    level: float = Field(description="The median of the samples between the spikes.")
    width_s: float = Field(description="How long values are usually raised.")


class InSpikesPart(_Part):
    """The nearest limit of a signal that rises in spikes, and its single samples in them; the rule itself may hold."""

    rule: str
    signal: str
    title: str
    host: str
    instance: str | None
    limit: float
    unit: str
    highest: float = Field(description="The highest sample in the spikes.")
    passed: int = Field(description="In how many of the spikes a sample was past the limit.")


class SpikesPart(_Part):
    """Spikes that come at regular intervals."""

    sentence: str
    with_it: str = Field(description="What rises in the spikes, in a sentence; empty if nothing is known to.")
    consequence: str = Field(description="Whether limits were passed in them; empty if what rises has none.")
    period_s: float
    period_reach_s: float = Field(description="How far the true period may be from period_s (two standard errors).")
    first: str = Field(description="The first sample of the first spike.")
    last: str = Field(description="The first sample of the last spike.")
    count: int
    missing: int = Field(description="Beats between the first and the last that have no spike.")
    agreement: float = Field(description="How well the spikes keep to the period; 1 for a clock.")
    main: SpikingPart
    same: list[SpikingPart] = Field(description="Other signals with spikes in the same rhythm.")
    rising: list[RisingPart] = Field(description="The strongest first; those of `same` are among them.")
    processes: list[RisingPart] = Field(description="Processes whose processor time rises in the spikes.")
    limits: list[InSpikesPart] = Field(
        description="Those passed most often first; without those that are passed as often between the spikes."
    )


class TrendPart(_Part):
    """The trend of a signal for which the catalogue says what a trend means (`trend` in rules/signals)."""

    sentence: str
    notable: bool = Field(description="Whether it is worth telling; those that are come first.")
    signal: str
    title: str
    host: str
    instance: str | None
    unit: str
    means: Literal["must_not_rise", "must_not_fall", "should_rise"]
    movement: Literal["climbs", "falls", "none"] = Field(
        description="climbs, falls: throughout, by at least 5 % of its level. Not what jumps, levels off, or goes up "
        "and down."
    )
    phase: str | None = Field(description="The phase that was looked at; null for the whole run.")
    start: str
    end: str
    per_hour: float = Field(description="The change in an hour.")
    per_hour_low: float = Field(description="With per_hour_high the interval that holds it with 95 % confidence.")
    per_hour_high: float
    line_start: float = Field(description="The value of the line at `start`.")
    line_end: float
    highest: float
    load: str | None = Field(description="The load signal it was compared with; null if none was recorded.")
    explained_by_load: bool = Field(description="Whether the load climbed by at least half as much, as a share.")
    limit: float | None = Field(description="The nearest limit the line leads to, or that it should be above.")
    reaches_limit_s: float | None = Field(
        description="When the line reaches the limit, after `end`; null if it does not within five times the time "
        "looked at."
    )
    reaches_limit_earliest_s: float | None
    reaches_limit_latest_s: float | None


class AveragePart(_Part):
    """An average that misleads."""

    sentence: str
    kind: Literal["bursts", "tail", "two levels"] = Field(
        description="bursts: most samples are zero; tail: p99 is at least five times the mean; two levels: values go "
        "to and fro between two levels and are hardly ever near their mean."
    )
    signal: str
    title: str
    host: str
    instance: str | None
    unit: str
    mean: float
    nonzero_share: float
    nonzero_mean: float
    p99: float
    max: float
    low: float | None = Field(description="The lower of two levels; null for other kinds.")
    high: float | None
    high_share: float | None = Field(description="The share of samples at the higher level.")
