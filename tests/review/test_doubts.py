"""Recordings that say too little, or contradict each other: a review says so, and never "Healthy"."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

START = datetime(2026, 3, 10, 10, tzinfo=UTC)
CPU = r"Processor(_Total)\% Processor Time"
SEC = timedelta(seconds=1)
# What a small log of Windows has besides processor time, all of it well.
QUIET = {
    r"Processor(_Total)\% Privileged Time": 5,
    r"System\Processor Queue Length": 0,
    r"System\Context Switches/sec": 3000,
    r"Memory\Available MBytes": 8000,
    r"Memory\% Committed Bytes In Use": 40,
    r"PhysicalDisk(0 C:)\Avg. Disk sec/Read": 0.003,
    r"PhysicalDisk(0 C:)\Avg. Disk sec/Write": 0.003,
    r"LogicalDisk(C:)\% Free Space": 40,
}


def between(first, last, then=97, else_=20):
    """Processor time by the minute: high from the first to before the last one."""
    return lambda minute: then if first <= minute < last else else_


@pytest.fixture
def write(tmp_path):
    """Writes the log of a host, a row every 15 s for an hour.

    `cpu` is given the minutes since the first row. `clock` returns how much is added to the time of a row, None to
    leave the row out. `counters` are other counters.
    """

    def call(
        cpu=lambda _: 20,
        name="a",
        host="WEB01",
        *,
        minutes=60,
        late=timedelta(),
        clock=lambda _: timedelta(),
        counters=None,
    ):
        quiet = {path: usual if callable(usual) else lambda _, usual=usual: usual for path, usual in QUIET.items()}
        columns = {CPU: cpu, **quiet, **(counters or {})}
        lines = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(rf'"\\{host}\{path}"' for path in columns)])]
        for at in range(minutes * 4):
            added = clock(at / 4)
            if added is None:
                continue
            moment = START + late + timedelta(seconds=15 * at) + added
            values = [value(at / 4) for value in columns.values()]
            # Two samples of a running system are never quite the same.
            noisy = [" " if value is None else value * (1 + at % 7 / 300) for value in values]
            lines.append(",".join(f'"{item}"' for item in [f"{moment:%m/%d/%Y %H:%M:%S.%f}"[:-3], *noisy]))
        (tmp_path / f"{name}.csv").write_text("\r\n".join(lines) + "\r\n")

    return call


@pytest.fixture
def verdict(plimsoll, tmp_path):
    """The verdict on the logs that were written, and the headline."""

    def call(*arguments):
        plimsoll("review", tmp_path, "--json", tmp_path / "r.json", *arguments)
        loads = json.loads((tmp_path / "r.json").read_text())
        return loads["verdict"], loads["headline"]

    return call


@pytest.mark.parametrize(("back", "output"), [(1800, "120 rows at the time of the row before"), (1807, "121 rows lie")])
def test_a_clock_that_is_set_back_in_trouble_is_no_healthy_run(back, output, write, plimsoll, tmp_path):
    write(between(60, 90), minutes=120, clock=lambda minute: -back * SEC if minute >= 60 else 0 * SEC)
    text = plimsoll("review", tmp_path).out
    assert "Not known. " in text
    assert f"values for the same time contradict each other in a.csv: {output}" in text
    assert "Next: judge the time before or after these rows alone by --from and --to" in text


def test_rows_that_are_in_a_log_twice_lose_nothing(write, verdict, tmp_path):
    write()
    log = tmp_path / "a.csv"
    header, *rows = log.read_text().splitlines(keepends=True)
    log.write_text("".join([header, *rows, *rows[100:200]]))
    assert verdict()[0] == "healthy"


@pytest.mark.parametrize(
    ("late", "output"),
    [
        (0, "values for the same time contradict each other in b.csv: 240 rows of 9 counters stand in"),
        (0.3, "at times of their own and with very different values"),
    ],
    ids=["the same times", "two machines of one name"],
)
def test_two_recordings_that_contradict_each_other_are_no_healthy_run(late, output, write, verdict):
    write(name="a")
    write(lambda _: 97, name="b", late=late * SEC)
    result, headline = verdict()
    assert result == "unknown"
    assert output in headline


def test_two_recorders_of_one_machine_are_a_healthy_run(write, verdict):
    write(lambda minute: 20 + 30 * (minute % 2), name="a")
    write(lambda minute: 20 + 30 * ((minute + 0.1) % 2), name="b", late=6 * SEC)
    assert verdict()[0] == "healthy"


@pytest.mark.parametrize(("apart", "expected"), [(0.06, "healthy"), (0.3, "unknown")])
def test_two_recorders_that_sample_some_tenths_of_a_second_apart_do_not_contradict_each_other(
    apart, expected, write, verdict
):
    """Beside two machines of one name."""
    write(lambda minute: 40 + 5 * np.sin(37 * minute), name="a")
    write(lambda minute: (40 + 5 * np.sin(37 * minute)) * (1 + apart * np.cos(53 * minute)), name="b")
    assert verdict()[0] == expected


def gap(first, last):
    """A clock that leaves the rows of some minutes out."""
    return lambda minute: None if first <= minute < last else 0 * SEC


@pytest.mark.parametrize(
    ("sick", "missing", "output"),
    [
        ((30, 42), (34.5, 39), "above its limit before and after 4 min without data"),
        ((30, 39), (34.5, 39), None),  # recovered
        ((30, 33), (31, 32), None),  # too short to count even if it was crossed in the gap
    ],
)
def test_a_gap_in_trouble_is_no_recovery(sick, missing, output, write, verdict):
    write(between(*sick), minutes=120, clock=gap(*missing))
    result, headline = verdict()
    assert result == ("unknown" if output else "healthy"), headline
    assert (output or "") in headline


@pytest.mark.parametrize(
    ("sick", "missing", "output"),
    [
        ((30, 68), (34.5, 64), "WEB01 for 29 min 45 s of 1 h 59 min; judge a part alone with"),
        ((30, 97), (33, 95), "WEB01 for 1 h 2 min of 1 h 59 min; judge a part alone with"),
        ((0, 0), (40, 53), "WEB01 for 13 min 15 s of 1 h 59 min; judge a part alone with"),
        ((0, 0), (40, 50), None),  # a twelfth
    ],
)
def test_a_run_that_was_not_recorded_for_a_part_of_it_is_not_known_to_be_healthy(sick, missing, output, write, verdict):
    write(between(*sick), minutes=120, clock=gap(*missing))
    result, headline = verdict()
    assert result == ("unknown" if output else "healthy"), headline
    assert (f"othing was recorded of {output}" if output else "") in headline
    assert ("before and after" in headline) == (sick == (30, 68)), "over an hour it may be two matters"


@pytest.mark.parametrize(
    ("first", "last", "output"),
    [
        (20, 40, "nothing was recorded of WEB01 for 20 min 15 s of 59 min 45 s"),
        (40, 60, "WEB01 was recorded only until 20 min before the end of the run"),
        (20, 24, None),
    ],
)
def test_rows_without_a_value_are_no_recording(first, last, output, write, verdict):
    def blank(usual):
        return lambda minute: None if first <= minute < last else usual

    blanks = {path: blank(usual) for path, usual in QUIET.items()}
    write(blank(20), counters=blanks)
    result, headline = verdict()
    assert result == ("unknown" if output else "healthy"), headline
    assert (output or "") in headline
    write(blank(20), counters={**blanks, r"System\System Up Time": lambda minute: 9e5 + 60 * minute})
    assert verdict()[0] == result


SQL = {r"SQLServer:SQL Statistics\Batch Requests/sec": 300, r"SQLServer:Locks(_Total)\Lock Waits/sec": 1}


@pytest.mark.parametrize(
    ("counters", "first", "last", "output"),
    [
        (
            SQL,
            20,
            35,
            "nothing was recorded of SQLServer of WEB01 for 15 min 15 s of 59 min 45 s; see whether it was down",
        ),
        (SQL, 40, 60, "nothing was recorded of SQLServer of WEB01 for the last 20 min of 59 min 45 s"),
        (SQL, 0, 60, "there is no value in what was recorded of SQLServer of WEB01; see whether it was down"),
        (SQL, 20, 24, None),
        (SQL, 0, 20, None),  # it was started
        ({r"Process(backup)\% Processor Time": 3}, 20, 35, None),
    ],
    ids=["down", "down until the end", "never up", "four minutes", "started late", "a program that ended"],
)
def test_a_service_of_which_nothing_is_recorded_is_not_known_to_be_healthy(
    counters, first, last, output, write, verdict
):
    def blank(usual):
        return lambda minute: None if first <= minute < last else usual

    write(counters={path: blank(usual) for path, usual in counters.items()})
    result, headline = verdict()
    assert result == ("unknown" if output else "healthy"), headline
    assert (output or "") in headline


def test_a_service_whose_log_ends_before_that_of_its_host_is_not_asked_about(write, verdict):
    write(name="a")
    write(name="b", minutes=30, counters={path: lambda _: 5 for path in SQL})
    assert "SQLServer" not in verdict()[1]


def test_half_an_hour_is_long_in_a_run_of_eight_hours_too(write, verdict):
    write(minutes=480, clock=gap(100, 135))
    assert "nothing was recorded of WEB01 for 35 min 15 s of 7 h 59 min" in verdict()[1]


@pytest.mark.parametrize("hours", [1.75, 14])
def test_recordings_of_two_days_have_no_gap_between_them(hours, write, verdict):
    write(name="a", minutes=60)
    write(name="b", minutes=60, late=int(3600 * hours) * SEC)
    result, headline = verdict()
    # Three quarters of an hour between two hours: a file of rotated ones may be lost.
    assert result == ("healthy" if hours == 14 else "unknown"), headline


def test_a_host_that_was_restarted_is_not_known_to_be_healthy(write, verdict, tmp_path):
    write(name="a")
    log = tmp_path / "a.csv"
    header, *rows = log.read_text().splitlines()
    up = [1_000_000 + 10 * at if at < 150 else 10 * (at - 149) for at in range(len(rows))]
    rows = [f'{row},"{seconds}"' for row, seconds in zip(rows, up, strict=True)]
    log.write_text("\r\n".join([rf'{header},"\\WEB01\System\System Up Time"', *rows, ""]))
    result, headline = verdict()
    assert result == "unknown"
    assert "WEB01 was restarted in the middle of the run" in headline
    work = 'from = 2026-03-10T10:30:00Z\nto = 2026-03-10T10:40:00Z\nreason = "patches"\n'
    for rules, expected in (("", "healthy"), ('rules = ["cpu-busy"]\n', "unknown")):
        (tmp_path / "plimsoll.toml").write_text(f"[[run.except]]\n{work}{rules}")
        assert verdict()[0] == expected, "work on one rule is no restart that was meant"


def test_a_recorder_that_is_restarted_in_trouble_is_no_recovery(write, verdict):
    write(between(56, 99), name="a")
    write(between(0, 4), name="b", late=timedelta(minutes=65))
    result, headline = verdict()
    assert result == "unknown"
    assert "above its limit before and after 4 min 30 s without data, and a crossing counts after 5 min" in headline


@pytest.mark.parametrize(
    ("minutes", "late", "output"),
    [
        (35, 0, "B2 was recorded only until 25 min before the end of the run"),
        (30, 30, "B2 was recorded only from 30 min after the start of the run"),
        (20, 20, "B2 was recorded only from 20 min after the start and until 20 min before the end of the run"),
        (55, 0, None),
    ],
)
def test_a_host_that_was_not_recorded_throughout_is_named(minutes, late, output, write, verdict):
    write(name="a", host="A1")
    write(name="b", host="B2", minutes=minutes, late=timedelta(minutes=late))
    result, headline = verdict()
    assert result == ("unknown" if output else "healthy")
    assert (output or "") in headline


def test_hosts_of_other_days_are_one_sentence(write, verdict):
    for day in range(5):
        write(name=f"d{day}", host=f"H{day}", late=timedelta(days=day))
    _, headline = verdict()
    assert headline.count("5 hosts were recorded for a part of the run only: H0 until 4 d before the end, H1 from") == 1
    assert headline.count("of the run") == 1


def test_a_resource_without_a_value_is_no_healthy_run(write, verdict):
    write(lambda _: None)
    result, headline = verdict()
    assert result == "unknown"
    assert "there is no value in what was recorded for Processor time of WEB01" in headline


def test_processors_that_never_do_anything_are_not_known_to_be_healthy(write, verdict):
    write(lambda _: 0)
    result, headline = verdict()
    assert result == "unknown"
    assert "the processors of WEB01 were busy for exactly 0 % in all 240 samples" in headline


@pytest.mark.parametrize(
    ("disks", "outcome", "output"),
    [
        ([r"LogicalDisk(C:)\% Free Space"], "healthy", "The disks of WEB01 were recorded only in total"),
        (
            [r"LogicalDisk(C:)\% Free Space", r"LogicalDisk(D:)\% Free Space"],
            "unknown",
            "the single disks of WEB01 were not judged; record PhysicalDisk(*)",
        ),
    ],
)
def test_a_total_of_disks_hides_a_slow_one(disks, outcome, output, write, verdict, monkeypatch):
    for path in [item for item in QUIET if "Disk" in item]:
        monkeypatch.delitem(QUIET, path)
    total = {rf"PhysicalDisk(_Total)\Avg. Disk sec/{text}": 0.003 for text in ("Read", "Write")}
    for path, value in (total | dict.fromkeys(disks, 40)).items():
        monkeypatch.setitem(QUIET, path, value)
    write()
    answer, headline = verdict()
    assert answer == outcome
    assert output in headline


SPACE = r"LogicalDisk(C:)\% Free Space"


def test_free_space_that_is_lost_in_the_run_is_a_doubt(write, verdict, monkeypatch):
    monkeypatch.setitem(QUIET, SPACE, lambda minute: 40 if minute < 30 else None)
    write()
    result, headline = verdict()
    assert result == "unknown"
    assert "the free space of C: of WEB01 was not recorded for the last 30 min of 59 min 45 s" in headline


def test_a_volume_that_is_there_for_a_backup_is_no_doubt(write, verdict, monkeypatch):
    monkeypatch.setitem(QUIET, r"LogicalDisk(Z:)\% Free Space", lambda minute: 70 if 20 <= minute < 40 else None)
    monkeypatch.setitem(QUIET, r"LogicalDisk(Z:)\Avg. Disk sec/Transfer", 0.004)
    write()
    assert verdict()[0] == "healthy"


@pytest.mark.parametrize(
    ("at_the_end", "output"),
    [
        (9.8, "Free space of WEB01, C: falls, and was past its limit of 10 % when the recording ended"),
        (10.5, "Free space of WEB01, C: falls, and would reach its limit"),
    ],
)
def test_a_volume_that_fills_up_to_its_limit_is_a_doubt_however_briefly_it_is_past_it(
    at_the_end, output, write, verdict, monkeypatch
):
    monkeypatch.setitem(
        QUIET, SPACE, lambda minute: (40 - (40 - at_the_end) * minute / 59.75) / (1 + minute * 4 % 7 / 300)
    )
    write()
    result, headline = verdict()
    assert result == "unknown"
    assert output in headline


def test_a_volume_that_fills_up_and_has_hours_left_is_no_doubt(write, verdict, monkeypatch):
    monkeypatch.setitem(QUIET, SPACE, lambda minute: 40 - 5 * minute / 60)
    write()
    assert verdict()[0] == "healthy"


def test_steady_work_that_stops_as_planned_is_no_doubt(write, verdict, tmp_path):
    write(counters={r"Web Service(_Total)\Total Method Requests/sec": lambda minute: 0 if 30 <= minute < 45 else 80})
    planned = '[[run.except]]\nfrom = 2026-03-10T10:30:00Z\nto = 2026-03-10T10:45:00Z\nreason = "deployment"\n'
    (tmp_path / "plimsoll.toml").write_text(planned)
    assert verdict()[0] == "healthy"
