"""The collector of `plimsoll up` beside a real Telegraf with linux.conf, on this computer."""

import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from plimsoll.collect.collector import Collector
from plimsoll.model.times import SECOND

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="linux.conf is for Linux")

CONFIGURATION = Path(__file__).parents[2] / "telegraf" / "linux.conf"
SECONDS = 25
# These are means of the requests between two samples, and there may have been none.
OF_REQUESTS = {"io_await", "io_svctm"}
LEVELS = {*OF_REQUESTS, "io_util", "iops_in_progress", "speed", "avg10", "avg60", "avg300"}
COUNTS = {"kernel", "kernel_vmstat", "nstat", "net", "diskio", "pressure"}
# Means since the sample before: times their intervals they are counts, and are compared as those.
RATES = {"cpu", "io_util"}
# How far a level may be from Telegraf's, mostly: the two look at different moments.
SLACK = {"processes": 3, "pressure": 3, "diskio": 5, "linux_sysctl_fs": 50, "system": 0.1}


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
    result = {series: np.full(len(samples), np.nan) for _, values in samples for series in values}
    for at, (_, values) in enumerate(samples):
        for series, value in values.items():
            result[series][at] = value
    return np.array([at for at, _ in samples]), result


APART = 1.5 * SECOND  # between what both call the same moment, at most
LATE_S = 0.3  # by which either may read the counters after the moment that it gives


def total(times, rates):
    """What mean rates since the sample before come to since the first sample: it only grows."""
    return np.concatenate([[0], np.cumsum(np.nan_to_num(rates[1:]) * np.diff(times) / SECOND)])


def unsure(rates):
    """What a total may be wrong by, as a mean is of a time that may be longer or shorter: nothing, were it constant."""
    return LATE_S * np.abs(np.diff(np.nan_to_num(rates[1:]))).sum()


@pytest.fixture
def compared(collect, tmp_path):
    """What both gave in some seconds in which processors and a disk had work: times and columns of each."""
    result, collector = [], Collector()

    def look():
        time.sleep(1 - time.time() % 1)  # as Telegraf does here
        at = time.time_ns()
        points = collector.collect(at)
        result.append((at, dict(zip(points.series, points.values.tolist(), strict=True))))

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
    return columns(result), columns(sorted(theirs.items()))


def test_gives_what_telegraf_gives(compared):
    (times, ours), (item, theirs) = compared
    assert [mine for mine in ours if mine not in theirs and mine.field not in OF_REQUESTS] == []
    assert len(item) > 15
    for series, values in ours.items():
        if series.field in OF_REQUESTS:
            continue
        outcome = ~np.isnan(theirs[series])  # of its last moments it has some only
        their_times, result = item[outcome], theirs[series][outcome]
        both = (times > their_times[2]) & (times < their_times[-3])
        if series.measurement in COUNTS and series.field not in LEVELS:
            # A count that only grows lies between Telegraf's of a moment before and of a moment after.
            counts = np.maximum.accumulate(result)
            assert (np.interp(times[both] - APART, their_times, counts) <= values[both]).all(), series
            assert (values[both] <= np.interp(times[both] + APART, their_times, counts)).all(), series
        elif RATES & {series.measurement, series.field}:
            start, *_, end = times[both]
            gained = np.diff(np.interp([start, end], times, total(times, values)))
            counts, slack = total(their_times, result), 0.1 + max(unsure(values), unsure(result))
            answer = 0.98 * np.diff(np.interp([start + APART, end - APART], their_times, counts)) - slack
            most = 1.02 * np.diff(np.interp([start - APART, end + APART], their_times, counts)) + slack
            assert answer <= gained <= most, series
        else:
            together = both & (np.abs(their_times - times[:, None]).min(axis=1) <= APART)
            nearest = np.abs(their_times - times[together, None]).argmin(axis=1)
            slack = SLACK.get(series.measurement, 0) + 0.02 * abs(np.nanmax(result))
            assert abs(np.nanmedian(values[together] - result[nearest])) <= slack, series
