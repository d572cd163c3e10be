"""Reads what OpenTelemetry's programs send by OTLP over HTTP, in protobuf or JSON.

https://opentelemetry.io/docs/specs/otlp, and metrics.proto of opentelemetry-proto.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from plimsoll.receive.exporters.names import host_of, without_port
from plimsoll.receive.exporters.protobuf import Field, NotProtobuf, fields
from plimsoll.receive.exporters.taken import Taken
from plimsoll.receive.exporters.translate import Translator

# The attributes of a resource that name its host, the best first.
_HOST = ("host.name", "server.address", "net.host.name", "service.instance.id")
_DELTA = 1
_DELTA_TEXT = "AGGREGATION_TEMPORALITY_DELTA"
_OLD_SCOPES = 1000


class NotOtlp(Exception):
    """The body is no message of OTLP; the text is the reason."""


class _Point(NamedTuple):
    name: str
    labels: tuple[tuple[str, str], ...]
    time: int
    value: float


def read(body: bytes, translator: Translator, *, is_json: bool, now: int) -> Taken:
    """The samples of a message. NotOtlp if it is none."""
    taken = Taken(translator, now)
    try:
        for resource, points in _of_json(body, taken) if is_json else _of_protobuf(body, taken):
            own = next((resource[name] for name in _HOST if resource.get(name)), "")
            for one in points:
                host = host_of(dict(one.labels)) if not own else without_port(own)
                taken.add(
                    (host, one.name, one.labels),
                    lambda one=one, host=host: (one.name, dict(one.labels), host),
                    [(one.time, one.value)],
                )
        taken.finish()
    except NotProtobuf as error:
        raise NotOtlp(str(error)) from None
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise NotOtlp(f"no message of OTLP: {type(error).__name__}") from None
    return taken


def _of_protobuf(body: bytes, taken: Taken) -> Iterator[tuple[Mapping[str, str], list[_Point]]]:
    for resource_metrics in fields(body):
        if resource_metrics.number != 1:
            continue
        resource: dict[str, str] = {}
        points: list[_Point] = []
        for part in fields(resource_metrics.bytes):
            if part.number == 1:
                resource = dict(_attribute(one) for one in fields(part.bytes) if one.number == 1)
            elif part.number in (2, _OLD_SCOPES):
                for metric in fields(part.bytes):
                    if metric.number == 2:
                        points += _metric(metric.bytes, taken)
        yield resource, points


def _metric(data: bytes, taken: Taken) -> Iterator[_Point]:
    name, held = "", list[Field]()
    for part in fields(data):
        if part.number == 1:
            name = part.text
        elif part.number in (5, 7):
            held = [*fields(part.bytes)]
        elif part.number in (9, 10, 11):
            taken.histograms += 1
    is_delta = any(one.number == 2 and one.value == _DELTA for one in held)
    points = [one.bytes for one in held if one.number == 1]
    if is_delta or name not in taken.known:
        taken.leave_out(f"{name} (delta)" if is_delta else name, len(points))
        return
    for point in points:
        yield _point(name, point)


def _point(name: str, data: bytes) -> _Point:
    time, value, labels = 0, 0.0, list[tuple[str, str]]()
    for part in fields(data):
        if part.number == 3:
            time = part.integer
        elif part.number == 4:
            value = part.double
        elif part.number == 6:
            value = float(part.signed)
        elif part.number == 7:
            labels.append(_attribute(part))
    return _Point(name, tuple(sorted(labels)), time, value)


def _attribute(field: Field) -> tuple[str, str]:
    key = text = ""
    for part in fields(field.bytes):
        if part.number == 1:
            key = part.text
        elif part.number == 2:
            text = next((_any(one) for one in fields(part.bytes)), "")
    return key, text


def _any(value: Field) -> str:
    match value.number:
        case 1:
            return value.text
        case 2:
            return "true" if value.integer else "false"
        case 3:
            return str(value.signed)
        case 4:
            return repr(value.double)
        case _:
            return ""


def _of_json(body: bytes, taken: Taken) -> Iterator[tuple[Mapping[str, str], list[_Point]]]:
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise NotOtlp("the body is no JSON") from None
    for one in message.get("resourceMetrics", ()):
        resource = _json_attributes(one.get("resource", {}).get("attributes", ()))
        points: list[_Point] = []
        for scope in one.get("scopeMetrics", ()):
            for metric in scope.get("metrics", ()):
                points += _json_metric(metric, taken)
        yield dict(resource), points


def _json_metric(metric: Mapping[str, Any], taken: Taken) -> Iterator[_Point]:
    name = str(metric.get("name", ""))
    held = metric.get("sum") or metric.get("gauge")
    if held is None:
        taken.histograms += 1
        return
    points: Sequence[Any] = held.get("dataPoints", ())
    is_delta = held.get("aggregationTemporality") in (_DELTA, _DELTA_TEXT)
    if is_delta or name not in taken.known:
        taken.leave_out(f"{name} (delta)" if is_delta else name, len(points))
        return
    for point in points:
        value = point["asDouble"] if "asDouble" in point else point["asInt"]
        yield _Point(name, _json_attributes(point.get("attributes", ())), int(point["timeUnixNano"]), float(value))


def _json_attributes(attributes: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(one["key"]), _json_any(one.get("value", {}))) for one in attributes))


def _json_any(value: Mapping[str, Any]) -> str:
    found = next(iter(value.values()), "")
    return found if isinstance(found, str) else json.dumps(found)
