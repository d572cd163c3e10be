"""Checks rule files, for what `promtool check rules` does not know. Each mistake has its file and rule."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import yaml

from plimsoll.export.prometheus.recording_rules import metrics
from plimsoll.export.selections import selections
from plimsoll.rules.exporters.exporter_files import metric_names
from plimsoll.rules.schema.signal import Signal

_KEYS = ("alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_RECORDING_KEYS = ("record", "expr", "labels")
_SEVERITIES = ("info", "warning", "critical")
_STRING = r'"(?:[^"\\]|\\.)*"'
_SELECTED = re.compile(rf"(?:({_STRING})|([a-zA-Z_:][a-zA-Z0-9_:]*)(?=[{{\[]))")
_NAMED = re.compile(rf"__name__=~?({_STRING})")
_ACTIVE = re.compile(rf"ALERTS\{{alertname=({_STRING})")

_Rule: TypeAlias = Mapping[str, Any]


def mistakes(files: Mapping[str, str], signals: Mapping[str, Signal]) -> Iterator[str]:
    """Yield every mistake in some files, by name, with its place."""
    read = frozenset(
        metric
        for name, signal in signals.items()
        if signal.sources
        for selection in selections(name, signals)
        for field in (selection.field, *selection.source.fields, *filter(None, [selection.weight]))
        for metric in metric_names(selection.measurement, field)
    )
    alerts: set[tuple[str, str]] = set()
    for name, content in files.items():
        try:
            groups = yaml.load(content, yaml.CSafeLoader)["groups"]
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
            texts = _recording_mistakes(rule, read) if "record" in rule else _alerting_mistakes(rule, read, alerts)
            for text in texts:
                yield f"{name}: {rule.get('alert') or rule.get('record') or 'a rule'}: {text}"


def _selected_metrics(expr: str) -> set[str]:
    """Return the names of the metrics that an expression selects."""
    names = {name for _, name in _SELECTED.findall(expr) if name} - {"ALERTS"}
    for quoted in _NAMED.findall(expr):
        names |= {re.sub(r"\\(.)", r"\1", pattern) for pattern in yaml.safe_load(quoted).split("|")}
    return names


def _alerting_mistakes(rule: _Rule, read: frozenset[str], alerts: set[tuple[str, str]]) -> Iterator[str]:
    """Yield the mistakes in an alerting rule; `alerts` are the names and labels of those before it."""
    for key in rule:
        if key not in _KEYS:  # a misspelt `for` makes an alert fire at once
            yield f'"{key}" is no key of an alerting rule; there are {", ".join(_KEYS)}'
    selected = _selected_metrics(rule["expr"])
    if not selected:
        yield "its expr selects no metric"
    for name in sorted(selected - read):  # a rule over it would be silent for ever
        yield f"no signal is read from the metric {name}"
    severity = (rule.get("labels") or {}).get("severity")
    if severity not in _SEVERITIES:
        yield f"its label severity is {severity}, not one of {', '.join(_SEVERITIES)}"
    key = (str(rule.get("alert")), repr(sorted((rule.get("labels") or {}).items())))
    if key in alerts:  # they would keep each other's alerts firing
        yield "there is another rule of this name with the same labels"
    alerts.add(key)
    named = dict.fromkeys(yaml.safe_load(quoted) for quoted in _ACTIVE.findall(rule["expr"]))
    if not named:
        yield "its expr does not keep it firing without data (ALERTS)"
    for name in named:
        if name != rule.get("alert"):
            yield f"its expr keeps the alert {name} firing, not its own"


def _recording_mistakes(rule: _Rule, read: frozenset[str]) -> Iterator[str]:
    for key in rule:
        if key not in _RECORDING_KEYS:
            yield f'"{key}" is no key of a recording rule; there are {", ".join(_RECORDING_KEYS)}'
    selected = _selected_metrics(rule["expr"])
    if not selected:
        yield "its expr selects no metric"
    if rule["record"] not in read:
        yield "no signal is read from this name"
    for name in sorted(selected - metrics()):
        yield f"no exporter is known to give the metric {name}"
