"""Generated pages are what their generator writes."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BUILD = runpy.run_path(str(DOCS / "build.py"))
PAGES = BUILD["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_generated_page_is_up_to_date(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run: python docs/build.py"


def test_no_page_is_left_of_what_is_no_longer_written():
    assert BUILD["stale"]() == [], "run: python docs/build.py"
