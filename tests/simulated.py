"""Simulated samples, logs and reviews for tests of phases, steps, spikes, trends, limits and comparisons."""

from pathlib import Path

import numpy as np

from plimsoll.hosts.facts import Facts
from plimsoll.model.log import Log
from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.run import Run
from plimsoll.model.times import SECOND, Zone
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals

START = 1_700_000_000 * SECOND


def ar1(rng, rows, phi=0.7, deviation=1.0):
    """Stationary noise of first-order autocorrelation `phi` and standard deviation `deviation`, mean 0."""
    shocks = rng.standard_normal(rows) * np.sqrt(1 - phi * phi)
    shocks[0] = rng.standard_normal()
    return deviation * remembering(shocks, phi)


def remembering(shocks, phi):
    """The sums of shocks of which the share `phi` is left at each next sample."""
    out, last = [], 0.0
    for shock in shocks.tolist():
        last = phi * last + shock
        out.append(last)
    return np.array(out)


def a_log(columns, host="SUT", interval_s=5, start=START):
    """A log of counter paths and their values; NaN for no sample."""
    rows = len(next(iter(columns.values())))
    return Log(
        path=Path(f"/logs/{host}.csv"),
        format="pdh-csv",
        times=start + np.arange(rows, dtype=np.int64) * int(interval_s * SECOND),
        columns=tuple(np.array(values, dtype=float) for values in columns.values()),
        series=tuple(load_shipped().series(CounterPath.parse(path), host) for path in columns),
        zone=Zone.parse("UTC"),
    )


def reviewed(*logs, phases=(), whole_run=False, facts=None):
    """The logs of one run, judged by every shipped pack."""
    question = Question(load().packs, load_signals(), tuple(phases), whole_run=whole_run)
    return review(logs, Run("simulated", phases=tuple(phases), simulated=True), question, facts or Facts({}, {}))
