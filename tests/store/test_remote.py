"""The store of `plimsoll up` over HTTP: errors and messages. test_contract.py has its other behaviour."""

import pytest

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.serve.credentials import load_owner_token
from plimsoll.store.duck.compaction import Keeping
from plimsoll.store.duck.samples import DuckSamples
from plimsoll.store.folders.runs import RunFolders, make_store_of_runs
from plimsoll.store.remote import RemoteSamples
from plimsoll.store.store import Store
from tests.serve.site import site


class Failing(DuckSamples):
    """A store whose methods fail."""

    error: Exception = RuntimeError()

    def series(self, start, end, hosts=()):
        raise self.error


@pytest.mark.parametrize("error", [Unusable("the disk is full", "and more"), Unreachable("influx does not answer")])
def test_errors_of_the_store_come_back_as_they_are(error, tmp_path):
    store = Failing(tmp_path / "plimsoll.duckdb", 0, Keeping(30, 400, 1 << 40))
    store.error = error
    with site(Store(store, RunFolders.open(tmp_path / "runs", make=True)), tmp_path / "data") as here:
        remote = RemoteSamples(here.address, load_owner_token(here.folder))
        with pytest.raises(type(error)) as raised:
            remote.hosts(0, 1)
        remote.close()
    store.close()
    assert str(raised.value) == str(error)


def test_a_server_that_is_away(tmp_path):
    with pytest.raises(Unreachable, match="is plimsoll up running"):
        RemoteSamples("http://127.0.0.1:9", "x").hosts(0, 1)


def test_what_another_server_has_is_not_backed_up(tmp_path):
    with site(make_store_of_runs(RunFolders.open(tmp_path / "runs", make=True)), tmp_path / "data") as here:
        remote = RemoteSamples(here.address, load_owner_token(here.folder))
        with pytest.raises(Unusable, match="back it up by its own means"):
            remote.back_up(tmp_path / "copy")
        remote.close()


def test_what_is_no_plimsoll(influxdb):
    with pytest.raises(Unusable, match=r"does not (accept|answer)"):
        RemoteSamples(influxdb.url, "x").hosts(0, 1)


@pytest.mark.parametrize(
    ("method", "call", "status"),
    [
        ("series", b"[0, 1, []]", 200),
        ("series", b"[0, 1, [], 2]", 404),
        ("series", b'["0", 1, []]', 404),
        ("read", b"[[[1, 2]], 0, 1]", 400),
        ("read", b'[[["h", "m", 5, "f"]], 0, 1]', 400),
        ("read", b"[" * 100_000, 400),
        ("read", b"\xff", 400),
        ("close", b"[]", 404),
        ("__class__", b"[]", 404),
    ],
)
def test_calls_are_checked(here, method, call, status):
    headers = {"Authorization": f"Bearer {load_owner_token(here.folder)}", "Content-Type": "application/json"}
    assert here.request("POST", f"/api/store/{method}", call, headers).status == status
