"""How much load a system can carry, as JSON: docs/capacity.md describes the fields."""

from math import isnan
from typing import Any

import numpy as np

from plimsoll.insights.capacity.document import in_amounts
from plimsoll.insights.capacity.find import Capacity, Limit, ObjectiveCapacity, Range, ResourceCapacity
from plimsoll.insights.capacity.forecast import Asked, Forecast
from plimsoll.insights.capacity.levels import MeasuredUsers
from plimsoll.insights.capacity.words import answer, sentences, what_text

SCHEMA = "plimsoll.capacity/1"


def document(found: Capacity) -> dict[str, Any]:
    """The whole document; null stands for what is not known or not reached."""
    seen = found.observed
    return {
        "schema": SCHEMA,
        "answer": answer(found),
        "sentences": list(sentences(found)),
        "load": {
            "title": seen.title,
            "unit": seen.unit,
            "highest": found.highest,
            "projected_to": found.projected,
            "users_highest": found.users.highest if isinstance(found.users, MeasuredUsers) else None,
            "users_unit": found.users.unit if found.users else None,
            "profile": found.profile.title if found.profile else None,
            "mix": [
                {"operations": [seen.names[at] for at in group], "share": float(share)}
                for group, share in zip(found.groups, found.mix, strict=True)
            ],
        },
        "changed": list(found.changed),
        "limits": [_limit(found, one) for one in found.reached],
        "resources": [_resource(found, one) for one in found.resources],
        "response": None
        if found.response is None
        else {
            "signal": found.response.response.name,
            "model_off": found.response.off,
            "levels": [
                {"load": float(load), "seconds": float(seconds)}
                for load, seconds in zip(found.response.loads, found.response.measured, strict=True)
            ],
        },
        "saturation": None
        if found.saturation is None
        else {
            "load": found.saturation.load,
            "users": found.saturation.users,
            "by_resource": found.saturation.by_resource,
        },
        "contradictions": [
            {"what": one.what, "load": one.load, "measured": one.measured, "by_littles_law": one.by_law}
            for one in found.contradictions
        ],
    }


def _limit(found: Capacity, limit: Limit) -> dict[str, Any]:
    one = limit.what
    kind = (
        "resource"
        if isinstance(one, ResourceCapacity)
        else "objective"
        if isinstance(one, ObjectiveCapacity)
        else "throughput"
    )
    resource = one.resource if isinstance(one, ResourceCapacity) else None
    response = one.curve.response.name if isinstance(one, ObjectiveCapacity) else None
    return {
        "kind": kind,
        "sentence": what_text(found, limit),
        "signal": resource.signal if resource else response,
        "host": resource.subject.host if resource else None,
        "instance": resource.subject.instance if resource else None,
        "load": _range(limit.load),
        "users": _users(found, limit.load),
        "projected": limit.load.value > found.highest and kind != "throughput",
    }


def _resource(found: Capacity, one: ResourceCapacity) -> dict[str, Any]:
    known = one.resource
    demands: list[dict[str, Any]] = []
    for at, group in enumerate(found.groups if one.follows else ()):
        each, unit = in_amounts(known, one.demand.each[:, at])
        names = [found.observed.names[number] for number in group]
        ppem = {"ppem": float(each[0] * known.clock_mhz)} if unit == "s" and known.clock_mhz else {}
        demands.append({"operations": names, "unit": unit, **_plain(Range.of(each)), **ppem})
    return {
        "signal": known.signal,
        "title": known.title,
        "host": known.subject.host,
        "instance": known.subject.instance,
        "limit": known.limit,
        "document": known.document,
        "without_load": _range(one.idle) if one.follows else None,
        "at_highest_load": _range(one.use),
        "demands": demands,
        "bend": float(one.demand.bend[0]) if one.follows else None,
        "load": _range(one.load),
        "users": _users(found, one.load),
        "not_known": one.why_not or None,
        "verified": None
        if one.check is None
        else {"load": one.check.load, "measured": one.check.measured, "predicted": one.check.predicted},
    }


def _users(found: Capacity, load: Range) -> dict[str, float | None] | None:
    if found.users is None or not np.isfinite(load.value):
        return None
    return _range(Range(found.users.at(load.value), *found.users.between(load.value, load.low, load.high)))


def _range(one: Range) -> dict[str, float | None] | None:
    return _plain(one) if np.isfinite(one.value) else None


def _plain(one: Range) -> dict[str, float | None]:
    return {name: value if np.isfinite(value) else None for name, value in vars(one).items()}


def asked_json(found: Capacity, asked: Asked) -> dict[str, Any]:
    """The field `asked` of the JSON."""
    return {
        "users": asked.users,
        "load": asked.load,
        "known": not asked.beyond,
        "projected": asked.load > found.highest,
        "uses": [
            {
                "signal": one.resource.signal,
                "host": one.resource.subject.host,
                "instance": one.resource.subject.instance,
                **{name: None if isnan(value) else value for name, value in vars(use).items()},
            }
            for one, use in zip(found.resources, asked.uses, strict=False)
        ],
        "response_s": asked.response,
        "hosts_needed": [{"host": one.host, "count": one.count} for one in asked.hosts],
    }


def growth_json(found: Forecast) -> dict[str, Any]:
    """The field `growth` of the JSON."""
    days = {"day": found.day, "low": found.low, "high": found.high}
    return {
        "growth": found.growth.text,
        "users": found.now,
        "at_least": found.at_least,
        **{name: one.isoformat() if one else None for name, one in days.items()},
    }
