"""The simulated runs have the figures of the study, and cross only the intended limits."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plimsoll.demo.runs import write_runs
from plimsoll.demo.windows import add_arrays, round_significant
from plimsoll.model.log import Values

STEADY = slice(240, None)
MINUTE = 13  # samples in a window of 60 s, both ends included
SPINDLES = {"0 C:": 2, "1 D:": 2, "2 E:": 4}
HOSTS = ("SQLSRV01", "OCSFE01", "OCSFE02")
RUNS = ("8GB", "4GB")
BOTH = pytest.mark.parametrize("run", RUNS)
ALL_HOSTS = pytest.mark.parametrize("host", HOSTS)

CPU = "\\Processor(_Total)\\% Processor Time"
PAGE_LIFE = "\\SQLServer:Buffer Manager\\Page life expectancy"
DATABASE = "\\PhysicalDisk(2 E:)\\"
LOG = "\\PhysicalDisk(1 D:)\\"


@dataclass
class Recorded:
    """One file, read without Plimsoll's own reader."""

    raw: bytes

    def __post_init__(self) -> None:
        table = pl.read_csv(self.raw, infer_schema=False)
        self.times = table.to_series(0)
        prefix = len("\\\\" + table.columns[1][2:].partition("\\")[0])
        self.columns = {
            name[prefix:]: table[name].replace(" ", None).cast(pl.Float64).to_numpy() for name in table.columns[1:]
        }

    def __getitem__(self, path: str) -> Values:
        return self.columns[path]

    def matching(self, text: str) -> Iterator[tuple[str, Values]]:
        rows = [(path, values) for path, values in self.columns.items() if text in path]
        assert rows, text
        yield from rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo")
    assert write_runs(out) == [out / run for run in RUNS]
    return out


@pytest.fixture(scope="module")
def logs(folder: Path) -> dict[tuple[str, str], Recorded]:
    return {(run, host): Recorded((folder / run / f"{host}.csv").read_bytes()) for run in RUNS for host in HOSTS}


def test_the_same_bytes_every_time(folder: Path, tmp_path: Path) -> None:
    write_runs(tmp_path)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert len(files) == 8
    assert files == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    for file in files:
        assert (folder / file).read_bytes() == (tmp_path / file).read_bytes(), file


@BOTH
@ALL_HOSTS
def test_totals_agree_with_their_instances(logs: dict[tuple[str, str], Recorded], run: str, host: str) -> None:
    log = logs[run, host]

    def agree(actual: Values, expected: Values) -> None:
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, equal_nan=True)

    processors = [log[f"\\Processor({n})\\% Processor Time"] for n in range(4)]
    agree(log[CPU], add_arrays(processors) / 4)
    disks = [d for d in SPINDLES if host == "SQLSRV01" or d == "0 C:"]
    for counter in ("Disk Reads/sec", "Disk Writes/sec", "Avg. Disk Queue Length"):
        parts = [log[f"\\PhysicalDisk({disk})\\{counter}"] for disk in disks]
        agree(log[f"\\PhysicalDisk(_Total)\\{counter}"], add_arrays(parts))
    for disk in (*disks, "_Total"):
        operations = ("Read", "Write")
        seconds = [log[f"\\PhysicalDisk({disk})\\Avg. Disk sec/{o}"] for o in operations]
        rates = [log[f"\\PhysicalDisk({disk})\\Disk {o}s/sec"] for o in operations]
        queue = add_arrays(s * r for s, r in zip(seconds, rates, strict=True))
        agree(log[f"\\PhysicalDisk({disk})\\Avg. Disk Queue Length"], queue)
    service = "sqlservr" if host == "SQLSRV01" else "RTCSrv"
    percent = [log[f"\\Process({p})\\% Processor Time"] for p in (service, "Idle", "_Total")]
    assert (percent[0] + percent[1] <= percent[2] + 1e-3)[1:].all()


@BOTH
def test_the_flushes_of_the_study(logs: dict[tuple[str, str], Recorded], run: str) -> None:
    """Test results: 8.2 % of the samples are not zero, with a mean of 462/s and 30 ms, at most 1,230/s and 180 ms."""
    writes = logs[run, "SQLSRV01"][DATABASE + "Disk Writes/sec"][1:]
    latency = logs[run, "SQLSRV01"][DATABASE + "Avg. Disk sec/Write"][1:]
    flushing = writes > 0
    assert flushing.mean() == pytest.approx(190 / 2331, abs=0.003)
    assert writes[flushing].mean() == pytest.approx(462, rel=0.05)
    assert 1100 < writes.max() <= 1230
    assert (latency[flushing] > 0).all()
    assert (latency[~flushing] == 0).all()
    assert latency[flushing].mean() == pytest.approx(0.030, rel=0.05)
    assert latency.mean() == pytest.approx(0.0025, abs=0.0002)
    assert latency.max() == pytest.approx(0.180)
    starts = np.flatnonzero(flushing & ~np.roll(flushing, 1))
    assert set(np.diff(starts)) == {300 // 5}
    log_writes = logs[run, "SQLSRV01"][LOG + "Disk Writes/sec"][1:]
    log_latency = logs[run, "SQLSRV01"][LOG + "Avg. Disk sec/Write"][1:]
    assert log_writes.std() / log_writes.mean() < 0.1
    assert 0.019 < log_latency.max() <= 0.021
    assert log_latency[~flushing].max() < 0.002


def test_page_life_with_8_gb(logs: dict[tuple[str, str], Recorded]) -> None:
    """Figure 9: steadily rising, past 3,600 before steady state."""
    life = logs["8GB", "SQLSRV01"][PAGE_LIFE]
    assert 2650 < life[0] < 2750
    assert life[STEADY.start - MINUTE :].min() > 3600
    assert life[: 840 // 5].max() < 3600
    assert life[-1] > 10_000
    assert (life[120:] - life[:-120]).min() >= 300  # over any 10 minutes


def test_significant_digits() -> None:
    values = np.array([0.0, 123456.7, 1234567.8, 0.000123456789, -2.0000004, 99.99996])
    assert round_significant(values).tolist() == [0.0, 123457.0, 1234570.0, 0.000123457, -2.0, 100.0]
