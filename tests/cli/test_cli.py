"""The command line as a whole."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from typer.main import get_command

from plimsoll.cli import cli
from tests.each import run_each

HEAVY = {"influxdb_client", "jinja2", "numpy", "polars", "pydantic", "rich", "yaml"}


def a_log(path):
    path.write_text('"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","7"\n')
    return path


def commands(command, *names):
    yield " ".join(names), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *names, name)


@run_each(commands(get_command(cli.app), "plimsoll"), lambda item: item[0])
def test_every_command_and_all_it_takes_is_explained(entry):
    _, command = entry
    assert command.help
    assert [param.name for param in command.params if not param.help] == []


def one_line(outcome):
    assert (outcome.status, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    return line


@pytest.mark.parametrize(
    "option", ["--zone", "--encoding", "--store", "--format", "--from", "--to", "--out", "--json", "--junit", "--names"]
)
def test_an_option_that_is_empty_is_not_ignored(plimsoll, tmp_path, option):
    line = one_line(plimsoll("review", a_log(tmp_path / "log.csv"), option, ""))
    assert option in line
    assert "it is empty" in line or "no file is named" in line


@pytest.mark.parametrize(
    "name", ["foo", "rot13", "base64", "hex", "idna", "unicode_escape", "raw_unicode_escape", "punycode", "undefined"]
)
def test_an_encoding_that_no_log_has(plimsoll, tmp_path, name):
    line = one_line(plimsoll("show", a_log(tmp_path / "log.csv"), "--encoding", name))
    assert f'"{name}" is not an encoding of text that is known' in line


@pytest.mark.parametrize(
    ("zone", "output"),
    [
        ("utc", "UTC"),
        ("W. Europe Standard Time", "W. Europe Standard Time, UTC+01:00"),
        ("GMT Daylight Time", "GMT Daylight Time, UTC"),
        ("Tokyo Standard Time", "Tokyo Standard Time, UTC+09:00"),
    ],
)
def test_zones_may_be_named_as_windows_does(plimsoll, tmp_path, zone, output):
    assert f"  zone      {output}\n" in plimsoll("show", a_log(tmp_path / "log.csv"), "--zone", zone).out


@pytest.mark.parametrize(
    ("zone", "output"), [("Nowhere Standard Time", "not known"), ("localtime", "not known"), ("Central", "not known")]
)
def test_a_zone_that_is_refused(plimsoll, tmp_path, zone, output):
    line = one_line(plimsoll("show", a_log(tmp_path / "log.csv"), "--zone", zone))
    assert zone in line
    assert output in line


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (
            ("--out", "y"),
            "plimsoll: Missing option '--as'. Choose from: csv, parquet, lp. See plimsoll convert --help.",
        ),
        (("--as", "csv", "--out", "y", "--every", "0"), "equal to 1. See plimsoll convert --help."),
    ],
)
def test_a_call_that_is_wrong_is_told_in_one_line(plimsoll, arguments, output):
    assert one_line(plimsoll("convert", "x", *arguments)).endswith(output)


def test_a_part_of_a_log_in_an_hour_that_comes_twice(plimsoll, tmp_path):
    berlin, start = ZoneInfo("Europe/Berlin"), datetime(2024, 10, 26, 23, tzinfo=UTC)
    rows = [(start + timedelta(minutes=5 * n)).astimezone(berlin) for n in range(37)]
    header = r'"(PDH-CSV 4.0) (W. Europe Daylight Time)(-120)","\\H\System\Threads"'
    log, out = tmp_path / "log.csv", tmp_path / "out.lp"
    log.write_text("\n".join([header, *(f'"{row:%m/%d/%Y %H:%M:%S}.000","{n}"' for n, row in enumerate(rows))]) + "\n")
    entries = ("--from", "02:50", "--to", "02:10", "--zone", "Europe/Berlin")
    assert plimsoll("convert", log, "--as", "lp", "--out", out, *entries).status == 0
    assert [line.split("Threads=")[1].split()[0] for line in out.read_text().splitlines()] == [
        "22.0",
        "23.0",
        "24.0",
        "25.0",
        "26.0",
    ]


def test_standard_input_is_read_once(plimsoll):
    assert "named twice" in one_line(plimsoll("show", "-", "-"))


@pytest.mark.parametrize("option", ["--from", "--to"])
def test_a_log_is_shown_as_a_whole(plimsoll, tmp_path, option):
    assert "are for live:HOST" in one_line(plimsoll("show", a_log(tmp_path / "log.csv"), option, "09:00"))


def test_folders_in_a_folder_are_not_looked_into_and_that_is_told(plimsoll, tmp_path):
    for name in ("a", "b", "c", "d", ".git"):
        (tmp_path / name).mkdir()
    a_log(tmp_path / "a" / "log.csv")
    text = f"4 folders inside not looked into ({tmp_path / 'a'}, {tmp_path / 'b'}, {tmp_path / 'c'} and 1 more)"
    line = one_line(plimsoll("review", tmp_path))
    assert "no log in it could be read" in line
    assert text in line
    a_log(tmp_path / "other.csv")
    for command in ("show", "review"):
        outcome = plimsoll(command, tmp_path)
        assert outcome.status == 0
        assert outcome.err.count("not looked into") == 1
        assert text in outcome.err
    named = [tmp_path / name for name in ("a", "b", "c")]
    assert f"1 folder inside not looked into ({tmp_path / 'd'})" in plimsoll("show", tmp_path, *named).err
    assert "not looked into" not in plimsoll("show", *named).err


@pytest.mark.parametrize(
    ("value", "target", "size"), [("7", "lp", "1 point"), (" ", "lp", "0 points"), ("7", "csv", "1 row of 1 counter")]
)
def test_what_was_written_is_told_in_the_formats_own_terms(plimsoll, tmp_path, value, target, size):
    log, out = a_log(tmp_path / "log.csv"), tmp_path / "out"
    log.write_text(log.read_text().replace('"7"', f'"{value}"'))
    done = plimsoll("convert", log, "--as", target, "--out", out)
    assert (done.status, done.out) == (0, f"{out}: {size}\n")
    assert ("the file is empty" in done.err) is (size == "0 points")
