"""The text of a header."""

from pathlib import Path

import pytest

from plimsoll.ingest.shared.text import Text


@pytest.mark.parametrize("bom", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_says_it(bom):
    text = Text.of(Path("log"), "Größe,日本\nx".encode(bom))
    assert text.decode(text.header) == ("Größe,日本", None)


def test_what_the_caller_says_counts():
    text = Text.of(Path("log"), "длина".encode("cp866"), "cp866")
    assert text.decode(text.header) == ("длина", None)
