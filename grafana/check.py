"""Checks what Grafana is provisioned with: it forgets a misspelt key, and a wrong value stops it from starting.

Each mistake is one line: file, line and column, what is wrong, what to do.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from grafana import alert_file
from grafana import check_dashboards as check_json
from grafana.alert_file import AlertingFile, InfluxModel
from grafana.check_contact import contact_mistakes, policy_mistakes
from grafana.check_rules import Panels, group_mistakes, rule_mistakes, uid_mistake
from rules.strict_yaml import Document, Mistakes, Place, read, suggest

# Tells for each query what is wrong with it, None if nothing is.
Parser = Callable[[Sequence[str]], Sequence[str | None]]

_VALUES = {
    "$timeFilter": "time >= 0ms and time <= 1ms",
    "$__interval_ms": "1000",
    "$__interval": "1s",
    "$interval": "1s",
}
# The tags by which pydantic tells the models of a query apart stand in its places and not in the file.
_TAGS = ("influxql", "math", "reduce", "threshold")


def mistakes(files: Mapping[str, str], parser: Parser | None = None) -> list[str]:
    """Everything that is wrong with these files (text by path): alerting files (.yaml) and dashboards (.json).

    They are taken as one set: uids and titles are told apart across files, links lead to the dashboards among them,
    where there are any. `parser` is an InfluxQL parser, where there is one.
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
            document = read(file, text)
            loaded.append((document, AlertingFile.model_validate(document.data)))
        except Mistakes as error:
            found += error.lines
        except ValidationError as error:
            found += _explained(read(file, text), error)
    found += _of_each(loaded, panels_of(dashboards) if dashboards else None)
    found += _across(loaded)
    if parser:
        found += _parsed([*_queries(loaded), *_queries_of_dashboards(dashboards)], parser)
    return found


def panels_of(dashboards: Mapping[str, str]) -> Panels:
    """The ids of the panels of dashboards, those inside rows included, by uid; a file that is no JSON has none."""
    panels: dict[str, set[int]] = {}
    for text in dashboards.values():
        try:
            data = json.loads(text)
        except ValueError:
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
    """What is wrong with a file by itself, but for what it refers to."""
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
    """What stands twice, in one file or in several."""
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
    """Every InfluxQL query of alert rules, as a parser can read it, and where it stands."""
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
        except (ValueError, LookupError, TypeError, AttributeError):
            continue  # what is wrong with its shape is told already


def _parsed(queries: Sequence[tuple[str, str]], parser: Parser) -> Iterator[str]:
    """What an InfluxQL parser says of them."""
    for (where, _), wrong in zip(queries, parser([query for _, query in queries]), strict=True):
        if wrong:
            yield f"{where}: not InfluxQL: {wrong}; every evaluation would be an error"


def expanded(query: str) -> str:
    """A query with any values in the place of Grafana's macros, as a parser can read it."""
    for macro, value in _VALUES.items():
        query = query.replace(macro, value)
    return query


def _explained(document: Document, error: ValidationError) -> Iterator[str]:
    """What does not fit the format, in words for people."""
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
                said = detail["msg"]
                yield f"{where}: {name}: {said[:1].lower()}{said[1:]}; correct it"


_KEYS = sorted(
    {
        field.alias or name
        for model in vars(alert_file).values()
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name, field in model.model_fields.items()
    }
)
