"""Checks the queries and expressions of alert rules."""

import re
from collections.abc import Iterator, Mapping

from plimsoll.export.grafana.alerts.file import (
    EXPRESSION,
    AlertRule,
    InfluxModel,
    MathModel,
    Query,
    ReduceModel,
    ThresholdModel,
)
from plimsoll.export.grafana.check.expressions import names, parse
from plimsoll.export.grafana.check.fields import Found, twice
from plimsoll.export.grafana.links import DATASOURCE_UID
from plimsoll.model.errors import suggest
from plimsoll.model.strict_yaml import Place

_MACROS = ("timeFilter", "__interval", "interval", "__interval_ms")
_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)")
_TWO_PARAMETERS = ("within_range", "outside_range", "within_range_included", "outside_range_included")
_RISING = ("gt", "gte")
_FALLING = ("lt", "lte")


def data_mistakes(rule: AlertRule) -> Found:
    """Check the queries and expressions of a rule, and that its condition is a number."""
    ref_ids = [query.ref_id for query in rule.data]
    for ref_id in twice(ref_ids):
        yield ("data", ref_ids.index(ref_id)), f'refId "{ref_id}" stands twice: only one is evaluated; rename one'
    if rule.condition not in ref_ids:
        yield ("condition",), f'condition "{rule.condition}" is no refId of the rule{suggest(rule.condition, ref_ids)}'
    by_ref = {query.ref_id: query for query in rule.data}
    for at, query in enumerate(rule.data):
        for place, text in _query(query, rule, by_ref):
            yield ("data", at, *place), text
    last = by_ref.get(rule.condition)
    if last and _is_series(last, by_ref):
        yield ("condition",), f'condition "{rule.condition}" is a series: only a number can be judged; reduce it first'


def _query(query: Query, rule: AlertRule, by_ref: Mapping[str, Query]) -> Found:
    model = query.model
    if model.ref_id != query.ref_id:
        yield ("model", "refId"), f'refId "{model.ref_id}" is not that of its query, "{query.ref_id}"; make them one'
    if model.datasource.uid != query.datasource_uid:
        yield (
            ("model", "datasource"),
            f'data source "{model.datasource.uid}" is not that of its query, "{query.datasource_uid}"; make them one',
        )
    own = DATASOURCE_UID if isinstance(model, InfluxModel) else EXPRESSION
    if query.datasource_uid != own:
        text = f'data source "{query.datasource_uid}" is not the one that is provisioned; write "{own}"'
        yield ("datasourceUid",), text
    match model:
        case InfluxModel():
            yield from _influxql(query, model)
        case MathModel():
            yield from _math(model, by_ref)
        case ReduceModel():
            yield from _reduce(model, by_ref)
        case ThresholdModel():
            yield from _threshold(model, rule, by_ref)


def _influxql(query: Query, model: InfluxModel) -> Found:
    past = query.relative_time_range
    if past is None:
        yield (), f"query {query.ref_id} has no relativeTimeRange; say how far it looks back"
    elif past.from_ <= past.to:
        text = f"from {past.from_} is not before to {past.to}: Grafana does not start; both are seconds ago"
        yield ("relativeTimeRange",), text
    elif past.to < 0:
        yield ("relativeTimeRange", "to"), f"to {past.to} lies in the future; seconds ago are not negative"
    place: Place = ("model", "query")
    if model.result_format != "time_series":
        yield ("model", "resultFormat"), "an alert needs series: write resultFormat time_series"
    for text in _influxql_mistakes(model.query):
        yield place, text


def _influxql_mistakes(query: str) -> Iterator[str]:
    """Yield the mistakes in a query that can be found without parsing it."""
    outside = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/(?:\\.|[^/\\\s])(?:\\.|[^/\\])*/', '""', query)
    if not re.match(r"\s*SELECT\b", query, re.IGNORECASE):
        yield "a query begins with SELECT"
        return
    if outside.count("(") != outside.count(")") or re.search(r"""["']""", outside.replace('""', "")):
        yield "a bracket or a quote is not closed"
        return
    if "$timeFilter" not in outside:
        yield "without $timeFilter it reads everything there is; add it to WHERE"
    used = [one or other for one, other in _VARIABLE.findall(outside)]
    used += re.findall(r"(?<!\\)\$(\w+)\$/", query)  # an escaped $ is part of a name: `MSSQL\$X`
    for name in dict.fromkeys(name for name in used if name not in _MACROS):
        yield f"${name} is not expanded in alerts: no variable of a dashboard is; name the values"
    if re.search(r"GROUP BY[^)]*\btime\s*\(", outside, re.IGNORECASE) and not re.search(
        r"\bfill\s*\(\s*(none|-?\d+(\.\d+)?)\s*\)\s*$", outside.rstrip(), re.IGNORECASE
    ):
        yield "an empty interval becomes null, which a strict reduce makes NaN and Normal; end it with fill(none)"
    if len(_fields(outside)) > 1:
        yield "it selects several fields, whose labels collide; one query for each field"


