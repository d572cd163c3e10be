"""plimsoll.toml is checked against the logs of a run: its hosts, and the times of its phases."""

import shutil

import pytest

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs

HEADER = r'"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)","\\{host}\Processor(_Total)\% Processor Time"'
STEADY = 'name = "steady"\nfrom = 2008-01-15T10:02:00+01:00\nto = 2008-01-15T10:08:00+01:00\n'


def a_run(folder, settings, *hosts):
    """A folder of logs, one of each host, from 10:00 to 10:10, and a plimsoll.toml."""
    folder.mkdir(exist_ok=True)
    for host in hosts:
        rows = [f'"01/15/2008 10:{s // 60:02}:{s % 60:02}.000","20"' for s in range(0, 610, 10)]
        (folder / f"{host}.csv").write_text("\n".join([HEADER.format(host=host), *rows]) + "\n")
    (folder / "plimsoll.toml").write_text(settings)
    return folder


def missing(*places, **options):
    result = review_inputs(Inputs(tuple(map(str, places)), **options), ReviewSettings())
    return result.missing_hosts


def remarks(outcome):
    return [line.removeprefix("remark: ") for line in outcome.err.splitlines()]


def test_hosts_that_are_listed_or_have_facts_are_to_be_in_the_folder(plimsoll, tmp_path):
    run = a_run(
        tmp_path / "run", '[run]\nhosts = ["WEB01", "WEB02"]\n[hosts.DB01]\nspindles = 2\n[hosts.web01]\n', "WEB01"
    )
    assert missing(run) == ("WEB02", "DB01")
    assert missing(run / "WEB01.csv", run) == ("WEB02", "DB01")
    assert missing(run / "WEB01.csv") == ()
    for place in (run, run / "WEB01.csv"):
        assert remarks(plimsoll("review", place)) == [
            "plimsoll.toml names hosts that are not in these logs, and what it says of them is not used: WEB02, DB01; "
            "these logs are of WEB01"
        ]
    a_run(run, (run / "plimsoll.toml").read_text(), "WEB02", "DB01")
    assert missing(run) == ()
    assert remarks(plimsoll("review", run)) == []


def test_a_host_that_resembles_one_is_missing_all_the_same(plimsoll, tmp_path):
    run = a_run(tmp_path / "run", '[run]\nhosts = ["WEB02", "WEB1"]\n', "WEB02", "WEB01")
    assert missing(run) == ("WEB1",)
    assert remarks(plimsoll("review", run)) == [
        'plimsoll.toml names the host "WEB1", which is not in these logs (did you mean "WEB01"?): what it says of it is '
        "not used"
    ]


@pytest.mark.parametrize(
    ("named", "recorded", "is_missing"),
    [
        ("web01.example.com", "WEB01", False),
        ("WEB01", "web01.example.com", False),
        ("web01.example.com", "web01.example.org", True),
        ("10", "10.1.1.1", True),
    ],
)
def test_a_short_and_a_full_name_are_one_computer(tmp_path, named, recorded, is_missing):
    run = a_run(tmp_path / "run", f'[run]\nhosts = ["{named}"]\n', recorded)
    assert missing(run) == ((named,) if is_missing else ())


@pytest.mark.parametrize("setting", ['hosts = [""]', 'hosts = "WEB01"', "hosts = [1]"])
def test_hosts_are_a_list_of_names(plimsoll, tmp_path, setting):
    done = plimsoll("review", a_run(tmp_path / "run", f"[run]\n{setting}\n", "WEB01"))
    assert done.status == 2
    assert "plimsoll.toml: run.hosts" in done.err


def phases(*tables):
    return "".join(f"[[run.phases]]\n{table}" for table in tables)


