"""Samples in a store, and the data of charts as the script reads it, for the tests of charts and dashboards."""

import json
import time
from base64 import b64decode
from urllib.parse import urlencode

import numpy as np

from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND

INTERVAL = 10 * SECOND
NOW = time.time_ns() // INTERVAL * INTERVAL
HOSTILE = "<script>alert(1)</script>\"'\u202eevil" + "W" * 300


def cpu(host):
    return Series(host, "win_cpu", (("instance", "_Total"), ("objectname", "Processor")), "Percent_Processor_Time")


def switches(host):
    return Series(host, "kernel", (), "context_switches")


def space(host, volume):
    return Series(host, "win_disk", (("instance", volume), ("objectname", "LogicalDisk")), "Percent_Free_Space")


def write(store, series, values, times=None):
    """Write samples; without times every 10 s up to NOW."""
    values = np.asarray(values, np.float64)
    if times is None:
        times = NOW - (len(values) - 1 - np.arange(len(values), dtype=np.int64)) * INTERVAL
    store.live.write_points(Points([series], np.zeros(len(values), np.int32), np.asarray(times, np.int64), values))


def lately(store, series, values):
    """Write samples every 10 s up to the moment of the call; the tests may have begun long ago."""
    last = time.time_ns() // INTERVAL * INTERVAL
    write(store, series, values, last - (len(values) - 1 - np.arange(len(values), dtype=np.int64)) * INTERVAL)


def charts(here, *specs, **query):
    """What the server answers for these charts."""
    parameters = urlencode(
        [*(("chart", spec) for spec in specs), *((name.rstrip("_"), at) for name, at in query.items())]
    )
    answer = here.request("GET", f"/api/charts?{parameters}")
    assert answer.status == 200, answer.data
    return json.loads(answer.data)


def line(data, chart=0, number=0):
    """The times (ns) and values of a line; NaN is a gap."""
    stored = data["samples"][data["charts"][chart]["lines"][number][0]]
    axis = data["axes"][stored["axis"]]
    if "ms" in axis or "wide_ms" in axis:
        times = np.frombuffer(b64decode(axis.get("ms") or axis["wide_ms"]), "<u4" if "ms" in axis else "<f8")
    else:
        times = axis["from"] + axis["every"] * np.arange(axis["rows"])
    if "all" in stored:
        values = np.full(len(times), stored["all"])
    else:
        values = np.frombuffer(
            b64decode(stored.get("values") or stored["wide"]), "<f4" if "values" in stored else "<f8"
        )
    return (times.astype(np.int64) + data["start"]) * 1_000_000, values
