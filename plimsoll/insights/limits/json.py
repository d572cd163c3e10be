"""What limits a run, as JSON."""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from plimsoll.insights.insight import JsonField, Part
from plimsoll.insights.limits.figure import Figure
from plimsoll.insights.limits.find import Limit
from plimsoll.insights.limits.resource_use import ResourceUse
from plimsoll.insights.limits.words import sentences
from plimsoll.model.times import iso


class LimitFigurePart(Part):
    """A value that a sentence rests on: the median, at the highest load, of means over equal parts of the run."""

    signal: str = Field(description="A signal, or the path of a counter that no signal uses.")
    title: str
    host: str
    instance: str | None
    phase: str | None = Field(description="The phase that most of the highest load is in; null if that is not known.")
    value: float
    at_low_load: float | None = Field(
        description="The same at no more than half of the highest load, if there was one."
    )
    unit: str
    limit: float | None = Field(
        description="From which it is near its capacity, as it was compared; null if it was not."
    )
    document: str | None = Field(description='Where the limit is from; "our choice" if no document gives one.')


class TimePart(Part):
    """A part of the run."""

    start: str
    end: str


class LimitSentencePart(Part):
    """A sentence, and the figures it rests on."""

    text: str
    figures: list[LimitFigurePart]


class StandingPart(Part):
    """How near a resource of a host was to its capacity."""

    resource: Literal["cpu", "disk", "memory", "network"]
    host: str
    state: Literal["not-recorded", "unclear", "room", "high", "near", "full"] = Field(
        description="unclear: the recorded counters do not tell; high: not near its capacity, and not far from it."
    )
    figures: list[LimitFigurePart] = Field(description="Of its busiest instance, the most telling first.")
    needed: str | None = Field(description="The counters that would tell, if these were not recorded.")


class LoadResponsePart(Part):
    """The load of the run, and whether the work that was done followed it."""

    offered: str | None = Field(
        description="The signal of the load that was put on; null if it is not recorded or constant."
    )
    work: str | None = Field(description="The signal of the work that was done.")
    follows: bool | None = Field(description="Whether the work followed the load to its highest; null if not known.")
    elasticity: float | None = Field(
        description="Growth of the work for each growth of the load, near the highest: 1 follows, 0 is flat."
    )


class LimitPart(Part):
    """What limits the run. A resource that does so for sure is a doubt that the run was healthy."""

    kind: Literal["cpu", "disk", "memory", "network", "queue", "load", "unknown"] = Field(
        description="A resource; queue: the software or something that is not recorded, while the resources have room; "
        "never confident; load: nothing that was recorded limits, and if confident, it was too small to reach a limit; "
        "unknown: it cannot be told."
    )
    confident: bool = Field(description="Whether the figures leave no other explanation that was looked for.")
    host: str | None = Field(description="The host that limits; null where none does.")
    instance: str | None = Field(description="The disk, adapter, processor or process that limits.")
    summary: str
    sentences: list[LimitSentencePart] = Field(description="The summary, then the reasons.")
    resources: list[StandingPart] = Field(
        description="Every resource of every host: what was ruled out, and what was not."
    )
    load: LoadResponsePart
    spans: list[TimePart] = Field(description="The times of the highest load, which the figures are of.")


def limit_part(limit: Limit | None) -> LimitPart | None:
    """What limits the run, with all its figures; None if it has no samples."""
    if limit is None:
        return None
    load, told = limit.load, sentences(limit)
    return LimitPart(
        kind=limit.kind,
        confident=limit.confident,
        host=limit.host,
        instance=limit.instance,
        summary=told[0].text,
        sentences=[LimitSentencePart(text=s.text, figures=_figures(s.figures, limit)) for s in told],
        resources=[_standing(one, limit) for one in limit.resources],
        load=LoadResponsePart(
            offered=load.offered.name if load.offered else None,
            work=load.work.name if load.work else None,
            follows=load.follows,
            elasticity=load.response.elasticity if load.response else None,
        ),
        spans=[TimePart(start=iso(start), end=iso(end)) for start, end in limit.spans],
    )


def _standing(one: ResourceUse, limit: Limit) -> StandingPart:
    return StandingPart(
        resource=one.resource,
        host=one.host,
        state=one.state.text,
        figures=_figures(one.figures, limit),
        needed=one.needed or None,
    )


def _figures(figures: Sequence[Figure], limit: Limit) -> list[LimitFigurePart]:
    return [
        LimitFigurePart(
            signal=one.signal,
            title=one.title,
            host=one.subject.host,
            instance=one.subject.instance,
            phase=limit.phase,
            value=one.value,
            at_low_load=None if one.before is None or math.isnan(one.before) else one.before,
            unit=one.unit,
            limit=one.limit,
            document=one.document,
        )
        for one in figures
    ]


FIELD = JsonField("limit", LimitPart | None, "Null if the logs have no samples.", limit_part)
