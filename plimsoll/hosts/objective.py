"""The `[objective]` table of plimsoll.toml: limits on response times and failed requests, as rules.

The rules judge a load driver's results (plimsoll/ingest/formats/load_results), for all requests or for one operation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Annotated, Literal

import numpy as np

from plimsoll.hosts.overrides import Length
from plimsoll.model.errors import escape
from plimsoll.model.file_models import FieldBounds, FieldParser, entry, file_model, parse_content
from plimsoll.model.lazy_imports import pydantic
from plimsoll.model.log import Log
from plimsoll.model.series import LOAD_DRIVER
from plimsoll.model.times import SECOND, parse_duration
from plimsoll.rules.schema.field_types import Healthy, Severity
from plimsoll.rules.schema.pack import AppliesTo, Citation, Pack, Rule
from plimsoll.rules.schema.signal import RequestRate, Signal, Source
from plimsoll.rules.schema.units import convert_limit

PACK = "objective"
Measure = Literal["response_mean", "response_p50", "response_p95", "response_p99", "errors"]
# For each measure: the field of the load driver's series, the signal of all requests, the title, the unit.
_MEASURES: Mapping[Measure, tuple[str, str, str, str]] = {
    "response_mean": ("response_mean_s", "client.response_time", "Response time", "s"),
    "response_p50": ("response_p50_s", "client.response_p50", "Response time, median", "s"),
    "response_p95": ("response_p95_s", "client.response_p95", "Response time, 95th percentile", "s"),
    "response_p99": ("response_p99_s", "client.response_p99", "Response time, 99th percentile", "s"),
    "errors": ("error_percent", "client.error_share", "Share of failed requests", "%"),
}
_OPERATOR = ("<", ">", "=", "≤", "≥")
_MOST_SLUG = 40
_ENOUGH_FAILED = 10  # our choice


def _limit_in(unit: str, example: str) -> FieldParser:
    """Return a validator that parses an upper limit such as `example`, and converts it to `unit`."""

    def parsed(value: object) -> object:
        if not isinstance(value, str):
            raise ValueError(f'is not a limit; write it like "{example}"')
        text = value.strip() if value.strip().startswith(_OPERATOR) else f"< {value.strip()}"
        try:
            limit = convert_limit(Healthy.parse(text), unit)
        except ValueError as error:
            raise ValueError(f'{error}; write it like "{example}"') from None
        if limit.worse != "higher":
            raise ValueError(f'"{value}" is no upper limit; write it like "{example}"')
        if not isfinite(limit.limit) or limit.limit < 0 or (limit.limit == 0 and limit.operator == "<"):
            raise ValueError(f'"{value}" cannot be met; write it like "{example}"')
        return limit

    return FieldParser(parsed)


_Time = Annotated[Healthy, _limit_in("s", "500 ms")]
_Share = Annotated[Healthy, _limit_in("%", "< 0.1 %")]


@file_model
class ObjectiveLimits:
    """Optional limits on response times and on the share of failed requests."""

    response_mean: _Time | None = None
    response_p50: _Time | None = None
    response_p95: _Time | None = None
    response_p99: _Time | None = None
    errors: _Share | None = None

    @property
    def set_limits(self) -> Mapping[Measure, Healthy]:
        """The limits that are set, by the field that sets them, such as `response_p95`."""
        return {measure: limit for measure in _MEASURES if (limit := getattr(self, measure)) is not None}


@file_model
class ObjectiveSettings(ObjectiveLimits):
    """The `[objective]` table, with limits for all requests, and for single operations."""

    operations: dict[Annotated[str, FieldBounds(min_length=1)], ObjectiveLimits] = entry(default_factory=dict)
    over: Length = parse_duration("1m")
    for_: Length = entry(default=parse_duration("1m"), alias="for")
    phase: Literal["ramp-up", "steady", "ramp-down"] | None = None
    severity: Severity = "critical"

    def __post_init__(self) -> None:
        for operation, limits in self.operations.items():
            if not limits.set_limits:
                raise ValueError(f'sets nothing for "{escape(operation)}"; give response_p95 or errors')


def parse_time_limits(typed: Sequence[str]) -> dict[str, float]:
    """Return the limits on response times of all requests (s), by signal, from texts like `response_p95=500ms`.

    Raise ValueError, saying what is wrong, if a text is malformed.
    """
    limits: dict[str, float] = {}
    for text in typed:
        name, _, limit = (part.strip() for part in text.partition("="))
        names = {measure for measure, parts in _MEASURES.items() if parts[3] == "s"}
        if name not in names or not limit:
            raise ValueError(f'"{text}" is no objective; write it like response_p95=500ms ({", ".join(sorted(names))})')
        try:
            settings = parse_content(ObjectiveLimits, {name: limit})
        except pydantic.ValidationError as error:
            raise ValueError(f'"{text}": {error.errors()[0]["msg"].removeprefix("Value error, ")}') from None
        limits |= {_MEASURES[measure][1]: healthy.limit for measure, healthy in settings.set_limits.items()}
    return limits


def make_objective(settings: ObjectiveSettings, logs: Sequence[Log] = ()) -> Pack | None:
    """Return a pack with the rules of an objective; None if the objective sets no limit.

    The pack defines a signal for each limit on a single operation. A limit on failed requests is judged over windows in
    which the requests of `logs` can show it.
    """
    if not (settings.operations or settings.set_limits):
        return None
    rules = [
        _make_rule(settings, f"{PACK}-{measure.replace('_', '-')}", _MEASURES[measure][1], measure, limit, logs)
        for measure, limit in settings.set_limits.items()
    ]
    signals: dict[str, Signal] = {}
    taken = {rule.id for rule in rules}
    for number, (operation, limits) in enumerate(settings.operations.items(), 1):
        slug = re.sub(r"[^a-z0-9]+", "-", operation.casefold())[:_MOST_SLUG].strip("-") or "operation"
        for measure, limit in limits.set_limits.items():
            name = f"{PACK}.operation_{number}_{measure}"
            signals[name] = _make_operation_signal(operation, measure)
            id_ = f"{PACK}-{measure.replace('_', '-')}-{slug}"
            id_ = f"{id_}-{number}" if id_ in taken else id_
            taken.add(id_)
            rules.append(_make_rule(settings, id_, name, measure, limit, logs, escape(operation)))
    return Pack(
        pack=PACK,
        title="Objective",
        about="The objective in plimsoll.toml, compared with the load driver's results.",
        applies_to=AppliesTo(measurements=LOAD_DRIVER),
        signals=signals,
        rules=tuple(rules),
    )


def _make_rule(
    settings: ObjectiveSettings,
    id_: str,
    signal: str,
    measure: Measure,
    limit: Healthy,
    logs: Sequence[Log],
    operation: str | None = None,
) -> Rule:
    """Return the rule for one limit of the objective on `signal`; `measure` is the limit's field in the table.

    `operation` is None for a limit on all requests.
    """
    waits = measure != "errors"
    summary = "Requests took longer than the objective allows." if waits else "More requests failed than may."
    rule = Rule(
        id=id_,
        signal=signal,
        healthy=limit,
        phase=settings.phase,
        severity=settings.severity,
        summary=summary,
        look_at=("client.requests", "client.in_flight") if waits else ("client.requests", "client.errors"),
        sources=(Citation(document="plimsoll.toml", place="[objective]"),),
    )
    over = settings.over if waits else _choose_window(settings, limit.limit, logs, operation)
    return replace(rule, over=over, for_=settings.for_)


def _choose_window(settings: ObjectiveSettings, limit: float, logs: Sequence[Log], operation: str | None) -> int:
    """Return the window (ns) of a limit (%) on failed requests: at least `over`, at most the time of the requests.

    It is so long that ten failures on average are at the limit (our choice): one failure among few requests says
    nothing about a share.
    """
    columns = [
        (log, values)
        for log in logs
        for series, values in zip(log.series, log.columns, strict=True)
        if (series.measurement, series.field) == (LOAD_DRIVER[operation is not None], "requests")
        and series.tag("operation") == operation
    ]
    answered = sum(float(np.nansum(values)) * (log.interval or 0) / SECOND for log, values in columns)
    if not answered or not limit:
        return settings.over
    length = int(np.ptp(np.concatenate([log.times[values > 0] for log, values in columns])))
    needed = length * _ENOUGH_FAILED / (answered * limit / 100)
    return max(settings.over, min(round(needed), length - settings.for_))


def _make_operation_signal(operation: str, measure: Measure) -> Signal:
    field, _, title, unit = _MEASURES[measure]
    shown = escape(operation)
    return Signal(
        title=f"{title}, of {shown}",
        unit=unit,
        meaning=f"{title} of the requests {shown} of the load driver.",
        highest=100 if unit == "%" else None,
        weight=RequestRate(rate="client.requests") if measure in ("response_mean", "errors") else None,
        sources=(Source(measurement=LOAD_DRIVER[1], field=field, tags={"operation": shown}),),
    )