def _fields(query: str) -> list[str]:
    """Return the fields that the outermost SELECT selects."""
    depth, start, found = 0, len("SELECT"), []
    text = query.strip()
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        ended = depth == 0 and re.match(r"\sFROM\b", text[at:], re.IGNORECASE)
        if ended or (depth == 0 and text[at] == ","):
            found.append(text[start:at].strip())
            start = at + 1
        if ended:
            break
    return found


def _math(model: MathModel, by_ref: Mapping[str, Query]) -> Found:
    try:
        used = names(parse(model.expression))
    except ValueError as error:
        yield ("model", "expression"), f"not an expression: {error}; every evaluation would be an error"
        return
    for name in sorted(used - set(by_ref)):
        yield ("model", "expression"), _no_ref(name, by_ref)
    if model.ref_id in used:
        yield ("model", "expression"), f"it is over itself, ${model.ref_id}"


def _reduce(model: ReduceModel, by_ref: Mapping[str, Query]) -> Found:
    if model.expression not in by_ref:
        yield ("model", "expression"), _no_ref(model.expression, by_ref)
    mode = model.settings.mode if model.settings else ""
    if mode == "":
        text = "a strict reduce makes NaN of any null, which is Normal and never fires; write settings: {mode: dropNN}"
        yield ("model", "settings"), text
    elif mode == "replaceNN" and (model.settings is None or model.settings.replace_with_value is None):
        yield ("model", "settings"), "replaceNN needs replaceWithValue"
    elif mode == "replaceNN":
        yield ("model", "settings"), "replaceNN takes a value that was not measured for one; write mode: dropNN"


def _threshold(model: ThresholdModel, rule: AlertRule, by_ref: Mapping[str, Query]) -> Found:
    if model.expression not in by_ref:
        yield ("model", "expression"), _no_ref(model.expression, by_ref)
    elif _is_series(by_ref[model.expression], by_ref):
        text = f'"{model.expression}" is a series: only a number can be judged; reduce it first'
        yield ("model", "expression"), text
    condition = model.conditions[0]
    unload = condition.unload_evaluator
    for name, evaluator in (("evaluator", condition.evaluator), ("unloadEvaluator", unload)):
        needed = 2 if evaluator and evaluator.type in _TWO_PARAMETERS else 1
        if evaluator and len(evaluator.params) != needed:
            text = f"{evaluator.type} takes {needed} parameter{'s' * (needed > 1)}, found {len(evaluator.params)}"
            yield ("model", "conditions", 0, name, "params"), text
    if unload is None:
        return
    place: Place = ("model", "conditions", 0, "unloadEvaluator")
    if model.ref_id != rule.condition:
        yield place, "Grafana applies unloadEvaluator to the condition of the rule only; this is not it"
    fires, recovers = condition.evaluator.type, unload.type
    if (fires in _RISING and recovers not in _FALLING) or (fires in _FALLING and recovers not in _RISING):
        yield place, f"what fires at {fires} recovers on the other side, not at {recovers}"


def _is_series(query: Query, by_ref: Mapping[str, Query], depth: int = 0) -> bool:
    """Whether a query returns series rather than numbers."""
    match query.model:
        case InfluxModel():
            return True
        case MathModel(expression=expression) if depth < len(by_ref):
            try:
                used = names(parse(expression))
            except ValueError:
                return False
            return any(_is_series(by_ref[name], by_ref, depth + 1) for name in used if name in by_ref)
        case _:
            return False


def _no_ref(name: str, by_ref: Mapping[str, Query]) -> str:
    return f'"{name}" is no refId of the rule{suggest(name, list(by_ref))}: every evaluation would be an error'
