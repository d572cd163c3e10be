"""Regular spikes, as JSON."""

from pydantic import Field

from plimsoll.insights.insights import JsonField
from plimsoll.insights.spikes import insight
from plimsoll.insights.subject_part import SubjectPart
from plimsoll.model.json_part import Instant, JsonPart, read_attribute


class RisingPart(SubjectPart):
    """A signal that is higher in spikes, with its mean in the spikes and its mean between them."""

    inside: float
    between: float


class SpikingPart(SubjectPart):
    """A signal with regular spikes of its own."""

    count: int
    typical: float = Field(description="The median of the highest values of the spikes.")
    highest: float
    level: float = read_attribute("spikes.level", "The median of the samples between the spikes.")
    width_s: float = read_attribute("spikes.width_s", "How long values are usually raised.")


class InSpikesPart(SubjectPart):
    """The nearest limit of a signal that rises in spikes, and its samples in spikes; the rule may not have fired."""

    rule: str
    limit: float = read_attribute("limit.limit")
    highest: float = Field(description="The highest sample in the spikes.")
    passed: int = Field(description="The number of spikes with a sample past the limit.")


class SpikesPart(JsonPart):
    """Spikes that come at regular intervals."""

    sentence: str = read_attribute(insight.describe_rhythm)
    with_it: str = read_attribute(
        insight.describe_rising, "What rises in the spikes, in a sentence; empty if nothing is known to."
    )
    consequence: str = read_attribute(
        insight.describe_consequence, "Whether limits were passed in them; empty if what rises has none."
    )
    period_s: float = read_attribute("main.spikes.period_s")
    period_reach_s: float = read_attribute(
        "main.spikes.reach_s", "How far the true period may be from period_s (two standard errors)."
    )
    may_be_alias: bool = read_attribute(
        "main.spikes.may_be_alias",
        "Whether the spikes last for one or two samples, so that a faster rhythm may show as this one.",
    )
    first: Instant = Field(description="The first sample of the first spike.")
    last: Instant = Field(description="The first sample of the last spike.")
    count: int = read_attribute("main.count")
    missing: int = read_attribute("main.spikes.missing", "Beats between the first and the last that have no spike.")
    agreement: float = read_attribute("main.spikes.agreement", "How well the spikes keep to the period; 1 for a clock.")
    main: SpikingPart
    same: list[SpikingPart] = Field(description="Other signals with spikes in the same rhythm.")
    rising: list[RisingPart] = Field(
        description="The signals that rise in the spikes, the strongest first, including those in `same`."
    )
    processes: list[RisingPart] = Field(description="Processes whose processor time rises in the spikes.")
    limits: list[InSpikesPart] = Field(
        description="The limits of these signals, those passed most often first; limits passed as often between the "
        "spikes are left out."
    )


FIELD = JsonField("spikes", list[SpikesPart], "Spikes that come at regular intervals; those past limits first.")
