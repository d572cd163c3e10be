"""Regular spikes, as JSON."""

from pydantic import Field

from plimsoll.insights.insight import JsonField, Part
from plimsoll.insights.spikes import words
from plimsoll.insights.spikes.find import PeriodicSpikes, SignalSpikes
from plimsoll.insights.spikes.rising import LimitInSpikes, Rising
from plimsoll.model.times import iso


class RisingPart(Part):
    """A signal that is higher in spikes, with its means in them and between them."""

    signal: str
    title: str
    host: str
    instance: str | None
    unit: str
    inside: float
    between: float


class SpikingPart(Part):
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


class InSpikesPart(Part):
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


class SpikesPart(Part):
    """Spikes that come at regular intervals."""

    sentence: str
    with_it: str = Field(description="What rises in the spikes, in a sentence; empty if nothing is known to.")
    consequence: str = Field(description="Whether limits were passed in them; empty if what rises has none.")
    period_s: float
    period_reach_s: float = Field(description="How far the true period may be from period_s (two standard errors).")
    may_be_alias: bool = Field(
        description="Whether the spikes last for one or two samples, so that a faster rhythm may show as this one."
    )
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


def spikes_part(found: tuple[PeriodicSpikes, ...]) -> list[SpikesPart]:
    """All rhythms."""
    return [_rhythm(one) for one in found]


def _rhythm(one: PeriodicSpikes) -> SpikesPart:
    return SpikesPart(
        sentence=words.sentence(one),
        with_it=words.with_it(one),
        consequence=words.consequence(one),
        period_s=one.period_s,
        period_reach_s=one.main.spikes.reach_s,
        may_be_alias=one.main.spikes.may_be_alias,
        first=iso(int(one.main.events.starts[0])),
        last=iso(int(one.main.events.starts[-1])),
        count=one.count,
        missing=one.main.spikes.missing,
        agreement=one.main.spikes.agreement,
        main=_spiking(one.main),
        same=[_spiking(other) for other in one.same],
        rising=[_rising(other) for other in one.rising],
        processes=[_rising(other) for other in one.processes],
        limits=[_limit(limit) for limit in one.limits],
    )


def _spiking(one: SignalSpikes) -> SpikingPart:
    return SpikingPart(
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        unit=one.signal.unit,
        count=len(one.events.starts),
        typical=one.typical,
        highest=one.highest,
        level=one.spikes.level,
        width_s=one.spikes.width_s,
    )


def _rising(one: Rising) -> RisingPart:
    return RisingPart(
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        unit=one.signal.unit,
        inside=one.inside,
        between=one.between,
    )


def _limit(one: LimitInSpikes) -> InSpikesPart:
    return InSpikesPart(
        rule=one.rule,
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        limit=one.limit.limit,
        unit=one.signal.unit,
        highest=one.highest,
        passed=one.passed,
    )


FIELD = JsonField(
    "spikes", list[SpikesPart], "Spikes that come at regular intervals; those past limits first.", spikes_part
)
