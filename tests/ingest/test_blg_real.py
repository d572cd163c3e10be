"""A binary log of Windows Vista (32-bit, whole objects), by what is known of it: identities between its counters."""

import numpy as np
import pytest

from plimsoll.ingest.convert.convert import write_csv
from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable
from plimsoll.model.times import format_iso

BUFFER = 65536
CUSTOM = {"Priority Base", "Elapsed Time", "ID Process", "Creating Process ID"}


@pytest.fixture
def path(real_logs):
    """The log."""
    return real_logs / "PAL_SampleLog.blg"


@pytest.fixture
def outcome(path):
    """The log, read."""
    return read_log(path)


@pytest.fixture
def values(outcome):
    """Values by path; NaN where there is none."""
    return {series.path: column for series, column in zip(outcome.series, outcome.columns, strict=True)}


def test_size_and_times(outcome):
    assert (outcome.hosts, outcome.zone.name, outcome.remarks) == (("ZACH-PC",), "UTC-04:00", ())
    assert (len(outcome.series), outcome.present, outcome.missing) == (1832, 17278, 2874)
    assert (format_iso(int(outcome.times[0])), format_iso(int(outcome.times[-1]))) == (
        "2007-08-14T19:40:38.659Z",
        "2007-08-14T19:50:38.599Z",
    )


def test_objects_and_their_instances(outcome):
    result: dict[str, tuple[set[str], set[str | None]]] = {}
    for series in outcome.series:
        object_, instance = series.tag("objectname") or "", series.tag("instance")
        counters, instances = result.setdefault(object_, (set(), set()))
        counters.add(series.field)
        instances.add(instance)
    assert {name: (len(counters), len(instances)) for name, (counters, instances) in result.items()} == {
        "LogicalDisk": (23, 3),
        "TCPv4": (9, 1),
        "Memory": (35, 1),
        "Network Interface": (17, 2),
        "PhysicalDisk": (21, 2),
        "Process": (28, 57),
        "Processor": (15, 2),
        "System": (17, 1),
    }
    assert [f"svchost#{at}" in result["Process"][1] for at in (1, 12, 13)] == [True, True, False]


def test_identities_of_recorded_values(outcome, values):
    processes = {series.tag("instance") for series in outcome.series if series.tag("objectname") == "Process"}
    item = sorted(process for process in processes if process and process != "_Total")
    for counter in (
        "Thread Count",
        "Handle Count",
        "Working Set",
        "Private Bytes",
        "Virtual Bytes",
        "Pool Paged Bytes",
    ):
        total = np.nansum([values[rf"\Process({process})\{counter}"] for process in item], axis=0)
        assert total.tolist() == values[rf"\Process(_Total)\{counter}"].tolist()
    memory = values[r"\Memory\Available Bytes"]
    assert values[r"\Memory\Available KBytes"].tolist() == (memory // 1024).tolist()
    assert values[r"\Memory\Available MBytes"].tolist() == (memory // 1024**2).tolist()
    assert values[r"\System\Threads"].tolist() == values[r"\Process(_Total)\Thread Count"].tolist()
    running = np.isfinite([values[rf"\Process({process})\ID Process"] for process in processes]).sum(axis=0)
    assert values[r"\System\Processes"].tolist() == (running - 1).tolist()


def test_identities_of_calculated_values(outcome, values):
    busy = values[r"\Processor(_Total)\% Processor Time"]
    assert busy[1:] + values[r"\Processor(_Total)\% Idle Time"][1:] == pytest.approx(100, abs=1e-6)
    disk = r"\PhysicalDisk(0 C:)"
    use = values[rf"{disk}\% Disk Time"]
    assert use[1:] == pytest.approx(values[rf"{disk}\% Disk Read Time"][1:] + values[rf"{disk}\% Disk Write Time"][1:])
    assert use[1:] == pytest.approx(100 * values[rf"{disk}\Avg. Disk Queue Length"][1:], rel=1e-4)
    moved = values[rf"{disk}\Disk Transfers/sec"] * values[rf"{disk}\Avg. Disk sec/Transfer"]
    assert moved[1:] == pytest.approx(values[rf"{disk}\Avg. Disk Queue Length"][1:], rel=1e-3)
    assert busy[1:3] == pytest.approx([82.1481, 86.8979], abs=1e-4)
    assert use[4] == pytest.approx(259.052, abs=1e-3)
    assert values[r"\System\Context Switches/sec"][10] == pytest.approx(1316.49, abs=1e-2)
    percents = {path: value for path, value in values.items() if "\\% " in path and "Disk" not in path}
    assert all(
        np.nanmin(percent) >= 0 and np.nanmax(percent) <= 100
        for percent in percents.values()
        if np.isfinite(percent).any()
    )
    up = values[r"\System\System Up Time"]
    assert np.diff(outcome.times / 1e9 - up) == pytest.approx(0, abs=0.005)


def test_its_csv_is_the_same_log(outcome, tmp_path):
    write_csv(outcome, tmp_path / "run.csv")
    same = read_log(tmp_path / "run.csv")
    assert same.remarks == ()
    assert [series.key for series in same.series] == [series.key for series in outcome.series]
    assert same.times.tolist() == outcome.times.tolist()
    assert same.zone == outcome.zone
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(same.columns, outcome.columns, strict=True))


def test_cut_and_joined(path, tmp_path):
    data = path.read_bytes()
    for size, rows in ((6 * BUFFER, 8), (6 * BUFFER + 30000, 9)):
        (tmp_path / "cut.blg").write_bytes(data[:size])
        log = read_log(tmp_path / "cut.blg")
        assert len(log.times) == rows
        assert log.remarks
    for name, damaged in (("cut", data[: 3 * BUFFER]), ("joined", data + data)):
        (tmp_path / f"{name}.blg").write_bytes(damaged)
        with pytest.raises(Unusable, match="relog"):
            read_log(tmp_path / f"{name}.blg")
