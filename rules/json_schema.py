"""What a pack or a file of signals may say as JSON Schema, by which editors complete and check it.

docs/build.py writes both schemas beside this file, and the reference page from the same.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from model.times import SECOND
from rules.pack_schema import Pack
from rules.signal_schema import Signals
from rules.strict_yaml import SIGNAL_NAME

PACK, SIGNALS = "pack.schema.json", "signals.schema.json"
MODELS: Mapping[str, type[BaseModel]] = {PACK: Pack, SIGNALS: Signals}
TITLES: Mapping[str, str] = {PACK: "A pack of Plimsoll's", SIGNALS: "Signals of Plimsoll's"}
_DRAFT = "http://json-schema.org/draft-07/schema#"  # the latest that editors of YAML know whole
# Defaults, as they are loaded and as they are written.
_WRITTEN: Mapping[str, Callable[[float], str]] = {
    "duration": lambda default: f"{default // SECOND}s",
    "share of time": lambda default: f"{100 * default:g} %",
}


def text(name: str, known: Iterable[str]) -> str:
    """The file of a schema. Editors offer the `known` signals; a pack may have others."""
    schema: dict[str, Any] = {"$schema": _DRAFT, "title": TITLES[name], **schema_of(MODELS[name])}
    schema["$defs"]["SignalName"] = {
        "anyOf": [{"enum": sorted(known)}, {"type": "string", "pattern": SIGNAL_NAME}],
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def shipped(name: str) -> str:
    """A schema as it comes with Plimsoll."""
    return files("rules").joinpath(name).read_text(encoding="utf-8")


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model as a person writes its files: durations as text, a source as a mere path."""
    schema = _tidy(model.model_json_schema(by_alias=True))
    sources = schema["$defs"]["Signal"]["properties"]["sources"]
    path = schema["$defs"]["Source"]["properties"]["path"]
    sources["items"] = {"anyOf": [{**path, "description": "A counter path alone."}, sources["items"]]}
    rule = schema["$defs"].get("Rule", {"properties": {}})
    rule["properties"] = {"id": rule["properties"].get("id"), **rule["properties"]}  # before what a condition has
    return schema


def _tidy(part: Any) -> Any:
    """Without what pydantic says for itself: titles, defaults that say nothing, null beside the optional."""
    if isinstance(part, list):
        return [_tidy(one) for one in part]
    if not isinstance(part, dict):
        return part
    if part.get("pattern") == SIGNAL_NAME:
        return {"$ref": "#/$defs/SignalName", **({"description": said} if (said := part.get("description")) else {})}
    if "properties" in part:
        properties = {name: _tidy(one) for name, one in part["properties"].items()}
        return {**{key: _tidy(value) for key, value in part.items() if key != "title"}, "properties": properties}
    tidied = {key: _tidy(value) for key, value in part.items() if key != "title"}
    if "default" in part and part["default"] in (None, [], {}, ""):
        tidied.pop("default", None)
        if (options := [one for one in tidied.get("anyOf", ()) if one != {"type": "null"}]) and len(options) == 1:
            del tidied["anyOf"]
            tidied = {**options[0], **tidied}
    elif "default" in part and part.get("format") in _WRITTEN:
        tidied["default"] = _WRITTEN[part["format"]](part["default"])
    if "prefixItems" in tidied:  # two of the same
        tidied["items"] = tidied.pop("prefixItems")[0]
    if "patternProperties" in part:
        tidied["additionalProperties"] = False
    return tidied
