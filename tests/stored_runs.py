"""Logs of a folder loaded into a store as a run, as `plimsoll ingest` does."""

from dataclasses import replace
from functools import partial

import numpy as np

from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.read import find_logs, read_files
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.runs.load import load
from plimsoll.model.points import Points


def points_of(log):
    """Return the samples of a log as live samples."""
    which, rows = np.nonzero(~np.isnan(np.stack([log.column(at) for at in range(len(log.series))])))
    values = np.array([log.column(at)[row] for at, row in zip(which, rows, strict=True)], np.float64)
    return Points(log.series, which.astype(np.int32), log.times[rows], values)


def store_run(store, folder, name, labels=None, host=None, *, merge=False):
    """Load the logs in a folder as a run; `host` renames their host."""
    files = read_files(find_logs([folder]), ReadOptions(), whole=True)
    logs = [replace(log, series=tuple(map(partial(_of, host), log.series))) if host else log for log in files.logs]
    files = files._replace(logs=logs)
    load(store, run_to_store(files, name, labels or {}), logs, merge=merge)


def _of(host, series):
    return replace(series, host=host, tags=tuple((name, host if name == "source" else it) for name, it in series.tags))
