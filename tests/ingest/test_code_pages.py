"""Which code page a header is in: the one that gives its text, be it ANSI or OEM."""

from pathlib import Path

import pytest
import yaml

import plimsoll.model
from plimsoll.ingest.shared.text import guess_code_page

LANGUAGES = Path(plimsoll.model.__file__).parent / "counter_names" / "languages"
PAGES = {
    "de": ["cp1252", "cp850", "cp437"],
    "es": ["cp1252", "cp850", "cp437"],
    "fr": ["cp1252", "cp850", "cp437"],
    "ja": ["cp932"],
    "ru": ["cp1251", "cp866"],
}
WESTERN = ["cp1252", "cp850"]
HEADERS = [
    (["cp1250", "cp852"], r"\\H\Dysk fizyczny(_Total)\Średnia długość kolejki dysku"),
    (["cp1250", "cp852"], r"\\H\Pamięć\Dostępna pamięć (MB)"),
    (["cp1250", "cp852"], r"\\H\Procesor(_Total)\Czas bezczynności (%)"),
    (["cp1250", "cp852"], r"\\H\Paměť\Stránky/s"),
    (["cp1250", "cp852"], r"\\H\Memória\Lap/mp; Átlagos lemezvárólista-hossz; idő"),
    (["cp1251", "cp866"], r"\\H\Процессор(_Total)\% загруженности процессора"),
    (["cp1251", "cp866"], r"\\H\Сетевой интерфейс(*)\Байт в секунду"),
    (WESTERN, r"\\H\Disco físico(_Total)\% de tiempo inactivo"),
    (WESTERN, r"\\H\Physikalischer Datenträger(_Total)\Durchschn. Warteschlangenlänge des Datenträgers"),
    (WESTERN, r"\\H\Mémoire\Octets validés"),
    (WESTERN, r"\\H\Process(müller)\Handle Count"),
    (WESTERN, r"\\H\Minne\Sidor/s; Fysisk disk genomsnittlig kölängd"),
    (["cp1252"], r"\\H\GPU® Engine(Intel®)\µs"),
    (["cp1252"], r"\\H\Disque physique(_Total)\Longueur moyenne de file d’attente"),
    (["cp1253", "cp737"], r"\\H\Επεξεργαστής(_Total)\% Χρόνος επεξεργαστή"),
    (["cp1254", "cp857"], r"\\H\İşlemci(_Total)\% İşlemci Zamanı"),
    (["cp1255", "cp862"], r"\\H\מעבד(_Total)\% זמן מעבד"),
    (["cp1256", "cp720"], r"\\H\المعالج(_Total)\% وقت المعالج"),
    (["cp1257", "cp775"], r"\\H\Fizinis diskas(_Total)\Vidutinis disko eilės ilgis"),
    (["cp932"], r"\\H\プロセッサ(_Total)\% Processor Time"),
    (["cp932"], r"\\H\メモリ\ページ/秒"),
    (["cp932"], r"\\H\Network Interface(ローカル エリア接続)\Bytes Total/sec"),
    (["cp936"], r"\\H\处理器(_Total)\% 处理器时间"),
    (["cp936"], r"\\H\内存\可用字节数"),
    (["cp950"], r"\\H\記憶體\可用位元組"),
    (["cp949"], r"\\H\메모리\사용 가능한 바이트"),
]


@pytest.mark.parametrize(("page", "header"), [(page, header) for pages, header in HEADERS for page in pages])
def test_headers(page, header):
    raw = header.encode(page)
    assert raw.decode(guess_code_page(raw)) == header


@pytest.mark.parametrize(("language", "page"), [(name, page) for name, pages in PAGES.items() for page in pages])
def test_every_known_name_alone_tells_its_page(language, page):
    names = yaml.safe_load((LANGUAGES / f"{language}.yaml").read_text(encoding="utf-8"))
    objects = {english: result for result, english in names["objects"].items()}
    for english, counters in names["counters"].items():
        for counter in counters:
            header = rf"\\HOST\{objects.get(english, english)}(_Total)\{counter}"
            try:
                raw = header.encode(page)
            except UnicodeEncodeError:  # an OEM page lacks the apostrophe of typography
                continue
            if not raw.isascii():
                assert raw.decode(guess_code_page(raw)) == header


def test_every_language_is_looked_at():
    assert sorted(path.stem for path in LANGUAGES.glob("*.yaml")) == sorted(PAGES)


def test_cp1252_counts_where_nothing_tells():
    assert guess_code_page(b"\\\\H\\Process(x\xf7x)\\x") == "cp1252"
