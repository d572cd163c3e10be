"""A store of each kind, empty. What every one of them does is in test_contract.py."""

import pytest

from plimsoll.serve.credentials import owner_token
from plimsoll.store.influx.address import Address
from plimsoll.store.influx.store import InfluxStore
from plimsoll.store.remote import RemoteStore
from tests.serve.site import site
from tests.sure_influx import SureServer


@pytest.fixture
def influx(bucket):
    """The server of an empty bucket."""
    server = SureServer(Address(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield server
    server.close()


@pytest.fixture
def remote(duckdb, tmp_path):
    """An embedded store behind a real server."""
    with site(duckdb, tmp_path / "data") as made:
        store = RemoteStore(made.address, owner_token(made.folder))
        yield store
        store.close()


@pytest.fixture(params=["influx", "duckdb", "remote"])
def store(request):
    """An empty store."""
    found = request.getfixturevalue(request.param)
    return InfluxStore(found) if request.param == "influx" else found
