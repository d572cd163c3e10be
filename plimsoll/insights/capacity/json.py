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


def document(capacity: Capacity) -> dict[str, Any]:
    """Return the whole document; null stands for what is not known or not reached."""
    observed = capacity.observed
    return {
        "schema": SCHEMA,
        "answer": answer(capacity),
        "sentences": list(sentences(capacity)),
        "load": {
            "title": observed.title,
            "unit": observed.unit,
            "highest": capacity.highest,
            "projected_to": capacity.projected,
            "users_highest": capacity.users.highest if isinstance(capacity.users, MeasuredUsers) else None,
            "users_unit": capacity.users.unit if capacity.users else None,
            "profile": capacity.profile.title if capacity.profile else None,
            "mix": [
                {"operations": [observed.names[at] for at in group], "share": float(share)}
                for group, share in zip(capacity.groups, capacity.mix, strict=True)
            ],
        },
        "changed": list(capacity.changed),
        "limits": [_limit(capacity, limit) for limit in capacity.reached],
        "resources": [_resource(capacity, resource) for resource in capacity.resources],
        "response": None
        if capacity.response is None
        else {
            "signal": capacity.response.response.name,
            "model_off": capacity.response.off,
            "levels": [
                {"load": float(load), "seconds": float(seconds)}
                for load, seconds in zip(capacity.response.loads, capacity.response.measured, strict=True)
            ],
        },
        "saturation": None
        if capacity.saturation is None
        else {
            "load": capacity.saturation.load,
            "users": capacity.saturation.users,
            "by_resource": capacity.saturation.by_resource,
        },
        "contradictions": [
            {
                "what": contradiction.what,
                "load": contradiction.load,
                "measured": contradiction.measured,
                "by_littles_law": contradiction.by_law,
            }
            for contradiction in capacity.contradictions
        ],
    }


def _limit(capacity: Capacity, limit: Limit) -> dict[str, Any]:
    item = limit.what
    kind = (
        "resource"
        if isinstance(item, ResourceCapacity)
        else "objective"
        if isinstance(item, ObjectiveCapacity)
        else "throughput"
    )
    resource = item.resource if isinstance(item, ResourceCapacity) else None
    response = item.curve.response.name if isinstance(item, ObjectiveCapacity) else None
    return {
        "kind": kind,
        "sentence": what_text(capacity, limit),
        "signal": resource.signal if resource else response,
        "host": resource.subject.host if resource else None,
        "instance": resource.subject.instance if resource else None,
        "load": _range(limit.load),
        "users": _users(capacity, limit.load),
        "projected": limit.load.value > capacity.highest and kind != "throughput",
    }


def _resource(capacity: Capacity, resource_capacity: ResourceCapacity) -> dict[str, Any]:
    resource = resource_capacity.resource
    demands: list[dict[str, Any]] = []
    for at, group in enumerate(capacity.groups if resource_capacity.follows else ()):
        values, unit = in_amounts(resource, resource_capacity.demand.each[:, at])
        names = [capacity.observed.names[number] for number in group]
        ppem = {"ppem": float(values[0] * resource.clock_mhz)} if unit == "s" and resource.clock_mhz else {}
        demands.append({"operations": names, "unit": unit, **_plain(Range.of(values)), **ppem})
    return {
        "signal": resource.signal,
        "title": resource.title,
        "host": resource.subject.host,
        "instance": resource.subject.instance,
        "limit": resource.limit,
        "document": resource.document,
        "without_load": _range(resource_capacity.idle) if resource_capacity.follows else None,
        "at_highest_load": _range(resource_capacity.use),
        "demands": demands,
        "bend": float(resource_capacity.demand.bend[0]) if resource_capacity.follows else None,
        "load": _range(resource_capacity.load),
        "users": _users(capacity, resource_capacity.load),
        "not_known": resource_capacity.why_not or None,
        "verified": None
        if resource_capacity.check is None
        else {
            "load": resource_capacity.check.load,
            "measured": resource_capacity.check.measured,
            "predicted": resource_capacity.check.predicted,
        },
    }


def _users(capacity: Capacity, load: Range) -> dict[str, float | None] | None:
    if capacity.users is None or not np.isfinite(load.value):
        return None
    return _range(Range(capacity.users.at(load.value), *capacity.users.between(load.value, load.low, load.high)))


def _range(item: Range) -> dict[str, float | None] | None:
    return _plain(item) if np.isfinite(item.value) else None


def _plain(item: Range) -> dict[str, float | None]:
    return {name: value if np.isfinite(value) else None for name, value in vars(item).items()}


def asked_json(capacity: Capacity, result: Asked) -> dict[str, Any]:
    """Return the field `asked` of the JSON."""
    return {
        "users": result.users,
        "load": result.load,
        "known": not result.beyond,
        "projected": result.load > capacity.highest,
        "uses": [
            {
                "signal": resource.resource.signal,
                "host": resource.resource.subject.host,
                "instance": resource.resource.subject.instance,
                **{name: None if isnan(value) else value for name, value in vars(use).items()},
            }
            for resource, use in zip(capacity.resources, result.uses, strict=False)
        ],
        "response_s": result.response,
        "hosts_needed": [{"host": host.host, "count": host.count} for host in result.hosts],
    }


def growth_json(forecast: Forecast) -> dict[str, Any]:
    """Return the field `growth` of the JSON."""
    days = {"day": forecast.day, "low": forecast.low, "high": forecast.high}
    return {
        "growth": forecast.growth.text,
        "users": forecast.now,
        "at_least": forecast.at_least,
        **{name: day.isoformat() if day else None for name, day in days.items()},
    }
