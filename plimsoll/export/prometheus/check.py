"""Checks rule files: each check yields what is wrong with a rule. `promtool check rules` checks the syntax besides."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from plimsoll.export.prometheus.names import metrics
from plimsoll.export.selections import selections
from plimsoll.rules.exporters.schema import metric_names
from plimsoll.rules.schema.signal import Signal

_KNOWN = ("alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_KNOWN_OF_RECORDING = ("record", "expr", "labels")
_SEVERITIES = ("info", "warning", "critical")
_STRING = r'"(?:[^"\\]|\\.)*"'
_SELECTED = re.compile(rf"(?:({_STRING})|([a-zA-Z_:][a-zA-Z0-9_:]*)(?=[{{\[]))")
_NAMED = re.compile(rf"__name__=~?({_STRING})")
_OWN = re.compile(rf"ALERTS\{{alertname=({_STRING})")

Rule: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """What a rule is checked against: the names of metrics that signals are read from, and the rules before it."""

    metrics: frozenset[str]
    earlier: set[tuple[str, str]]


def mistakes(files: Mapping[str, str], signals: Mapping[str, Signal]) -> Iterator[str]:
    """Yield every mistake in some files, by name, with its place."""
    context = Context(recorded(signals), set())
    for name, content in files.items():
        try:
            document = yaml.load(content, yaml.CSafeLoader)
            groups = document["groups"]
            rules = [(group["name"], rule) for group in groups for rule in group["rules"]]
        except (yaml.YAMLError, TypeError, KeyError):
            yield f"{name}: is no file of rules: it has no groups with a name and rules"
            continue
        if not rules:
            yield f"{name}: has no rules"
        for group, rule in rules:
            if not isinstance(rule, dict) or not isinstance(rule.get("expr"), str):
                yield f"{name}: group {group}: a rule has no expr"
                continue
            for check in CHECKS_OF_RECORDING if "record" in rule else CHECKS:
                for wrong in check(rule, context):
                    yield f"{name}: {rule.get('alert') or rule.get('record') or 'a rule'}: {wrong}"


def recorded(signals: Mapping[str, Signal]) -> frozenset[str]:
    """The names of all metrics that signals are read from."""
    found: set[str] = set()
    for name, signal in signals.items():
        if signal.sources:
            for one in selections(name, signals):
                for field in (one.field, *one.source.fields, *([one.weight] if one.weight else ())):
                    found.update(metric_names(one.measurement, field))
    return frozenset(found)


def metrics_of(expr: str) -> set[str]:
    """The names of the metrics that an expression selects."""
    found = {name for _, name in _SELECTED.findall(expr) if name}
    for quoted in _NAMED.findall(expr):
        found |= {re.sub(r"\\(.)", r"\1", one) for one in yaml.safe_load(quoted).split("|")}
    return found


def has_unknown_keys(rule: Rule, context: Context) -> Iterator[str]:
    """A key that no server reads: a misspelt `for` makes an alert fire at once."""
    for key in rule:
        if key not in _KNOWN:
            yield f'"{key}" is no key of an alerting rule; there are {", ".join(_KNOWN)}'


def reads_nothing(rule: Rule, context: Context) -> Iterator[str]:
    """An expression over no metric."""
    if not metrics_of(rule["expr"]) - {"ALERTS"}:
        yield "its expr selects no metric"


def reads_unknown(rule: Rule, context: Context) -> Iterator[str]:
    """A metric that no signal is read from: it may be misspelt, and a rule over it is silent for ever."""
    for name in sorted(metrics_of(rule["expr"]) - {"ALERTS"} - context.metrics):
        yield f"no signal is read from the metric {name}"


def lacks_severity(rule: Rule, context: Context) -> Iterator[str]:
    """A severity is what notifications are routed by."""
    severity = (rule.get("labels") or {}).get("severity")
    if severity not in _SEVERITIES:
        yield f"its label severity is {severity}, not one of {', '.join(_SEVERITIES)}"


def is_there_twice(rule: Rule, context: Context) -> Iterator[str]:
    """Two rules of one name and with the same labels keep each other's alerts firing."""
    key = (str(rule.get("alert")), repr(sorted((rule.get("labels") or {}).items())))
    if key in context.earlier:
        yield "there is another rule of this name with the same labels"
    context.earlier.add(key)


def keeps_another(rule: Rule, context: Context) -> Iterator[str]:
    """The part of the expression that keeps an alert firing without data names the alert itself."""
    named = [yaml.safe_load(quoted) for quoted in _OWN.findall(rule["expr"])]
    if not named:
        yield "its expr does not keep it firing without data (ALERTS)"
    for name in dict.fromkeys(named):
        if name != rule.get("alert"):
            yield f"its expr keeps the alert {name} firing, not its own"


def records_with_unknown_keys(rule: Rule, context: Context) -> Iterator[str]:
    """A key of a recording rule that no server reads."""
    for key in rule:
        if key not in _KNOWN_OF_RECORDING:
            yield f'"{key}" is no key of a recording rule; there are {", ".join(_KNOWN_OF_RECORDING)}'


def records_what_nothing_reads(rule: Rule, context: Context) -> Iterator[str]:
    """A recorded name that no signal is read from: it is misspelt, or of no use."""
    if rule["record"] not in context.metrics:
        yield "no signal is read from this name"


def records_the_unknown(rule: Rule, context: Context) -> Iterator[str]:
    """A metric that no exporter is known to give."""
    for name in sorted(metrics_of(rule["expr"]) - metrics()):
        yield f"no exporter is known to give the metric {name}"


CHECKS: tuple[Callable[[Rule, Context], Iterable[str]], ...] = (
    has_unknown_keys,
    reads_nothing,
    reads_unknown,
    lacks_severity,
    is_there_twice,
    keeps_another,
)
CHECKS_OF_RECORDING: tuple[Callable[[Rule, Context], Iterable[str]], ...] = (
    records_with_unknown_keys,
    reads_nothing,
    records_what_nothing_reads,
    records_the_unknown,
)
