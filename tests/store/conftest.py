"""A store of each kind, empty. What every one of them does is in test_contract.py."""

import pytest

from store.influx import InfluxStore
from store.influx_address import Address
from tests.sure_influx import SureServer


@pytest.fixture
def influx(bucket):
    """The server of an empty bucket."""
    server = SureServer(Address(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield server
    server.close()


@pytest.fixture(params=["influx"])
def store(request):
    """An empty store."""
    return InfluxStore(request.getfixturevalue("influx"))
