"""The picture of the report in README.md shows the text of the current report."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def pictures():
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_the_report_is_of_today(pictures, chromium):
    today = pictures.report(chromium)
    shown = pictures.text_in(pictures.REPORT.read_bytes())
    assert "Not healthy." in shown
    assert shown == pictures.text_in(today), "run python docs/pictures.py report"
