"""One counter is one series whatever the case and the language it was recorded in."""

from pathlib import Path

import pytest

import plimsoll.model
from plimsoll.model.errors import Unusable
from plimsoll.model.names import Names, load_shipped
from plimsoll.model.perfmon import CounterPath


def series(text, names=None):
    return (names or load_shipped()).series(CounterPath.parse(text), "h")


ENGLISH = {
    r"\Processor(_Total)\% Processor Time": [
        r"\processor(_total)\% processor time",
        r"\Prozessor(_Total)\Prozessorzeit (%)",
        r"\Processeur(_Total)\% temps processeur",
        r"\Procesador(_Total)\% de tiempo de procesador",
        r"\Процессор(_Total)\% загруженности процессора",
    ],
    r"\System\Context Switches/sec": [r"\System\Kontextwechsel/s"],
    r"\Memory\Available Bytes": [r"\Arbeitsspeicher\Verfügbare Bytes", r"\Mémoire\Octets disponibles"],
    r"\Processor(0)\% Processor Time": [r"\Processor(0)\Prozessorzeit (%)"],  # mixed forms exist
}


@pytest.mark.parametrize(("english", "local"), [(e, text) for e, texts in ENGLISH.items() for text in texts])
def test_the_same_series_in_every_language(english, local):
    assert series(local).key == series(english).key


def test_the_path_stays_as_it_was_recorded():
    assert series(r"\Prozessor(_total)\Prozessorzeit (%)").path == r"\Prozessor(_Total)\Prozessorzeit (%)"
    assert series(r"\processor(0)\% user time").path == r"\Processor(0)\% User Time"


@pytest.mark.parametrize(
    "written",
    [
        "% Processor\u00a0Time",
        "%  Processor Time ",
        "\uff05 Processor\u3000Time",
        "% Processor\u00ad Time",
        "\u200b% Processor Time\ufeff",
    ],
)
def test_spaces_width_and_what_is_invisible_do_not_matter(written):
    plain = load_shipped().series(CounterPath("h", "Processor", "_Total", "% Processor Time"), "h")
    assert load_shipped().series(CounterPath("h", "Processor ", "_Total", written), "h") == plain


def test_names_of_ones_own(tmp_path):
    path = tmp_path / "nl.yaml"
    path.write_text("objects: {Geheugen: Memory}\ncounters: {Memory: {Beschikbare bytes: Available Bytes}}\n")
    assert series(r"\Geheugen\Beschikbare bytes", Names([path])).key == series(r"\Memory\Available Bytes").key


@pytest.mark.parametrize("instance", ["SQLServer", "MSSQL$PAYROLL"])
def test_names_of_ones_own_are_for_every_instance_of_sql_server(tmp_path, instance):
    file = tmp_path / "own.yaml"
    text = f"""
        objects:
          {instance}:Gestione buffer: {instance}:Buffer Manager
        counters:
          {instance}:Gestione buffer:
            Durata presunta delle pagine: Page life expectancy
        """
    file.write_text(text, encoding="utf-8")
    result = series(r"\MSSQL$SALES:Gestione buffer\Durata presunta delle pagine", Names([file]))
    assert (result.tag("objectname"), result.field) == ("MSSQL$SALES:Buffer Manager", "Page_life_expectancy")


def test_case_does_not_matter_in_names_of_ones_own(tmp_path):
    path = tmp_path / "nl.yaml"
    path.write_text("objects: {Geheugen: memory}\ncounters: {memory: {Beschikbare bytes: available bytes}}\n")
    assert series(r"\geheugen\beschikbare Bytes", Names([path])).key == series(r"\Memory\Available Bytes").key


@pytest.mark.parametrize("language", ["de", "es", "fr", "ja", "ru"])
def test_a_file_that_comes_with_plimsoll_can_be_ones_own(language):
    path = Path(plimsoll.model.__file__).parent / "counter_names" / "languages" / f"{language}.yaml"
    assert series(r"\Processor(0)\% User Time", Names([path])) == series(r"\Processor(0)\% User Time")


