"""The collector of `plimsoll up` beside a real Telegraf with linux.conf, on this computer."""

import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from live.collector import Collector
from model.times import SECOND

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="linux.conf is for Linux")

CONFIGURATION = Path(__file__).parents[2] / "telegraf" / "linux.conf"
SECONDS = 25
# These are means of the requests between two samples, and there may have been none.
OF_REQUESTS = {"io_await", "io_svctm"}
LEVELS = {*OF_REQUESTS, "io_util", "iops_in_progress", "speed", "avg10", "avg60", "avg300"}
COUNTS = {"kernel", "kernel_vmstat", "nstat", "net", "diskio", "pressure"}
# How far the means of a level over the run may be apart: the two look at different moments.
SLACK = {"cpu": 3, "processes": 3, "pressure": 3, "diskio": 5, "linux_sysctl_fs": 50, "system": 0.1}


@contextmanager
def beside(work):
    """Calls `work` again and again in a thread."""
    ended = threading.Event()

    def run():
        while not ended.is_set():
            work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def columns(samples):
    """The times (ns) of some samples, and for each series its values, NaN where it has none."""
    found = {series: np.full(len(samples), np.nan) for _, values in samples for series in values}
    for at, (_, values) in enumerate(samples):
        for series, value in values.items():
            found[series][at] = value
    return np.array([at for at, _ in samples]), found


@pytest.fixture
def compared(collect, tmp_path):
    """What both gave in some seconds in which processors and a disk had work: times and columns of each."""
    own, collector = [], Collector()

    def look():
        time.sleep(1 - time.time() % 1)  # as Telegraf does here
        at = time.time_ns()
        points = collector.collect(at)
        own.append((at, dict(zip(points.series, points.values.tolist(), strict=True))))

    def work():
        with (tmp_path / "written").open("wb") as file:
            file.write(os.urandom(2**20))
            os.fsync(file.fileno())
        sum(range(200_000))
        time.sleep(0.05)

    with beside(look), beside(work):
        points, _ = collect(CONFIGURATION, seconds=SECONDS)
    theirs = {}
    for point in points:
        theirs.setdefault(point.time, {}).update({s: v for s, v in point.series().items() if isinstance(v, float)})
    return columns(own), columns(sorted(theirs.items()))


def test_gives_what_telegraf_gives(compared):
    (times, ours), (their_times, theirs) = compared
    assert [one for one in ours if one not in theirs and one.field not in OF_REQUESTS] == []
    assert len(their_times) > 15
    both = (times > their_times[2]) & (times < their_times[-3])
    for series, values in ours.items():
        if series.field in OF_REQUESTS:
            continue
        found = theirs[series]
        if series.measurement in COUNTS and series.field not in LEVELS:
            # A count that only grows lies between Telegraf's of a moment before and of a moment after.
            before = np.interp(times[both] - 1.5 * SECOND, their_times, np.maximum.accumulate(found))
            after = np.interp(times[both] + 1.5 * SECOND, their_times, np.maximum.accumulate(found))
            assert (before <= values[both]).all(), series
            assert (values[both] <= after).all(), series
        else:
            slack = SLACK.get(series.measurement, 0) + 0.02 * abs(np.nanmax(found))
            assert np.nanmean(values[both]) == pytest.approx(np.nanmean(found), abs=slack), series
