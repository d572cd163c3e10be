"""The calls of pdh.dll, made by a Python for Windows under Wine, of a DLL that has the types of the real one's header."""

import json
from pathlib import Path

import pytest

from tests.conftest import lacking
from tests.telegraf import wine
from tests.windows import python

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """What a Python for Windows reads: the objects, which counters are there, and three samples."""
    if lacks := python.missing():
        lacking("Python for Windows under Wine", lacks)
    library = tmp_path_factory.mktemp("pdh") / "pdh_double.dll"
    wine.compile_library(HERE / "pdh_double.c", library)
    done = python.run(HERE / "read_counters.py", f"Z:{library}")
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def test_objects_are_listed_in_the_language_of_the_host(read):
    assert read[0] == ["Prozessorinformationen", "Arbeitsspeicher", "MSSQL$PAYROLL:Buffer Manager"]


def test_what_a_host_lacks_is_no_error(read):
    assert [path for path, result in read[1].items() if not result] == [
        r"\System\No Such Counter",
        r"\No Such Object(*)\Count",
    ]


def test_rates_have_values_from_the_second_sample_on_and_may_exceed_100(read):
    busy = [dict(sample[r"\Processor Information(*)\% Processor Time"]) for sample in read[2:5]]
    assert busy == [
        {"0,0": None, "0,1": None, "0,_Total": None, "_Total": None},
        *[{"0,0": 150, "0,1": 50, "0,_Total": 100, "_Total": 100}] * 2,
    ]
    assert [sample[r"\Memory\Available Bytes"] for sample in read[2:5]] == [2**33] * 3
    assert read[3][r"\PhysicalDisk(*)\Avg. Disk sec/Transfer"] == [["0 C:", 0.0625], ["_Total", 0.0625]]


def test_instances_come_and_go(read):
    assert [sample[r"\Process(*)\Private Bytes"] for sample in read[2:5]] == [
        [["svchost", 1], ["svchost", 2]],
        [["svchost", 1], ["svchost", 2], ["üт", 4]],
        [["svchost", 1], ["svchost", 2], ["svchost", 3]],
    ]


def test_a_provider_that_hangs_holds_up_no_other(read):
    assert read[5] == ["no answer", [2**33], "no answer"]