def test_names_that_are_merged_in_are_read_and_can_be_set_otherwise(tmp_path):
    path = tmp_path / "nl.yaml"
    path.write_text(
        "objects: {Schijf: PhysicalDisk, Deel: LogicalDisk}\n"
        "counters:\n"
        "  PhysicalDisk: &disk {Tijd: '% Disk Time', Rust: '% Idle Time'}\n"
        "  LogicalDisk: {<<: *disk, Tijd: '% Disk Read Time'}\n"
    )
    names = Names([path])
    assert series(r"\Schijf(0)\Tijd", names).key == series(r"\PhysicalDisk(0)\% Disk Time").key
    assert series(r"\Deel(0)\Rust", names).key == series(r"\LogicalDisk(0)\% Idle Time").key
    assert series(r"\Deel(0)\Tijd", names).key == series(r"\LogicalDisk(0)\% Disk Read Time").key


SHOWN = "docs/formats.md shows what a file of names holds"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "objects: {Geheugen: Memori}",
            ':1:11: "Memori" is not the name of an object that Plimsoll knows (did you mean "Memory"?)',
        ),
        (
            "counters: {Memory: {x: Bytes}}",
            ':1:21: "Bytes" is not the name of a counter that Plimsoll knows (did you mean "Cache Bytes"?)',
        ),
        (
            "unchanged: {Memory: [Pages/sek]}",
            ':1:22: "Pages/sek" is not the name of a counter that Plimsoll knows (did you mean "Pages/sec"?)',
        ),
        (
            "counters: {5: {a: b}}",
            ':1:12: "5" is not the name of an object that Plimsoll knows; give its English name',
        ),
        ("objets: {Geheugen: Memory}", ':1:1: unknown field "objets" (did you mean "objects"?)'),
        ("- a", f":1:1: expected names and values, found a list; {SHOWN}"),
        ("objects: {a: [Memory]}", ":1:11: a: input should be a valid string, found a list"),
        ("objects: {a: }", ":1:11: a: input should be a valid string, found nothing"),
        ("objects: {[a]: Memory}", ":1:11: expected a name, found a list"),
        ("counters: {Memory: {a: {b: c}}}", ":1:21: a: input should be a valid string, found a mapping"),
        ("unchanged: {Memory: Pages/sec}", ':1:13: Memory: input should be a valid list, found "Pages/sec"'),
        ("objects: {a: Memory}\nobjects: {b: Memory}", ':2:1: "objects" stands here a second time'),
        ("objects: {a: Memory, A: System}", ':1:22: "A" is "Memory" already: only one of them can be right'),
        ('counters: {Memory: {" ": Pages/sec}}', ':1:21: " " is no name: give the one that Windows uses'),
        (
            "objects: {Memory: Processor}",
            ':1:11: "Memory" is an English name itself: it cannot stand for "Processor"',
        ),
        (
            "counters: {Memory: {Cache Bytes: Pages/sec}}",
            ':1:21: "Cache Bytes" is an English name itself: it cannot stand for "Pages/sec"',
        ),
        ("objects: [", f":2:1: not valid YAML: did not find expected node content; {SHOWN}"),
        ("objects: {a: \x1b}", f":1:1: not valid YAML: it is not text in UTF-8; save it as that; {SHOWN}"),
        ("", f":1:1: expected names and values, found nothing; {SHOWN}"),
        ("objects:\ncounters:\n", f": holds no names of objects or counters; {SHOWN}"),
    ],
)
def test_mistakes_in_names_of_ones_own(tmp_path, text, message):
    path = tmp_path / "nl.yaml"
    path.write_text(text)
    with pytest.raises(Unusable) as refused:
        Names([path])
    assert str(refused.value) == f"{path}{message}"


def test_every_mistake_in_names_of_ones_own_is_told(tmp_path):
    path = tmp_path / "nl.yaml"
    path.write_text("objects: {a: 5}\ncounters: {Memory: {x: y}}\n")
    with pytest.raises(Unusable) as refused:
        Names([path])
    assert [line.removeprefix(f"{path}:")[:1] for line in str(refused.value).splitlines()] == ["1", "2"]
