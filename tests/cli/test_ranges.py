"""`--from`, `--to` and `--last`: the same in every command that takes a part of the time."""

import json
from datetime import datetime, timedelta

import pytest

HEADER = r'"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)","\\WEB01\Processor(_Total)\% Processor Time"'


def a_log(path, start="2008-01-15 10:00", minutes=60):
    """A log of CPU every 10 s; its values are its minutes."""
    begin = datetime.fromisoformat(start)
    rows = [(begin + timedelta(seconds=s), s // 60) for s in range(0, minutes * 60 + 1, 10)]
    path.write_text("\n".join([HEADER, *(f'"{at:%m/%d/%Y %H:%M:%S}.000","{value}"' for at, value in rows)]) + "\n")
    return path


@pytest.fixture
def part(plimsoll, tmp_path):
    """The first and last row that are kept, or the line that refuses to."""

    def call(log, *arguments):
        out = tmp_path / "part.csv"
        done = plimsoll("convert", log, "--as", "csv", "--out", out, *arguments)
        if done.status:
            (line,) = done.err.splitlines()
            reviewed = plimsoll("review", log, *arguments)
            assert (reviewed.status, reviewed.err.replace("the logs end at", "the log ends at")) == (2, done.err)
            return line
        rows = out.read_text().splitlines()[1:]
        reviewed = plimsoll("review", log, *arguments, "--json", tmp_path / "review.json")
        assert reviewed.status == 0
        whole = next(
            load
            for load in json.loads((tmp_path / "review.json").read_text())["statistics"]
            if load["phase"] == "whole run"
        )
        assert whole["samples"] == len(rows)
        return rows[0][1:20], rows[-1][1:20]

    return call


@pytest.mark.parametrize(
    ("requests", "first", "last"),
    [
        (["--from", "10:22"], "01/15/2008 10:22:00", "01/15/2008 11:00:00"),
        (["--to", "10:22"], "01/15/2008 10:00:00", "01/15/2008 10:22:00"),
        (["--last", "15m"], "01/15/2008 10:45:00", "01/15/2008 11:00:00"),
        (["--from", "-15m"], "01/15/2008 10:45:00", "01/15/2008 11:00:00"),
        (["--from=-1h30m"], "01/15/2008 10:00:00", "01/15/2008 11:00:00"),
        (["--from", "-30m", "--to", "-15m"], "01/15/2008 10:30:00", "01/15/2008 10:45:00"),
        (["--from", "-30m", "--to", "10:40"], "01/15/2008 10:30:00", "01/15/2008 10:40:00"),
        (["--last", "2d"], "01/15/2008 10:00:00", "01/15/2008 11:00:00"),
        (["--from", "10:22", "--to", "15:00"], "01/15/2008 10:22:00", "01/15/2008 11:00:00"),
    ],
)
def test_a_part_of_a_recording(part, tmp_path, requests, first, last):
    assert part(a_log(tmp_path / "log.csv"), *requests) == (first, last)


def test_a_part_over_midnight(part, tmp_path):
    log = a_log(tmp_path / "log.csv", "2008-01-15 22:00", minutes=4 * 60)
    assert part(log, "--from", "23:00", "--to", "01:00") == ("01/15/2008 23:00:00", "01/16/2008 01:00:00")
    assert part(log, "--from", "23:00", "--to", "05:00") == ("01/15/2008 23:00:00", "01/16/2008 02:00:00")
    assert part(log, "--to", "01:00") == ("01/15/2008 22:00:00", "01/16/2008 01:00:00")
    assert part(log, "--from", "00:30") == ("01/16/2008 00:30:00", "01/16/2008 02:00:00")


@pytest.mark.parametrize(
    ("requests", "output"),
    [
        (
            ["--from", "10:40", "--to", "10:20"],
            "--to 10:20 is before --from 10:40; the log ends at 2008-01-15 11:00:00, before it is 10:20 once more",
        ),
        (
            ["--from", "2008-01-15 10:40", "--to", "10:20"],
            "--to 10:20 is before --from 2008-01-15 10:40; the log ends at 2008-01-15 11:00:00, before it is 10:20 "
            "once more",
        ),
        (
            ["--to", "09:00"],
            "--to 09:00 is before the beginning, 2008-01-15 10:00:00; the log ends at 2008-01-15 11:00:00, before it is "
            "09:00 once more",
        ),
        (["--from", "-10m", "--to", "-20m"], "--to -20m is before --from -10m"),
        (["--from", "2008-01-16", "--to", "2008-01-15"], "--to 2008-01-15 is before --from 2008-01-16"),
        (["--last", "15m", "--to", "10:20"], "--last 15m: give it alone, or --from and --to"),
        (["--last", "15"], '--last "15": write it like 15m, 2h or 1h30m'),
        (["--last", "0m"], '--last "0m": write it like 15m, 2h or 1h30m'),
        (["--last=-15m"], '--last "-15m": write it like 15m, 2h or 1h30m'),
        (["--from", "-soon"], '--from "-soon": write it like -15m, -2h or -1h30m'),
    ],
)
def test_a_part_that_is_none_is_told_in_one_line(part, tmp_path, requests, output):
    assert part(a_log(tmp_path / "log.csv"), *requests) == f"plimsoll: {output}"


def test_a_steady_state_does_not_go_on_into_a_day_that_is_not_reached(plimsoll, tmp_path):
    done = plimsoll("review", a_log(tmp_path / "log.csv", minutes=12 * 60), "--steady", "12:00/10:00")
    assert (done.status, done.err) == (
        2,
        'plimsoll: "12:00/10:00" is no part of the run, which reaches from 2008-01-15 10:00:00 to 2008-01-15 22:00:00; '
        "write it like 10:22/12:00\n",
    )


def test_the_version_is_told(plimsoll):
    assert plimsoll("--version") == (0, "plimsoll 0.1.0\n", "")
