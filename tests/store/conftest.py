"""A store of each kind, empty. What every one of them does is in test_contract.py."""

import pytest

from plimsoll.model.times import SECOND
from plimsoll.serve.credentials import load_owner_token
from plimsoll.store.duck.compaction import Keeping
from plimsoll.store.duck.samples import DuckSamples
from plimsoll.store.folders.runs import RunFolders, make_store_of_runs
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import make_influx_store
from plimsoll.store.remote import make_remote_store
from plimsoll.store.store import Store
from plimsoll.store.victoriametrics.address import VictoriaMetricsAddress
from plimsoll.store.victoriametrics.names import Measurements
from plimsoll.store.victoriametrics.samples import VictoriaSamples, make_victoria_store
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer
from tests.conftest import VictoriaMetrics
from tests.serve.site import site
from tests.sure_influx import SureServer


@pytest.fixture
def influx(bucket):
    """The server of an empty bucket."""
    server = SureServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield server
    server.close()


class ClosedAtOnce(DuckSamples):
    """An embedded store whose live samples are in files as soon as they are written."""

    day = 40_000 * 86_400 * SECOND

    def write_points(self, points):
        written = super().write_points(points)
        self.day += 86_400 * SECOND
        while self.tidy(self.day):
            pass
        return written


@pytest.fixture
def closed(tmp_path):
    """An embedded store of closed days."""
    live = ClosedAtOnce(tmp_path / "plimsoll.duckdb", 0, Keeping(10**5, 10**5, 1 << 40))
    yield Store(live, RunFolders.open(tmp_path / "runs", make=True))
    live.close()


@pytest.fixture
def remote(duckdb, tmp_path):
    """An embedded store behind a real server."""
    with site(duckdb, tmp_path / "data") as result:
        store = make_remote_store(result.address, load_owner_token(result.folder))
        store.live.write_points = duckdb.live.write_points  # as agents do
        yield store
        store.close()


class AtOnce(VictoriaSamples):
    """Live samples that can be read as soon as they are written; VictoriaMetrics takes seconds until then."""

    def __init__(self, server, values):
        super().__init__(server, Measurements())
        self._made = values

    def write_points(self, points):
        written = super().write_points(points)
        self._made.show()
        return written


@pytest.fixture(scope="session")
def own_victoriametrics(tmp_path_factory):
    """A real VictoriaMetrics for the tests of stores."""
    with VictoriaMetrics(tmp_path_factory.mktemp("victoriametrics")) as result:
        yield result


@pytest.fixture
def live(own_victoriametrics):
    """Live samples in a VictoriaMetrics that has none yet."""
    own_victoriametrics.forget()
    samples = AtOnce(
        VictoriaMetricsServer(VictoriaMetricsAddress.parse(f"victoriametrics://{own_victoriametrics.address}")),
        own_victoriametrics,
    )
    yield samples
    samples.close()


@pytest.fixture
def victoria(live, duckdb):
    """Live samples in a VictoriaMetrics, and runs in an embedded store."""
    return make_victoria_store(live, duckdb)


@pytest.fixture
def folders(tmp_path):
    """Runs in a folder."""
    return make_store_of_runs(RunFolders.open(tmp_path / "runs", make=True))


@pytest.fixture(params=["influx", "duckdb", "closed", "remote", "victoria", "folders"])
def store(request):
    """An empty store."""
    value = request.getfixturevalue(request.param)
    return make_influx_store(value) if request.param == "influx" else value
