"""Planned work in plimsoll.toml: a backup that crosses limits leaves a run healthy, and is mentioned."""

import json

import pytest

CPU = r"\Processor(_Total)\% Processor Time"
WELL = {
    r"\Memory\Available MBytes": 8000,
    r"\LogicalDisk(C:)\% Free Space": 60,
    r"\LogicalDisk(C:)\Free Megabytes": 60_000,
    r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer": 0.002,
    r"\PhysicalDisk(0 C:)\Disk Transfers/sec": 80,
}
BACKUP = """
[[run.except]]
from = 2026-03-02T22:28:00Z
to = 2026-03-02T22:52:00Z
reason = "nightly backup"
"""


@pytest.fixture
def reviewed(plimsoll, tmp_path):
    """Reviews two hours, of which the processors are busy for 20 minutes from 22:30 on."""

    def call(toml, *arguments, busy=range(180, 300)):
        (tmp_path / "plimsoll.toml").write_text(toml)
        names = "".join(rf',"\\WEB01{name}"' for name in (CPU, *WELL))
        rows = [f'"(PDH-CSV 4.0) (UTC)(0)"{names}']
        for at in range(720):
            minute, second = divmod(at * 10, 60)
            values = ((97 if at in busy else 20) + at % 3 / 10, *WELL.values())
            shown = "".join(f',"{value}"' for value in values)
            rows.append(f'"03/02/2026 {22 + minute // 60:02}:{minute % 60:02}:{second:02}.000"{shown}')
        (tmp_path / "log.csv").write_text("\r\n".join(rows) + "\r\n")
        done = plimsoll("review", tmp_path / "log.csv", "--json", tmp_path / "r.json", *arguments)
        return done, json.loads((tmp_path / "r.json").read_text()) if done.status < 2 else None

    return call


def test_planned_work_is_left_out_and_said(reviewed):
    done, _ = reviewed("")
    assert done.out.startswith("Not healthy. Processor time of WEB01")
    done, result = reviewed(BACKUP)
    assert done.out.startswith("Healthy. ")
    assert "Planned work was not judged: nightly backup, 24 min." in result["headline"]


def test_what_goes_on_after_planned_work_counts(reviewed):
    done, _ = reviewed(BACKUP, busy=range(180, 360))
    assert done.out.startswith("Not healthy. Processor time of WEB01")


def test_rules_that_are_not_named_are_judged(reviewed):
    done, _ = reviewed(BACKUP + 'rules = ["windows-disk-read-latency"]\n')
    assert done.out.startswith("Not healthy. Processor time of WEB01")
    assert "Planned work was not judged of 1 limit: nightly backup, 24 min." in done.out.replace("\n", " ")


@pytest.mark.parametrize(
    ("wrong", "output"),
    [
        (BACKUP.replace("2026", "2025"), "is no part of the recording"),
        (BACKUP + 'rules = ["cpu-bussy"]', 'no rule is named "cpu-bussy" (did you mean "cpu-busy"?)'),
        (BACKUP.replace("22:52", "22:20"), "it ends before, or when, it begins"),
        (BACKUP.replace('reason = "nightly backup"', ""), "reason is missing: say what was planned"),
    ],
)
def test_planned_work_that_cannot_be_meant_is_refused(reviewed, wrong, output):
    done, _ = reviewed(wrong)
    assert done.status == 2
    assert "run.except.1" in done.err
    assert output in done.err
