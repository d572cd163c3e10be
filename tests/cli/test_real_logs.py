"""Every real log ends in a review with the right counts."""

import json

import pytest

# columns of counters, rows, interval in s, cells without a sample; of text logs counted with Python's csv module.
LOGS = {
    "PAL_SampleLog.blg": (1832, 11, 60, 2874),
    "brennen_sql-perfmon-log.csv": (3, 35, 1, 3),
    "codara_typeperf_stdout_trailer.csv": (2, 1, None, 0),
    "dbxtune_typeperf_stdout_0.csv": (45, 4, 10, 0),
    "iverson_PerformanceCounter.csv": (2631, 61, 1, 1464),
    "jg185342_DataCollector01.csv": (8, 208, 2, 0),
    "kazamatzuri_perfmon.txt": (105, 2104, 30, 93),
    "narmadha_DataCollector01.csv": (12, 21, 15, 8),
    "rajitharul_perfmon.csv": (4, 11520, 15, 3),
    "ruflas_Sesion3_DataCollector01.tsv": (14, 4031, 1, 10),
    "waflia_DataCollector01.csv": (1104, 26, 1, 833),
}


@pytest.mark.parametrize("name", LOGS)
def test_counts_are_of_the_input_as_it_stands(plimsoll, real_logs, tmp_path, name):
    out = tmp_path / "review.json"
    done = plimsoll("review", real_logs / name, "--json", out, "--out", tmp_path / "report.html")
    assert done.status == 0
    log = json.loads(out.read_text())["log"]
    columns, rows, interval, missing = LOGS[name]
    assert (log["series"], log["samples"], log["interval_s"]) == (columns, rows, interval)
    assert (log["values"], log["missing"]) == (columns * rows - missing, missing)
    assert done.out.splitlines()[0].startswith(("Healthy. ", "Not healthy. ", "Not known. "))
