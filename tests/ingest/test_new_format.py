"""The worked example of docs/new-format.md reads what the page says it reads."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from plimsoll.ingest.formats import registry
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.times import format_iso
from tests.cells import cells

PAGE = (Path(__file__).parents[2] / "docs" / "new-format.md").read_text(encoding="utf-8")
CODE, LINE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ROWS, EXPECTED, REFUSED = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def format_():
    module = {"__name__": "json_lines"}
    exec(CODE, module)
    return SimpleNamespace(**module)


def test_it_reads_its_rows(format_):
    text = Text.of(Path("input.jsonl"), ROWS.encode())
    assert format_.sniff(text)
    assert not any(item.sniff(text) for item in registry.FORMATS)
    log, expected = format_.read(text, ReadOptions()), json.loads(EXPECTED)
    assert log.format == expected["format"]
    assert [format_iso(int(time)) for time in log.times] == expected["times"]
    assert [(series.host, series.path) for series in log.series] == [
        (item["host"], item["path"]) for item in expected["series"]
    ]
    assert [cells(column) for column in log.columns] == [item["values"] for item in expected["series"]]


def test_the_line_of_the_registry_names_its_module(monkeypatch, format_):
    monkeypatch.setitem(sys.modules, f"{registry.__package__}.json_lines", format_)
    *_, added = eval(LINE.partition(" = ")[2], {**vars(registry)})
    assert added.NAME == "JSON-lines"


def test_it_refuses_a_row_that_is_cut(format_):
    with pytest.raises(Unusable) as refused:
        format_.read(Text.of(Path("input.jsonl"), ROWS.encode()[:-40]), ReadOptions())
    assert str(refused.value) == json.loads(REFUSED)["refused"]
