"""Checks alert rules for mistakes that stop Grafana from starting, or that make a rule silently wrong.

Each check yields the place in the file and a sentence: what is wrong, and what to do.
"""

import re
from collections.abc import Mapping
from typing import TypeAlias

from plimsoll.export.grafana.alerts.file import LONGEST_NAME, AlertRule, Group
from plimsoll.export.grafana.check.fields import (
    Found,
    bad_duration,
    dollar,
    duration_s,
    twice,
    uid_mistake,
    unknown,
)
from plimsoll.export.grafana.check.queries import data_mistakes
from plimsoll.model.errors import suggest
from plimsoll.model.strict_yaml import Place

Panels: TypeAlias = Mapping[str, set[int]]  # panel ids by dashboard uid

_TEN_SECONDS = 10
_BRACES = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}")
# What a template in an annotation may begin with: a variable, a string, or a function or keyword of Grafana.
_TEMPLATE = re.compile(
    r"""[$."`(]|(printf|print|println|humanize(1024|Duration|Percentage|Timestamp)?|index|len|if|else|end|range|with|"""
    r"""and|or|not|eq|ne|lt|le|gt|ge|match|title|toUpper|toLower|reReplaceAll|parseDuration|graphLink|tableLink|args|"""
    r"""externalURL|pathPrefix|filterLabels|filterLabelsRe|removeLabels|removeLabelsRe|mergeLabelValues)\b"""
)


def group_mistakes(group: Group) -> Found:
    """Check the fields of a group itself."""
    for name, value in (("name", group.name), ("folder", group.folder)):
        if not value.strip():
            yield (name,), f"{name} is blank: Grafana does not start; give it one"
        yield from dollar((name,), value)
    yield from _too_long("name", group.name)
    seconds = duration_s(group.interval)
    if seconds is None:
        yield ("interval",), bad_duration("interval", group.interval)
    elif seconds <= 0 or seconds % _TEN_SECONDS:
        yield ("interval",), f'interval "{group.interval}" is not a positive multiple of 10s: Grafana does not start'


def rule_mistakes(rule: AlertRule, panels: Panels | None, receivers: set[str]) -> Found:
    """Check one rule. `panels` is None if no dashboards are checked with it."""
    if text := uid_mistake(rule.uid):
        yield ("uid",), text
    if not rule.title.strip():
        yield ("title",), "title is blank: Grafana does not start; give it one"
    yield from dollar(("title",), rule.title)
    yield from _too_long("title", rule.title)
    for name, value in (("for", rule.for_), ("keepFiringFor", rule.keep_firing_for)):
        if value is not None and duration_s(value) is None:
            yield (name,), bad_duration(name, value)
    missing = rule.missing_series_evals_to_resolve
    if missing is not None and missing <= 0:
        yield ("missing_series_evals_to_resolve",), f"{missing} is not above 0: Grafana does not start"
    yield from data_mistakes(rule)
    yield from _labels(rule)
    yield from _annotations(rule, panels)
    settings = rule.notification_settings
    if settings:
        if settings.receiver not in receivers:
            text = unknown("contact point", settings.receiver, sorted(receivers))
            yield ("notification_settings", "receiver"), text
        if twice(settings.group_by or ()):
            yield ("notification_settings", "group_by"), "a label stands twice: Grafana does not start; leave one out"


def _too_long(name: str, text: str) -> Found:
    """Check that a name fits into Grafana's database, where `$$` is stored as one `$`."""
    length = len(text.replace("$$", "$").encode())
    if length > LONGEST_NAME:
        yield (name,), f"{name} is {length} bytes long, more than {LONGEST_NAME}: Grafana does not start; shorten it"


def _labels(rule: AlertRule) -> Found:
    for name, value in rule.labels.items():
        if name.startswith("__grafana_"):
            yield ("labels", name), f"label {name} is reserved: Grafana does not start; name it otherwise"
        yield from dollar(("labels", name), value)


def _annotations(rule: AlertRule, panels: Panels | None) -> Found:
    uid, panel = rule.annotations.get("__dashboardUid__"), rule.annotations.get("__panelId__")
    place: Place = ("annotations",)
    if (uid is None) != (panel is None):
        yield place, "__dashboardUid__ and __panelId__ go together: Grafana does not start with one alone"
    elif uid is not None and panel is not None:
        if not panel.isdecimal():
            yield (*place, "__panelId__"), f'"{panel}" is not a whole number: Grafana does not start'
        elif panels is not None and uid not in panels:
            yield (*place, "__dashboardUid__"), f'there is no dashboard "{uid}"{suggest(uid, list(panels))}'
        elif panels is not None and int(panel) not in panels[uid]:
            yield (*place, "__panelId__"), f'dashboard "{uid}" has no panel {panel}'
    ref_ids = {query.ref_id for query in rule.data}
    for name, text in rule.annotations.items():
        if "{{" in _BRACES.sub("", text):
            yield (*place, name), "a template is not closed: {{ and }} go together"
        for inner in _BRACES.findall(text):
            if not _TEMPLATE.match(inner):
                yield (*place, name), f"{{{{ {inner} }}}} is not a template: the annotation would show an error"
        for ref_id in re.findall(r"\$values\.(\w+)", text):
            if ref_id not in ref_ids:
                yield (*place, name), f"$values.{ref_id} is no refId of the rule: it would show no value"
        if "{{" in text and "$$" in text:
            yield (*place, name), "annotations keep $ as it is: write {{ $labels.host }} with one"
