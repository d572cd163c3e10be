"""Chromium, which opens the reports."""

import os
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
QUIET = [
    *("--no-sandbox", "--disable-quic", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def chromium():
    refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    if not CHROMIUM.exists():
        refuse(f"{CHROMIUM} is not installed: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        refuse("playwright is not installed: python3 start.py test installs it")
        raise
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield browser
        browser.close()
