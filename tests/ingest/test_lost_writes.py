"""A store that loses what it acknowledged: a load counts, writes again what is missing, and says so."""

import threading
from pathlib import Path

import numpy as np
import pytest

from plimsoll.ingest.runs import load as load_module
from plimsoll.ingest.runs.load import load
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.folders.runs import RunFolders, make_store_of_runs
from plimsoll.store.influx import runs as influx
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import make_influx_store
from plimsoll.store.influx.server import InfluxServer
from plimsoll.store.protocol import WriteResult

TIMES = 1_700_000_000 * SECOND + np.arange(60, dtype=np.int64) * 10 * SECOND
SERIES = tuple(Series("WEB1", "m", (), field) for field in ("x", "y"))
LOG = Log(
    Path("night.csv"),
    "PDH-CSV",
    TIMES,
    ((TIMES % 7 + 0.5).astype(np.float64),) * 2,
    SERIES,
    Zone.parse("UTC"),
    sha256="ab",
)
RUN = StoredRun(Run("night"), (Recording.of(LOG, "ab"),))


class LosesSecondBatch(RunFolders):
    """Says that it wrote the second batch, and does not; `always` if it is written again, too."""

    always = False

    def write(self, run, batches):
        for at, batch in enumerate(batches):
            counts = self.samples(run).counts(SERIES[:1], *TIMES[[0, -1]].tolist())
            if at == 1 and (self.always or not counts[0] > 20):
                yield WriteResult(batch.present)
            else:
                yield from super().write(run, [batch])


class LosesEachSecondBatch(LosesSecondBatch):
    """Does not write it again, either."""

    always = True


class LosesLater(InfluxServer):
    """Loses the first points it was sent, a moment after it acknowledged them."""

    lost = False

    def post(self, lines):
        answer = super().post(lines)
        if lines.startswith(b"m,") and not self.lost:
            self.lost = True
            self.loss = threading.Timer(0.3, self.delete, (int(TIMES[0]), int(TIMES[29]), '_measurement="m"'))
            self.loss.start()
        return answer


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(load_module, "VALUES_AT_ONCE", 40)


def test_what_a_store_lost_is_written_again_by_the_same_call(tmp_path):
    store, result = make_store_of_runs(LosesSecondBatch.open(tmp_path / "runs", make=True)), []
    loaded = load(store, RUN, [LOG], notify=result.append)
    assert (loaded.values, loaded.missing) == (120, 40)
    assert store.samples.counts(SERIES, *TIMES[[0, -1]].tolist()) == [60, 60]
    assert [summary.complete for summary in store.runs.summaries()] == [True]
    assert len(result) == 1
    assert result[0].startswith('40 values of run "night" were missing in')
    assert result[0].endswith("and were written again")
    assert (load(store, RUN, [LOG], notify=result.append).values, len(result)) == (0, 1)


def test_a_store_that_goes_on_losing_is_an_error(tmp_path):
    runs = LosesEachSecondBatch.open(tmp_path / "runs", make=True)
    store = make_store_of_runs(runs)
    with pytest.raises(Unusable, match='40 values of run "night" were acknowledged, but are not there'):
        load(store, RUN, [LOG])
    assert [summary.complete for summary in store.runs.summaries()] == [False]


def test_what_influxdb_loses_a_moment_later_is_written_again(bucket, monkeypatch):
    monkeypatch.setattr(influx, "SETTLE_S", 1.0)
    server, result = LosesLater(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5), []
    store = make_influx_store(server)
    loaded = load(store, RUN, [LOG], notify=result.append)
    server.loss.join()
    assert loaded.missing == 60
    assert store.samples.counts(SERIES, *TIMES[[0, -1]].tolist()) == [60, 60]
    assert "60 values" in result[0]
    server.close()