OUTSIDE = (
    "is no part of the recording, which reaches from 2008-01-15 10:00:00 to 2008-01-15 10:10:00 "
    "(W. Europe Standard Time, UTC+01:00); are its day and offset right?"
)
WRONG = {
    "a name no rule knows": (
        phases(STEADY.replace("steady", "steady-state")),
        'run.phases.1.name: no rule knows a phase "steady-state" (did you mean "steady"?); phases are called ramp-up, '
        'steady, ramp-down, and load steps "step 1", "step 2" and so on',
    ),
    "a name in capitals": (
        phases(STEADY.replace("steady", "Steady")),
        'run.phases.1.name: no rule knows a phase "Steady" (did you mean "steady"?); phases are called ramp-up, steady, '
        'ramp-down, and load steps "step 1", "step 2" and so on',
    ),
    "another year": (
        phases(STEADY.replace("2008", "2009")),
        f'run.phases.1: the phase "steady", 2009-01-15 10:02:00–10:08:00, {OUTSIDE}',
    ),
    "another offset": (
        phases(STEADY.replace("+01:00", "Z")),
        f'run.phases.1: the phase "steady", 2008-01-15 11:02:00–11:08:00, {OUTSIDE}',
    ),
    "a phase that hardly ends": (
        phases(STEADY.replace("15T10:08", "16T10:08")),
        f'run.phases.1: the phase "steady", 2008-01-15 10:02:00–2008-01-16 10:08:00, {OUTSIDE}',
    ),
    "two at once": (
        phases('name = "ramp-up"\nfrom = 2008-01-15T10:00:00+01:00\nto = 2008-01-15T10:03:00+01:00\n', STEADY),
        'run.phases.1 and 2: the phases "ramp-up" and "steady" overlap, 2008-01-15 10:02:00–10:03:00; let one end where '
        "the other begins",
    ),
    "an instant": (phases(STEADY.replace("10:08", "10:02")), 'run.phases.1: phase "steady" ends when it begins'),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_phase_that_cannot_be_meant_is_refused_and_not_stored(plimsoll, tmp_path, monkeypatch, name):
    monkeypatch.setenv("INFLUX_TOKEN", "t")
    settings, result = WRONG[name]
    run = a_run(tmp_path / "run", settings, "WEB01")
    for command in (("review", run), ("ingest", run, "--run", "r", "--store", "http://127.0.0.1:1")):
        done = plimsoll(*command)
        assert (done.status, done.out) == (2, "")
        assert done.err == f"plimsoll: {run / 'plimsoll.toml'}: {result}\n"


def test_phases_that_are_said_by_hand_count_alone(plimsoll, tmp_path):
    run = a_run(tmp_path / "run", WRONG["another year"][0], "WEB01")
    assert plimsoll("review", run, "--steady", "10:02/10:08").status == 0


@pytest.mark.parametrize(
    "tables",
    [
        (STEADY.replace("10:08", "18:08"),),
        (STEADY.replace("15T10:02", "14T10:02"),),
        (STEADY, 'name = "ramp-up"\nfrom = 2008-01-15T10:00:00+01:00\nto = 2008-01-15T10:02:00+01:00\n'),
        (STEADY, STEADY.replace("10:08", "10:09").replace("10:02", "10:08")),
    ],
)
def test_phases_may_reach_beyond_the_recording_and_touch(plimsoll, tmp_path, tables):
    assert plimsoll("review", a_run(tmp_path / "run", phases(*tables), "WEB01")).status == 0


def test_a_phase_of_ones_own_pack_is_known(plimsoll, tmp_path, request):
    shipped = (request.config.rootpath / "rules" / "packs" / "operating-system.yaml").read_text(encoding="utf-8")
    pack = tmp_path / "own.yaml"
    pack.write_text(shipped.replace("  - id: cpu-busy\n", "  - id: cpu-busy\n    phase: peak\n"), encoding="utf-8")
    run = a_run(tmp_path / "run", phases(STEADY.replace("steady", "peak")), "WEB01")
    done = plimsoll("review", run, "--only", pack)
    assert (done.status, done.err) == (0, "")
    assert 'no rule knows a phase "peak"' in plimsoll("review", run).err


def test_a_stored_run_says_what_its_logs_say(plimsoll, bucket, monkeypatch, tmp_path):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    run = a_run(tmp_path / "run", '[run]\nhosts = ["WEB01", "WEB02"]\n', "WEB01")
    (run / "WEB02.csv").write_bytes(b"")
    (run / "notes.txt").write_text("Monday")
    outcome = plimsoll("review", run)
    unread, skipped, names = remarks(outcome)
    assert unread == f"{run / 'WEB02.csv'}: is empty; there is nothing to read"
    assert "notes.txt: not a log" in skipped
    assert "names a host that is not in these logs" in names
    assert plimsoll("ingest", run, "--run", "whole").status == 0
    stored = plimsoll("review", "run:whole")
    assert remarks(stored) == remarks(outcome)
    result = review_inputs(Inputs(("run:whole",)), ReviewSettings())
    assert result.missing_hosts == missing(run) == ("WEB02",)
    assert [remark.kind.value for remark in result.remarks] == ["unread", "skipped", "noted"]
    plimsoll("runs", "delete", "whole")
    shutil.copy(run / "plimsoll.toml", tmp_path)
    assert plimsoll("ingest", run / "WEB01.csv", "--run", "part").status == 0
    assert missing("run:part") == ()
