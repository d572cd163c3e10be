"""Perfmon's names in other languages: what the files must hold, whoever reads them."""

from collections import Counter
from functools import cache
from importlib.resources import files

import pytest
import yaml

from plimsoll.model.perfmon import CounterPath
from plimsoll.model.shipped_tables import find_shipped_files

LANGUAGES = ("de", "es", "fr", "ja", "ru")
# Windows itself localises these; SQL Server, NTDS and the messaging servers bring their own names.
LOCALISED = (
    "Processor",
    "Processor Information",
    "System",
    "Memory",
    "PhysicalDisk",
    "LogicalDisk",
    "Paging File",
    "Network Interface",
    "Process",
    "Server",
    "Server Work Queues",
    "Cache",
)


def text_of(language):
    return files("plimsoll.model.counter_names").joinpath("languages", f"{language}.yaml").read_text(encoding="utf-8")


@cache
def names_in(language):
    return yaml.load(text_of(language), yaml.CSafeLoader)


@cache
def canonical():
    objects = yaml.load(files("plimsoll.model").joinpath("perfmon.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)[
        "objects"
    ]
    return {name: set(entry["counters"]) for name, entry in objects.items()}


@cache
def needed():
    """The counters of the localised objects that signals are taken from, by object."""
    parts = [
        yaml.load(path.read_bytes(), yaml.CSafeLoader)
        for path in find_shipped_files("rules").joinpath("signals").iterdir()
        if path.name.endswith(".yaml")
    ]
    sources = [source for part in parts for signal in part["signals"].values() for source in signal.get("sources", [])]
    texts = [source if isinstance(source, str) else source.get("path") for source in sources]
    paths = [CounterPath.parse(text) for text in texts if text]
    return {name: {path.counter for path in paths if path.object == name} for name in LOCALISED}


def mappings(node):
    if isinstance(node, yaml.MappingNode):
        yield node
        for _, value in node.value:
            yield from mappings(value)


def test_signals_need_every_localised_object():
    assert all(needed().values())


@pytest.mark.parametrize("language", LANGUAGES)
class TestLanguage:
    def test_holds_what_is_known_and_nothing_else(self, language):
        names = names_in(language)
        assert set(names) - {"unchanged"} == {"language", "objects", "counters"}
        assert names["language"]

    def test_english_names_are_canonical(self, language):
        names = names_in(language)
        assert set(names["objects"].values()) <= set(canonical())
        for kind in ("counters", "unchanged"):
            for name, counters in names.get(kind, {}).items():
                english = set(counters.values()) if kind == "counters" else set(counters)
                assert english <= canonical()[name], name

    def test_no_name_is_there_twice(self, language):
        # From the nodes: a loader would silently keep the last of two equal keys.
        for mapping in mappings(yaml.compose(text_of(language), yaml.CSafeLoader)):
            keys = Counter(key.value.casefold() for key, _ in mapping.value)
            assert [key for key, times in keys.items() if times > 1] == []
        # And once what objects share is merged in.
        for name, counters in names_in(language)["counters"].items():
            assert len({local.casefold() for local in counters}) == len(counters), name

    def test_no_name_has_space_around_it(self, language):
        names = names_in(language)
        for table in (names["objects"], *names["counters"].values()):
            assert [local for local in table if local != " ".join(local.split())] == []

    def test_an_unchanged_name_is_no_other_counters_name(self, language):
        names = names_in(language)
        for name, unchanged in names.get("unchanged", {}).items():
            local = {result.casefold(): english for result, english in names["counters"].get(name, {}).items()}
            assert [english for english in unchanged if local.get(english.casefold(), english) != english] == [], name

    def test_has_a_name_for_every_counter_signals_need(self, language):
        names = names_in(language)
        for name in LOCALISED:
            result = {*names["counters"].get(name, {}).values(), *names.get("unchanged", {}).get(name, [])}
            assert needed()[name] <= result, name
            assert name in names["objects"].values() or name in names.get("unchanged", {}), name
