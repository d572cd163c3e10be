"""The picture of the report in README.md shows what the report of today says."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def pictures():
    pytest.importorskip("playwright")
    found = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    if not module.CHROMIUM.exists():
        pytest.skip("Chromium is not installed")
    return module


def test_the_picture_of_the_report_is_of_today(pictures):
    with pictures.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(pictures.CHROMIUM), args=["--no-sandbox"])
        today = pictures.report(browser)
        browser.close()
    shown = pictures.text_in(pictures.REPORT.read_bytes())
    assert "Not healthy." in shown
    assert shown == pictures.text_in(today), "run python docs/pictures.py report"
