"""One counter is one series whatever the case and the language it was recorded in."""

import pytest

from model.errors import Unusable
from model.names import Names, shipped, unrecognised
from model.perfmon import CounterPath


def series(text, names=None):
    return (names or shipped()).series(CounterPath.parse(text), "h")


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


def test_both_kinds_of_apostrophe():
    straight, curly = series("\\Fichier d'échange(x)\\Pourcentage"), series("\\Fichier d\u2019échange(x)\\Pourcentage")
    assert straight.measurement == curly.measurement == "win_swap"


def test_names_of_ones_own(tmp_path):
    path = tmp_path / "nl.yaml"
    path.write_text("objects: {Geheugen: Memory}\ncounters: {Memory: {Beschikbare bytes: Available Bytes}}\n")
    assert series(r"\Geheugen\Beschikbare bytes", Names([path])).key == series(r"\Memory\Available Bytes").key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("objects: {Geheugen: Memori}", 'objects: "Memori" is not an object Plimsoll knows'),
        ("counters: {Memory: {x: Bytes}}", 'counters: Memory: "Bytes" is not a counter Plimsoll knows'),
        ("- a", "is no language file"),
        ("objects: [", "is no language file"),
    ],
)
def test_mistakes_in_names_of_ones_own(tmp_path, text, said):
    path = tmp_path / "nl.yaml"
    path.write_text(text)
    with pytest.raises(Unusable) as refused:
        Names([path])
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_what_looks_like_windows_in_another_language_is_named():
    strange = [r"\Processore(_Total)\% Tempo processore", r"\Memória\Páginas/s", r"\Memory\Beschikbare bytes"]
    own = [r"\MyApp\Requests", r"\System\Threads", r"\SQLServer:Locks\New in 2030"]
    found = unrecognised([series(path) for path in (*strange, *own)])
    assert [(one.object, one.counters) for one in found] == [("Processore", 1), ("Memória", 1), ("Memory", 1)]
