"""The part of the JSON document on what limits the run."""

import math
from collections.abc import Sequence

from plimsoll.insights.limits.figure import Figure
from plimsoll.insights.limits.find import Limit
from plimsoll.insights.limits.resource_use import Standing
from plimsoll.model.times import iso
from plimsoll.report.json_schema import (
    LimitFigurePart,
    LimitPart,
    LimitSentencePart,
    LoadResponsePart,
    StandingPart,
    TimePart,
)


def limit_part(limit: Limit) -> LimitPart:
    """What limits the run, with all its figures."""
    load = limit.load
    return LimitPart(
        kind=limit.kind,
        confident=limit.confident,
        host=limit.host,
        instance=limit.instance,
        summary=limit.summary,
        sentences=[LimitSentencePart(text=s.text, figures=_figures(s.figures, limit)) for s in limit.sentences],
        resources=[_standing(one, limit) for one in limit.standings],
        load=LoadResponsePart(
            offered=load.offered.name if load.offered else None,
            work=load.work.name if load.work else None,
            follows=load.follows,
            elasticity=load.response.elasticity if load.response else None,
        ),
        spans=[TimePart(start=iso(start), end=iso(end)) for start, end in limit.spans],
    )


def _standing(one: Standing, limit: Limit) -> StandingPart:
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
