"""A store of each kind, empty. What every one of them does is in test_contract.py."""

import pytest

from live.access import Access
from live.credentials import Credentials, owner_token
from live.health import Health
from live.listen import Listen
from live.server import create_app
from live.serving import Serving
from live.writing import Writing
from store.duck_store import DuckStore
from store.influx import InfluxStore
from store.influx_address import Address
from store.remote import RemoteStore
from tests.sure_influx import SureServer


@pytest.fixture
def influx(bucket):
    """The server of an empty bucket."""
    server = SureServer(Address(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield server
    server.close()


@pytest.fixture
def duckdb(tmp_path):
    """An embedded store in a new file."""
    store = DuckStore.open(tmp_path / "plimsoll.duckdb")
    yield store
    store.close()


@pytest.fixture
def remote(duckdb, tmp_path):
    """An embedded store behind a real server."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    writing = Writing(duckdb)
    access = Access(Listen(port=0), Credentials(folder))
    server = Serving(create_app(duckdb, writing, access, Health), Listen(port=0))
    store = RemoteStore(server.address, owner_token(folder))
    yield store
    store.close()
    server.stop()
    writing.close()


@pytest.fixture(params=["influx", "duckdb", "remote"])
def store(request):
    """An empty store."""
    found = request.getfixturevalue(request.param)
    return InfluxStore(found) if request.param == "influx" else found
