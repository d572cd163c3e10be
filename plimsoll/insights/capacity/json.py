"""The load that a system can carry, as JSON: docs/capacity.md describes the fields."""

from math import isnan
from typing import Any

import numpy as np

from plimsoll.insights.capacity.document import convert_to_amounts
from plimsoll.insights.capacity.find import Capacity, Limit, ObjectiveCapacity, Range, ResourceCapacity
from plimsoll.insights.capacity.forecast import Forecast, Needs
from plimsoll.insights.capacity.levels import MeasuredUsers
from plimsoll.insights.capacity.words import answer, describe_limit, list_sentences

SCHEMA = "plimsoll.capacity/1"


def build_document(capacity: Capacity) -> dict[str, Any]:
    """Return the whole JSON document on a capacity; values that are unknown or not reached are null."""
    observed, curve, stop = capacity.observed, capacity.response, capacity.saturation
    return {
        "schema": SCHEMA,
        "answer": answer(capacity),
        "sentences": list(list_sentences(capacity)),
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
        "resources": [_encode_resource(capacity, resource) for resource in capacity.resources],
        "response": curve
        and {
            "signal": curve.response.name,
            "model_off": curve.off,
            "levels": [
                {"load": float(load), "seconds": float(seconds)}
                for load, seconds in zip(curve.loads, curve.measured, strict=True)
            ],
        },
        "saturation": stop and {"load": stop.load, "users": stop.users, "by_resource": stop.by_resource},
        "contradictions": [
            {
                "what": differs.quantity,
                "load": differs.load,
                "measured": differs.measured,
                "by_littles_law": differs.by_law,
            }
            for differs in capacity.contradictions
        ],
    }


def _limit(capacity: Capacity, limit: Limit) -> dict[str, Any]:
    """Return a limit as JSON."""
    resource = limit.cause.resource if isinstance(limit.cause, ResourceCapacity) else None
    response = limit.cause.curve.response.name if isinstance(limit.cause, ObjectiveCapacity) else None
    kind = "resource" if resource else "objective" if response else "throughput"
    return {
        "kind": kind,
        "sentence": describe_limit(capacity, limit),
        "signal": resource.signal if resource else response,
        "host": resource.subject.host if resource else None,
        "instance": resource.subject.instance if resource else None,
        "load": _encode_range(limit.load),
        "users": _encode_users(capacity, limit.load),
        "projected": limit.load.value > capacity.highest and kind != "throughput",
    }


def _encode_resource(capacity: Capacity, resource_capacity: ResourceCapacity) -> dict[str, Any]:
    """Return a resource as JSON, with its demands and the check of the predicted use."""
    resource = resource_capacity.resource
    demands: list[dict[str, Any]] = []
    for at, group in enumerate(capacity.groups if resource_capacity.follows else ()):
        values, unit = convert_to_amounts(resource, resource_capacity.demand.per_operation[:, at])
        names = [capacity.observed.names[number] for number in group]
        ppem = {"ppem": float(values[0] * resource.clock_mhz)} if unit == "s" and resource.clock_mhz else {}
        demands.append({"operations": names, "unit": unit, **_encode_plain_range(Range.of(values)), **ppem})
    return {
        "signal": resource.signal,
        "title": resource.title,
        "host": resource.subject.host,
        "instance": resource.subject.instance,
        "limit": resource.limit,
        "document": resource.document,
        "without_load": _encode_range(resource_capacity.idle) if resource_capacity.follows else None,
        "at_highest_load": _encode_range(resource_capacity.use),
        "demands": demands,
        "bend": float(resource_capacity.demand.bend[0]) if resource_capacity.follows else None,
        "load": _encode_range(resource_capacity.load),
        "users": _encode_users(capacity, resource_capacity.load),
        "not_known": resource_capacity.why_not or None,
        "verified": vars(resource_capacity.check) if resource_capacity.check else None,
    }


def _encode_users(capacity: Capacity, load: Range) -> dict[str, float | None] | None:
    if capacity.users is None or not np.isfinite(load.value):
        return None
    return _encode_range(Range(capacity.users.at(load.value), *capacity.users.between(load.value, load.low, load.high)))


def _encode_range(values: Range) -> dict[str, float | None] | None:
    return _encode_plain_range(values) if np.isfinite(values.value) else None


def _encode_plain_range(values: Range) -> dict[str, float | None]:
    return {name: value if np.isfinite(value) else None for name, value in vars(values).items()}


def needs_json(capacity: Capacity, needs: Needs) -> dict[str, Any]:
    """Return the needs of a number of users, for the field `asked` of the JSON."""
    return {
        "users": needs.users,
        "load": needs.load,
        "known": not needs.beyond,
        "projected": needs.load > capacity.highest,
        "uses": [
            {
                "signal": resource.resource.signal,
                "host": resource.resource.subject.host,
                "instance": resource.resource.subject.instance,
                **{name: None if isnan(value) else value for name, value in vars(use).items()},
            }
            for resource, use in zip(capacity.resources, needs.uses, strict=False)
        ],
        "response_s": needs.response,
        "hosts_needed": [{"host": host.host, "count": host.count} for host in needs.hosts],
    }


def encode_growth(forecast: Forecast) -> dict[str, Any]:
    """Return the forecast of growing users, for the field `growth` of the JSON."""
    days = {name: day.isoformat() if (day := getattr(forecast, name)) else None for name in ("day", "low", "high")}
    return {"growth": forecast.growth.text, "users": forecast.now, "at_least": forecast.at_least, **days}
