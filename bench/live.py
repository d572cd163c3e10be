"""Measures how long an evaluation of a large live fleet takes, and how much memory its windows use.

Run `python -m bench.live [--hosts 1000]`. The store answers from memory, and the time that it takes is left out, so
that only the evaluation is measured. The first evaluation, which plans, is not counted; the median of the next ones is.
"""

import argparse
import time
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from bench.fleet import Host, log
from plimsoll.alerting.evaluator import Evaluator
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.log import Times
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from plimsoll.rules.states import EVALUATION_INTERVAL

_SERIES = 60  # of a host
_START = 1_700_000_000 * SECOND // EVALUATION_INTERVAL * EVALUATION_INTERVAL
_BEFORE = 1800 * SECOND
_EVALUATIONS = 5


class Fleet:
    """A store of hosts that record every 10 seconds, each at its own second."""

    def __init__(self, hosts: int) -> None:
        self.seconds = 0.0  # CPU seconds that reading took
        self._samples: dict[Series, Samples] = {}
        times: Times = np.arange(_START - _BEFORE, _START + 20 * EVALUATION_INTERVAL, 10 * SECOND, dtype=np.int64)
        recorded = [log(Host(name, kind), times) for name, kind in (("WIN", "windows"), ("lnx", "telegraf"))]
        columns = [[item.column(at) for at in range(len(item.series))] for item in recorded]
        for host in range(hosts):
            kind = host % 2
            shifted = times + host % 10 * SECOND
            for series, values in [*zip(recorded[kind].series, columns[kind], strict=True)][:_SERIES]:
                self._samples[_of_host(series, f"{series.host}{host}")] = Samples(shifted, values)

    def series(self, start: int, end: int, *, live: bool = False) -> SimpleNamespace:
        """Return all series."""
        return SimpleNamespace(series=[*self._samples])

    def read(self, series: list[Series], start: int, end: int, *, live: bool = False) -> list[Samples]:
        """Return samples as a store does: each series in arrays of its own."""
        begun = time.process_time()
        rows = [self._samples[item].between(start, end) for item in series]
        copies = [Samples(item.times.copy(), item.values.copy()) for item in rows]
        self.seconds += time.process_time() - begun
        return copies


def _of_host(series: Series, host: str) -> Series:
    """Return the series of another host, which is also named by the tag `source` of Windows counters."""
    tags = tuple((name, host if name == "source" else value) for name, value in series.tags)
    return replace(series, host=host, tags=tags)


def evaluation(hosts: int) -> tuple[float, float]:
    """Return the CPU seconds of one evaluation, and the bytes per sample in the windows."""
    store = Fleet(hosts)
    tracemalloc.start()
    judge = Evaluator(store, Site(load()), {}, {})  # pyright: ignore[reportArgumentType]
    judge.advance(np.array([_START], dtype=np.int64))
    # What is held of samples: arrays, and the objects of the windows.
    filter_traces = tracemalloc.take_snapshot().filter_traces(
        [tracemalloc.Filter(True, f"*{name}") for name in ("buffers.py", "samples.py", "one_clock.py")]
    )
    tracemalloc.stop()
    samples = judge._samples.size
    bytes_each = sum(statistic.size for statistic in filter_traces.statistics("filename")) / samples
    seconds: list[float] = []
    for at in range(1, _EVALUATIONS + 1):
        start = time.process_time() - store.seconds
        judge.advance(np.array([_START + at * EVALUATION_INTERVAL], dtype=np.int64))
        seconds.append(time.process_time() - store.seconds - start)
    return sorted(seconds)[len(seconds) // 2], bytes_each


def main() -> None:
    """Print the CPU seconds and the bytes per sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    hosts = parser.parse_args().hosts
    seconds, item = evaluation(hosts)
    print(f"{hosts:,} hosts with {_SERIES} series: {seconds:.2f} CPU s an evaluation, {item:.0f} bytes a sample held")


if __name__ == "__main__":
    main()
