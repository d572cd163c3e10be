"""Which code page a header is in."""

import pytest

from ingest.text import Text, guess_code_page

HEADERS = [
    ("cp1250", r"\\H\Dysk fizyczny(_Total)\Średnia długość kolejki dysku"),
    ("cp1250", r"\\H\Paměť\Stránky/s"),
    ("cp1250", r"\\H\Memória\Lap/mp; Átlagos lemezvárólista-hossz; idő"),
    ("cp1251", r"\\H\Процессор(_Total)\% загруженности процессора"),
    ("cp1252", r"\\H\Disco físico(_Total)\% de tiempo inactivo"),
    ("cp1252", r"\\H\Physikalischer Datenträger(_Total)\Durchschn. Warteschlangenlänge des Datenträgers"),
    ("cp1252", r"\\H\Mémoire\Octets validés"),
    ("cp1252", r"\\H\Process(müller)\Handle Count"),
    ("cp1252", r"\\H\GPU® Engine(Intel®)\µs"),
    ("cp1252", r"\\H\Minne\Sidor/s; Fysisk disk genomsnittlig kölängd"),
    ("cp1253", r"\\H\Επεξεργαστής(_Total)\% Χρόνος επεξεργαστή"),
    ("cp1254", r"\\H\İşlemci(_Total)\% İşlemci Zamanı"),
    ("cp1255", r"\\H\מעבד(_Total)\% זמן מעבד"),
    ("cp1256", r"\\H\المعالج(_Total)\% وقت المعالج"),
    ("cp1257", r"\\H\Fizinis diskas(_Total)\Vidutinis disko eilės ilgis"),
    ("cp932", r"\\H\プロセッサ(_Total)\% Processor Time"),
    ("cp932", r"\\H\メモリ\ページ/秒"),
]


@pytest.mark.parametrize(("page", "header"), HEADERS)
def test_code_page(page, header):
    assert guess_code_page(header.encode(page)) == page


@pytest.mark.parametrize("bom", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_says_it(bom):
    text = Text.of("log", "Größe,日本\nx".encode(bom))
    assert text.decode(text.header) == ("Größe,日本", None)


def test_what_the_caller_says_counts():
    text = Text.of("log", "длина".encode("cp866"), "cp866")
    assert text.decode(text.header) == ("длина", None)
