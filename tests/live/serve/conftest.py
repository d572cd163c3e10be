"""A server with an embedded store."""

import pytest

from store.duck_store import DuckStore
from tests.live.serve.site import site


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
