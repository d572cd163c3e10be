"""A browser, and a running server with all pages over an embedded store."""

import pytest

from store.duck_store import DuckStore
from tests.conftest import lacking
from tests.grafana_components import packages
from tests.grafana_components.drawing import CHROMIUM
from tests.live.serve.site import site


@pytest.fixture(scope="module")
def chromium():
    if not CHROMIUM.exists():
        lacking(str(CHROMIUM), "install Debian's chromium")
    if missing := packages.missing():
        lacking("axe-core", missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def duckdb(tmp_path):
    store = DuckStore.open(tmp_path / "plimsoll.duckdb")
    yield store
    store.close()


@pytest.fixture
def here(duckdb, tmp_path):
    """A server on the loopback address."""
    with site(duckdb, tmp_path / "data") as made:
        yield made
