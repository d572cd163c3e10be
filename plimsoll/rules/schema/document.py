"""The rules as JSON for other programs: schema plimsoll.rules/1. docs/rules-json.md describes every field.

Fields are added within a version, never changed or removed.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from plimsoll.model.file_models import make_adapter
from plimsoll.model.json_part import JsonPart, Seconds, add_values, read_attribute
from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.model.strict_yaml import SIGNAL_NAME
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Condition, Pack
from plimsoll.rules.schema.signal import Signal, Signals

PACK, SIGNALS = "pack.schema.json", "signals.schema.json"
MODELS: Mapping[str, type[Any]] = {PACK: Pack, SIGNALS: Signals}
TITLES: Mapping[str, str] = {PACK: "A pack of Plimsoll's", SIGNALS: "Signals of Plimsoll's"}
_DRAFT = "http://json-schema.org/draft-07/schema#"  # the latest draft that YAML editors fully support
# How defaults are written in a file.
_WRITTEN: Mapping[str, Callable[[float], str]] = {
    "duration": lambda default: f"{default // SECOND}s",
    "share of time": lambda default: f"{100 * default:g} %",
}
_Text = Annotated[str, BeforeValidator(str)]


class CitationPart(JsonPart):
    """The source of a limit: a document, and the place in it."""

    document: str
    place: str
    quote: str | None


class ConditionPart(JsonPart):
    """A signal compared with a limit."""

    signal: str
    title: str = Field(description="The signal's title.")
    unit: str
    healthy: _Text = Field(
        description='Operator and limit of the healthy side, such as "< 80"; the limit is crossed at all other values.'
    )
    limit: float = read_attribute("healthy.limit")
    reduce: str = Field(description="How the samples in the window are reduced to one value.")
    over_s: Seconds = read_attribute("over", "The window.")
    scale: str | None = Field(description="The fact of the host by which the limit is multiplied.")


class RuleEntry(JsonPart):
    """One rule."""

    pack: str
    rule: str = read_attribute("id")
    severity: str
    summary: str
    condition: ConditionPart
    for_s: Seconds = read_attribute("for_", "How long it must be crossed before it fires.")
    often: float = Field(
        description="A rule that never fired counts as often crossed from this share of the judged time on."
    )
    recover: Annotated[str | None, BeforeValidator(lambda limit: limit and str(limit))] = Field(
        description="The limit at which an alert ends, if it differs from the limit of the condition."
    )
    where: Annotated[
        dict[str, str], BeforeValidator(lambda limits: {fact: str(limit) for fact, limit in limits.items()})
    ] = Field(description='The facts that a host must have, such as {"memory_mb": "<= 4096"}.')
    where_unknown: str | None = Field(
        description="What happens if such a fact is unknown: info (judged with that severity), judge (judged as it "
        "is), or skip (does not apply); null: the rule is not judged."
    )
    where_outside: str = Field(
        description="What happens on other hosts: skip (does not apply), or info (judged with that severity)."
    )
    phase: str | None = Field(description="The phase in which it is judged; null for all.")
    and_: list[ConditionPart] = Field(
        serialization_alias="and", description="Conditions that must be crossed at the same time."
    )
    when_phase_unknown: list[ConditionPart] = Field(
        description="Further conditions if the phases of the run are unknown."
    )
    look_at: list[str] = Field(description="Signals to look at next.")
    sources: list[CitationPart]
    thresholds: list[str] = Field(description="The rows of tests/data/thresholds.csv that the rule implements.")


class RulesDocument(JsonPart):
    """Every rule, in the order of the packs."""

    schema_: Literal["plimsoll.rules/1"] = Field(default="plimsoll.rules/1", serialization_alias="schema")
    rules: list[RuleEntry]


def build_document(packs: Sequence[Pack], signals: Mapping[str, Signal]) -> RulesDocument:
    """Return the JSON document of some packs."""

    def describe(condition: Condition) -> Any:
        signal = signals[condition.signal]
        return add_values(condition, title=signal.title, unit=signal.unit)

    rules = [
        add_values(
            rule,
            pack=pack.pack,
            condition=describe(rule),
            and_=[*map(describe, rule.and_)],
            when_phase_unknown=[*map(describe, rule.when_phase_unknown)],
        )
        for pack in packs
        for rule in pack.rules
    ]
    return RulesDocument.model_validate({"rules": rules})


def build_schema(name: str, signal_names: Iterable[str]) -> str:
    """Return the text of a schema file. Editors suggest the signals in `signal_names`, but accept any signal name."""
    schema: dict[str, Any] = {"$schema": _DRAFT, "title": TITLES[name], **make_schema(MODELS[name])}
    schema["$defs"]["SignalName"] = {
        "anyOf": [{"enum": sorted(signal_names)}, {"type": "string", "pattern": SIGNAL_NAME}],
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def read_shipped(name: str) -> str:
    """Return the shipped text of a schema file."""
    return find_shipped_files("rules").joinpath(name).read_text(encoding="utf-8")


def make_schema(model: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of a model as people write its files: durations as text, a source as a path alone."""
    schema = _tidy(make_adapter(model).json_schema())
    sources = schema["$defs"]["Signal"]["properties"]["sources"]
    path = schema["$defs"]["Source"]["properties"]["path"]
    sources["items"] = {"anyOf": [{**path, "description": "A counter path alone."}, sources["items"]]}
    rule = schema["$defs"].get("Rule", {"properties": {}})
    rule["properties"] = {"id": rule["properties"].get("id"), **rule["properties"]}  # before inherited fields
    return schema


def _tidy(part: Any) -> Any:
    """Return a part of a schema without pydantic's additions: titles, empty defaults, and null for optional fields."""
    if isinstance(part, list):
        return [_tidy(child) for child in part]
    if not isinstance(part, dict):
        return part
    if part.get("pattern") == SIGNAL_NAME:
        return {"$ref": "#/$defs/SignalName", **({"description": text} if (text := part.get("description")) else {})}
    if "properties" in part:
        properties = {name: _tidy(child) for name, child in part["properties"].items()}
        return {**{key: _tidy(value) for key, value in part.items() if key != "title"}, "properties": properties}
    tidied = {key: _tidy(value) for key, value in part.items() if key != "title"}
    if "default" in part and part["default"] in (None, [], {}, ""):
        tidied.pop("default", None)
        if options := [child for child in tidied.pop("anyOf", ()) if child != {"type": "null"}]:
            tidied = {**(options[0] if len(options) == 1 else {"anyOf": options}), **tidied}
    elif "default" in part and part.get("format") in _WRITTEN:
        tidied["default"] = _WRITTEN[part["format"]](part["default"])
    if "prefixItems" in tidied:  # two equal alternatives
        tidied["items"] = tidied.pop("prefixItems")[0]
    if "patternProperties" in part:
        tidied["additionalProperties"] = False
    return tidied
