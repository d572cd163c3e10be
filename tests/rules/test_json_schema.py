"""The JSON schemas by which editors check packs: they accept what ships, and find what `rules check` finds."""

import json

import pytest
import yaml
from jsonschema import Draft7Validator

from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.rules.schema.document import PACK, SIGNALS, read_shipped

FOLDERS = {"packs": PACK, "signals": SIGNALS}
FILES = [
    (folder, entry)
    for folder in FOLDERS
    for entry in find_shipped_files("rules").joinpath(folder).iterdir()
    if entry.name[-5:] == ".yaml"
]
RULE = {
    "id": "own",
    "signal": "cpu.busy",
    "healthy": "< 70",
    "severity": "warning",
    "summary": "Busy.",
    "sources": [{"document": "Plan", "place": "page 3"}],
}


def validator(name):
    schema = json.loads(read_shipped(name))
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


def a_pack(**changed):
    return {"pack": "own", "title": "Own", "about": "Ours.", "rules": [RULE | changed]}


@pytest.mark.parametrize(("folder", "file"), FILES, ids=lambda item: getattr(item, "name", item))
def test_what_ships_is_valid_and_names_its_schema(folder, file):
    text = file.read_text(encoding="utf-8")
    assert text.splitlines()[0] == f"# yaml-language-server: $schema=../{FOLDERS[folder]}"
    assert [
        iter_error.message for iter_error in validator(FOLDERS[folder]).iter_errors(yaml.load(text, yaml.CSafeLoader))
    ] == []


@pytest.mark.parametrize(
    "data",
    [
        [],
        {},
        a_pack(severity="warn"),
        a_pack(helthy="< 3"),
        a_pack(id="Own CPU"),
        a_pack(signal="CPU"),
        a_pack(healthy=70),
        a_pack(sources=[]),
        a_pack(sources=[{"document": "Plan"}]),
        a_pack(reduce="average"),
        a_pack(scale="cpus"),
        a_pack(look_at="cpu.busy"),
        a_pack(where={"cores": "<= 4"}),
        a_pack(cases=[{"name": "a", "series": {"cpu.busy": 75}, "fires": True}]),
        a_pack(cases=[{"name": "a", "series": {"CPU": "75"}, "fires": True}]),
        a_pack(cases=[{"name": "a", "series": {}}]),
        {"signals": {"own": {}}, **a_pack()},
        {"signals": {"own.x": {"title": "X", "unit": "s", "meaning": "m", "sources": [{"pth": "\\A\\B"}]}}, **a_pack()},
    ],
)
def test_what_is_wrong_is_marked(data):
    assert not validator(PACK).is_valid(data)


@pytest.mark.parametrize(
    "data",
    [
        a_pack(),
        a_pack(signal="own.signal", over=30, **{"for": "1h30m"}),
        a_pack(cases=[{"name": "a", "series": {"cpu.busy": "_x3"}, "fires": None}]),
        {"signals": {"own.x": {"title": "X", "unit": "s", "meaning": "m", "sources": ["\\A\\B"]}}, **a_pack()},
    ],
)
def test_what_is_right_is_not(data):
    validator(PACK).validate(data)
