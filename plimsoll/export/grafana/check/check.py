"""Checks provisioning files. Grafana itself ignores a misspelt key, and does not start with a wrong value.

Each mistake is one line: file, line and column, what is wrong, what to do.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from plimsoll.export.grafana.alerts import file as alert_file
from plimsoll.export.grafana.alerts.file import AlertingFile, InfluxModel
from plimsoll.export.grafana.check import dashboards as check_json
from plimsoll.export.grafana.check.contact import contact_mistakes, policy_mistakes
from plimsoll.export.grafana.check.fields import uid_mistake
from plimsoll.export.grafana.check.rules import Panels, group_mistakes, rule_mistakes
from plimsoll.model.errors import suggest
from plimsoll.model.strict_yaml import Document, Mistakes, Place, read

# Returns an error message for each query, or None if it is valid.
Parser = Callable[[Sequence[str]], Sequence[str | None]]

_VALUES = {
    "$timeFilter": "time >= 0ms and time <= 1ms",
    "$__interval_ms": "1000",
    "$__interval": "1s",
    "$interval": "1s",
}
_MOST_VALUES = 2_000_000  # an export for many hosts holds far more than a pack
# pydantic includes the tags of the union of query models in the location of an error; the file has no such keys.
_TAGS = ("influxql", "math", "reduce", "threshold")


def mistakes(files: Mapping[str, str], parser: Parser | None = None) -> list[str]:
    """Return the mistakes in these files (text by path): alerting files (.yaml) and dashboards (.json).

    The files are checked as one set: uids and titles must be unique across files, and links must lead to the
    dashboards in the set, if it has any. Without an InfluxQL `parser` queries are not parsed.
    """
    dashboards = {file: text for file, text in files.items() if file.endswith(".json")}
    found: list[str] = []
    for file, text in dashboards.items():
        found += check_json.mistakes(file, text)
    loaded: list[tuple[Document, AlertingFile]] = []
    for file, text in files.items():
        if file in dashboards:
            continue
        try:
            document = read(file, text, most_values=_MOST_VALUES)
            loaded.append((document, AlertingFile.model_validate(document.data)))
        except Mistakes as error:
            found += error.lines
        except ValidationError as error:
            found += _explained(read(file, text, most_values=_MOST_VALUES), error)
    found += _of_each(loaded, panels_of(dashboards) if dashboards else None)
    found += _across(loaded)
    if parser:
        found += _parsed([*_queries(loaded), *_queries_of_dashboards(dashboards)], parser)
    return found


def panels_of(dashboards: Mapping[str, str]) -> Panels:
    """Return the panel ids of each dashboard by uid, including panels inside rows. Skips files that are not JSON."""
    panels: dict[str, set[int]] = {}
    for text in dashboards.values():
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and data.get("uid"):
            panels[str(data["uid"])] = set(_ids(data.get("panels", ())))
    return panels


def _ids(panels: Any) -> Iterator[int]:
    for panel in panels:
        if isinstance(panel, dict):
            if isinstance(panel.get("id"), int):
                yield panel["id"]
            yield from _ids(panel.get("panels", ()))


def _of_each(loaded: Sequence[tuple[Document, AlertingFile]], panels: Panels | None) -> Iterator[str]:
    """Yield the mistakes in each file, including references to contact points, mute times and panels not in the set."""
    receivers = {point.name for _, content in loaded for point in content.contact_points}
    times = {one.name for _, content in loaded for one in content.mute_times}
    for document, content in loaded:
        for at, group in enumerate(content.groups):
            place: Place = ("groups", at)
            yield from (document.mistake((*place, *inner), text) for inner, text in group_mistakes(group))
            for number, rule in enumerate(group.rules):
                for inner, text in rule_mistakes(rule, panels, receivers):
                    yield f"{document.where((*place, 'rules', number, *inner))}: rule {rule.uid}: {text}"
        for at, point in enumerate(content.contact_points):
            for inner, text in contact_mistakes(point):
                yield f"{document.where(('contactPoints', at, *inner))}: contact point {point.name}: {text}"
        for at, policy in enumerate(content.policies):
            for inner, text in policy_mistakes(policy, receivers, times):
                yield f"{document.where(('policies', at, *inner))}: {text}"
        for at, deleted in enumerate(content.delete_rules):
            if text := uid_mistake(deleted.uid):
                yield f"{document.where(('deleteRules', at))}: {text}"


def _across(loaded: Sequence[tuple[Document, AlertingFile]]) -> Iterator[str]:
    """Yield uids, titles, groups and policies that occur more than once in the set."""
    yield from _twice(loaded, "uid", lambda group, rule: rule.uid, "Grafana does not start; give each its own")
    yield from _twice(
        loaded, "title", lambda group, rule: (group.folder, rule.title), "titles are unique in a folder; rename one"
    )
    seen: dict[tuple[str, str], str] = {}
    deleted = {one.uid for _, content in loaded for one in content.delete_rules}
    for document, content in loaded:
        for at, group in enumerate(content.groups):
            where = document.where(("groups", at, "name"))
            if other := seen.get((group.folder, group.name)):
                yield f'{where}: group "{group.name}" stands at {other} too, in the same folder; rename one'
            seen.setdefault((group.folder, group.name), where)
            for number, rule in enumerate(group.rules):
                if rule.uid in deleted:
                    place = document.where(("groups", at, "rules", number, "uid"))
                    yield f'{place}: "{rule.uid}" is among deleteRules too; take it out of them'
    policies = [(document, at) for document, content in loaded for at in range(len(content.policies))]
    for document, at in policies[1:]:
        yield f"{document.where(('policies', at))}: there is one tree of policies, the last that is read; keep one"


def _twice(
    loaded: Sequence[tuple[Document, AlertingFile]],
    name: str,
    of: Callable[[alert_file.Group, alert_file.AlertRule], object],
    advice: str,
) -> Iterator[str]:
    seen: dict[object, str] = {}
    for document, content in loaded:
        for at, group in enumerate(content.groups):
            for number, rule in enumerate(group.rules):
                where = document.where(("groups", at, "rules", number, name))
                if other := seen.get(of(group, rule)):
                    yield f'{where}: {name} "{getattr(rule, name)}" stands at {other} too: {advice}'
                seen.setdefault(of(group, rule), where)


def _queries(loaded: Sequence[tuple[Document, AlertingFile]]) -> Iterator[tuple[str, str]]:
    """Yield the location and text of each InfluxQL query of alert rules, with macros expanded."""
    for document, content in loaded:
        for at, group in enumerate(content.groups):
            for number, rule in enumerate(group.rules):
                for index, query in enumerate(rule.data):
                    if isinstance(query.model, InfluxModel):
                        place = ("groups", at, "rules", number, "data", index, "model", "query")
                        yield f"{document.where(place)}: rule {rule.uid}", expanded(query.model.query)


def _queries_of_dashboards(dashboards: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for file, text in dashboards.items():
        try:
            yield from ((f"{file}: {where}", query) for where, query in check_json.queries(text))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue  # check_json.mistakes reports the wrong structure


def _parsed(queries: Sequence[tuple[str, str]], parser: Parser) -> Iterator[str]:
    """Yield a mistake for each query that the InfluxQL parser rejects."""
    for (where, _), wrong in zip(queries, parser([query for _, query in queries]), strict=True):
        if wrong:
            yield f"{where}: not InfluxQL: {wrong}; every evaluation would be an error"


def expanded(query: str) -> str:
    """Return a query with Grafana's macros replaced by arbitrary values, so that it can be parsed."""
    for macro, value in _VALUES.items():
        query = query.replace(macro, value)
    return query


def _explained(document: Document, error: ValidationError) -> Iterator[str]:
    """Yield a readable message for each error of pydantic."""
    for detail in error.errors():
        place: Place = tuple(part for part in detail["loc"] if part not in _TAGS)
        where = document.where(place)
        name = str(place[-1]) if place else ""
        allowed = detail.get("ctx", {}).get("expected", "")
        match detail["type"]:
            case "extra_forbidden":
                yield f'{where}: unknown key "{name}"{suggest(name, _KEYS)}: Grafana would forget it; correct it'
            case "missing":
                yield f'{where}: "{name}" is missing; write it'
            case "union_tag_invalid":
                yield f"{where}: type is not one of {', '.join(_TAGS[1:])}; correct it"
            case "literal_error":
                yield f'{where}: {name}: "{detail["input"]}" is not one of {allowed}; correct it'
            case _:
                message = detail["msg"]
                yield f"{where}: {name}: {message[:1].lower()}{message[1:]}; correct it"


_KEYS = sorted(
    {
        field.alias or name
        for model in vars(alert_file).values()
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name, field in model.model_fields.items()
    }
)
