"""JSON Schemas of packs and signal files, which editors use to complete and check them.

docs/build.py writes both schemas into this folder, and makes the reference in docs/packs.md from them.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from plimsoll.model.shipped_tables import shipped_files
from plimsoll.model.strict_yaml import SIGNAL_NAME
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.schema.signal import Signals

PACK, SIGNALS = "pack.schema.json", "signals.schema.json"
MODELS: Mapping[str, type[BaseModel]] = {PACK: Pack, SIGNALS: Signals}
TITLES: Mapping[str, str] = {PACK: "A pack of Plimsoll's", SIGNALS: "Signals of Plimsoll's"}
_DRAFT = "http://json-schema.org/draft-07/schema#"  # the latest draft that YAML editors fully support
# How defaults are written in a file.
_WRITTEN: Mapping[str, Callable[[float], str]] = {
    "duration": lambda default: f"{default // SECOND}s",
    "share of time": lambda default: f"{100 * default:g} %",
}


def text(name: str, known: Iterable[str]) -> str:
    """The text of a schema file. Editors suggest the `known` signals; a pack may define others."""
    schema: dict[str, Any] = {"$schema": _DRAFT, "title": TITLES[name], **schema_of(MODELS[name])}
    schema["$defs"]["SignalName"] = {
        "anyOf": [{"enum": sorted(known)}, {"type": "string", "pattern": SIGNAL_NAME}],
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def shipped(name: str) -> str:
    """A schema file as shipped."""
    return shipped_files("rules").joinpath(name).read_text(encoding="utf-8")


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model in the form people write: durations as text, and a path alone in place of a source."""
    schema = _tidy(model.model_json_schema(by_alias=True))
    sources = schema["$defs"]["Signal"]["properties"]["sources"]
    path = schema["$defs"]["Source"]["properties"]["path"]
    sources["items"] = {"anyOf": [{**path, "description": "A counter path alone."}, sources["items"]]}
    rule = schema["$defs"].get("Rule", {"properties": {}})
    rule["properties"] = {"id": rule["properties"].get("id"), **rule["properties"]}  # before inherited fields
    return schema


def _tidy(part: Any) -> Any:
    """Remove what pydantic adds: titles, empty defaults, and null as an option of optional fields."""
    if isinstance(part, list):
        return [_tidy(one) for one in part]
    if not isinstance(part, dict):
        return part
    if part.get("pattern") == SIGNAL_NAME:
        return {"$ref": "#/$defs/SignalName", **({"description": text} if (text := part.get("description")) else {})}
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
