"""A store of each kind, empty. What every one of them does is in test_contract.py."""

from uuid import uuid4

import numpy as np
import pytest

from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.times import SECOND
from plimsoll.serve.credentials import owner_token
from plimsoll.store.duck.store import DuckStore
from plimsoll.store.folders.store import RunFolders
from plimsoll.store.influx.address import Address
from plimsoll.store.influx.store import InfluxStore
from plimsoll.store.remote import RemoteStore
from plimsoll.store.run_states import State
from plimsoll.store.victoriametrics.address import Address as VictoriaAddress
from plimsoll.store.victoriametrics.live import LiveSamples
from plimsoll.store.victoriametrics.names import Measurements
from plimsoll.store.victoriametrics.server import Server
from plimsoll.store.victoriametrics.store import VictoriaStore
from tests.conftest import VictoriaMetrics
from tests.serve.site import site
from tests.sure_influx import SureServer


@pytest.fixture
def influx(bucket):
    """The server of an empty bucket."""
    server = SureServer(Address(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield server
    server.close()


class ClosedAtOnce(DuckStore):
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
    store = ClosedAtOnce.open(tmp_path / "plimsoll.duckdb", raw_days=10**5, days=10**5)
    yield store
    store.close()


@pytest.fixture
def remote(duckdb, tmp_path):
    """An embedded store behind a real server."""
    with site(duckdb, tmp_path / "data") as made:
        store = RemoteStore(made.address, owner_token(made.folder))
        yield store
        store.close()


class AtOnce(LiveSamples):
    """Live samples that can be read as soon as they are written; VictoriaMetrics takes seconds until then."""

    def __init__(self, server, made):
        super().__init__(server, Measurements())
        self._made = made

    def write_points(self, points):
        written = super().write_points(points)
        self._made.show()
        return written


@pytest.fixture(scope="session")
def own_victoriametrics(tmp_path_factory):
    """A real VictoriaMetrics for the tests of stores."""
    with VictoriaMetrics(tmp_path_factory.mktemp("victoriametrics")) as made:
        yield made


@pytest.fixture
def live(own_victoriametrics):
    """Live samples in a VictoriaMetrics that has none yet."""
    own_victoriametrics.forget()
    samples = AtOnce(
        Server(VictoriaAddress.parse(f"victoriametrics://{own_victoriametrics.address}")), own_victoriametrics
    )
    yield samples
    samples.close()


@pytest.fixture
def victoria(live, duckdb):
    """Live samples in a VictoriaMetrics, and runs in an embedded store."""
    return VictoriaStore(live, duckdb)


class EachARun(RunFolders):
    """A folder of runs where each log that is written is a run, and removing its recording deletes that run."""

    def write(self, batches, run=None):
        for batch in batches:
            recording = Recording.of(batch, "ab")
            own = self.save(StoredRun(Run(uuid4().hex), (recording,)))
            yield from super().write([batch], own)
            self.mark(own, State.COMPLETE, loaded=batch.present, refused=0)

    def remove(self, recording, keep=(), *, whole=True, before_each=lambda: None):
        for one in self.runs():
            run = self.run(one.name)
            assert run
            (held,) = run.recordings
            if one.complete and held.series == recording.series and np.array_equal(held.times, recording.times):
                self.forget(one)


@pytest.fixture
def folders(tmp_path):
    """Runs in a folder."""
    return EachARun.open(tmp_path / "runs", make=True)


@pytest.fixture(params=["influx", "duckdb", "closed", "remote", "victoria", "folders"])
def store(request):
    """An empty store."""
    found = request.getfixturevalue(request.param)
    return InfluxStore(found) if request.param == "influx" else found
