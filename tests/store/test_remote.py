"""The store of `plimsoll up` over HTTP: errors, and messages. What it does otherwise is in test_contract.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.serve.credentials import owner_token
from plimsoll.store import messages
from plimsoll.store.duck.compaction import Keeping
from plimsoll.store.duck.samples import DuckSamples
from plimsoll.store.folders.runs import RunFolders, runs_only
from plimsoll.store.remote import RemoteSamples
from plimsoll.store.store import Store
from tests.serve.site import site


class Failing(DuckSamples):
    """A store whose methods fail."""

    error: Exception = RuntimeError()

    def hosts(self, start: int, end: int) -> list[str]:
        raise self.error


@pytest.mark.parametrize("error", [Unusable("the disk is full", "and more"), Unreachable("influx does not answer")])
def test_errors_of_the_store_come_back_as_they_are(error, tmp_path):
    store = Failing(tmp_path / "plimsoll.duckdb", 0, Keeping(30, 400, 1 << 40))
    store.error = error
    with site(Store(store, RunFolders.open(tmp_path / "runs", make=True)), tmp_path / "data") as here:
        remote = RemoteSamples(here.address, owner_token(here.folder))
        with pytest.raises(type(error)) as raised:
            remote.hosts(0, 1)
        remote.close()
    store.close()
    assert str(raised.value) == str(error)


def test_a_server_that_is_away(tmp_path):
    with pytest.raises(Unreachable, match="is plimsoll up running"):
        RemoteSamples("http://127.0.0.1:9", "x").hosts(0, 1)


def test_what_another_server_has_is_not_backed_up(tmp_path):
    with site(runs_only(RunFolders.open(tmp_path / "runs", make=True)), tmp_path / "data") as here:
        remote = RemoteSamples(here.address, owner_token(here.folder))
        with pytest.raises(Unusable, match="back it up by its own means"):
            remote.back_up(tmp_path / "copy")
        remote.close()


def test_what_is_no_plimsoll(influxdb):
    with pytest.raises(Unusable, match=r"does not (accept|answer)"):
        RemoteSamples(influxdb.url, "x").hosts(0, 1)


@given(st.binary(max_size=200))
def test_what_is_no_message_is_refused(data):
    for message in (data, b"PLM1" + data, messages.dumps([data])[: len(data)]):
        with pytest.raises(ValueError, match=r"."):
            messages.loads(message)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_values_come_back_as_they_were(value):
    assert messages.loads(messages.dumps(value)) == value


def test_arrays_come_back_as_they_were():
    odd = np.array([0.1, -0.0, 5e-324, np.nan, 1e300])
    series = [Series("ä", "m", (("instance", 'C:\\ "x"'),), "f", r"\a\b"), Series("", "m", (), "ü\n")]
    sent = Points(series, np.array([0, 1, 1, 0, 0], np.int32), np.arange(5) * 10**18, odd)
    points, samples = messages.loads(messages.dumps([sent, Samples(sent.times[::2], odd[::2])]))
    assert points.series == series
    assert points.which.tolist() == sent.which.tolist()
    assert points.times.tolist() == sent.times.tolist()
    assert points.values.tobytes() == odd.tobytes()
    assert samples.values.tobytes() == odd[::2].tobytes()
    with pytest.raises(TypeError):
        messages.dumps(object())
