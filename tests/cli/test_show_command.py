"""`plimsoll show`, and what all commands do alike with what they are given."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminals import on_a_terminal

HEADER = r'"(PDH-CSV 4.0) (UTC)(0)","\\H\Processor(0)\% User Time","\\H\Processor(10)\% User Time","\\H\Processor(2)\% User Time"'


def a_log(path, rows):
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def row(second, *values):
    return ",".join(f'"{cell}"' for cell in (f"01/15/2008 10:00:{second:02}.000", *values))


def test_what_is_in_a_log(plimsoll, tmp_path):
    log = a_log(tmp_path / "log.csv", [row(s, 1, " ", 3) for s in (0, 5, 10, 40, 45)])
    done = plimsoll("show", log)
    assert done.status == 0
    assert done.out.splitlines() == [
        str(log),
        "  format    PDH-CSV",
        "  host      H",
        "  zone      UTC",
        "  span      2008-01-15 10:00:00–10:00:45 (45 s)",
        "  interval  5 s",
        "  gaps      2008-01-15 10:00:10–10:00:40 (30 s)",
        "  size      5 rows × 3 counters: 10 values, 5 missing",
        "  Processor (0–10)",
        "    % User Time",
        "  no signal 1 counter that no rule can judge yet; plimsoll rules new FILE --from LOG writes a pack",
        "    Processor: % User Time",
    ]


def test_a_recorder_that_went_on_at_another_interval(plimsoll, tmp_path):
    log = a_log(tmp_path / "log.csv", [row(s, 1, 2, 3) for s in (*range(10), *range(13, 42, 4), 55)])
    out = plimsoll("show", log).out.splitlines()
    assert "  interval  1 s; 4 s 2008-01-15 10:00:13–10:00:41" in out
    assert "  gaps      2008-01-15 10:00:41–10:00:55 (14 s)" in out
    (result,) = json.loads(plimsoll("show", log, "--json", "-").out)
    assert result["other_intervals"] == [
        {"start": "2008-01-15T10:00:13.000Z", "end": "2008-01-15T10:00:41.000Z", "interval_s": 4.0}
    ]


def test_the_same_for_programs(plimsoll, tmp_path):
    log = a_log(tmp_path / "log.csv", [row(s, 1, " ", "x") for s in (0, 5, 10)])
    (result,) = json.loads(plimsoll("show", log, "--json", "-").out)
    assert result["schema"] == "plimsoll.log/1"
    assert (result["samples"], result["series"], result["values"], result["missing"]) == (3, 3, 3, 6)
    assert result["objects"] == [{"object": "Processor", "counters": ["% User Time"], "instances": ["0", "10", "2"]}]
    assert result["without_signal"] == [{"object": "Processor", "counters": ["% User Time"]}]
    assert [(r["line"], r["counter"]) for r in result["remarks"]] == [(2, r"\\H\Processor(2)\% User Time")]


def test_nothing_but_remarks_is_said_of_a_damaged_log(tmp_path):
    """Polars panics at a cell that is a single quote; users must not see that."""
    log = tmp_path / "log.csv"
    log.write_bytes(
        (HEADER + "\n" + row(0, 1, 2, 3) + '\n"01/15/2008 10:00:05.000",","2","3"\n' + row(10, 1, 2, 3) + "\n").encode()
    )
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "show", str(log)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == ["remark"]
    assert "2 rows × 3 counters" in done.stdout


def test_standard_input_and_archives_are_read_by_every_command(tmp_path):
    log = a_log(tmp_path / "log.csv", [row(s, 1, 2, 3) for s in (0, 5, 10)])
    for command in (["show"], ["review"], ["convert", "--as", "lp", "--out", str(tmp_path / "out.lp")]):
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll", *command, "-"],
            input=gzip.compress(log.read_bytes()),
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_names_in_a_language_of_ones_own(plimsoll, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text('"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Suoritin(_Total)\\Aika"\n"01/15/2008 10:00:00.000","12"\n')
    names = tmp_path / "fi.yaml"
    names.write_text("objects: {Suoritin: Processor}\ncounters: {Processor: {Aika: '% Processor Time'}}\n")
    assert plimsoll("review", log).out.startswith("Not known.")
    assert "Processor time" in plimsoll("review", log, "--names", names).out.partition("Recorded too briefly")[2]


def test_what_windows_calls_otherwise_in_a_language_is_told_by_what_it_is(plimsoll, tmp_path):
    """`Verfügbare MB` has a signal, `Seitenfehler/s` has none, and `Zusicherungsgrenze` is an unknown name."""
    names = ["Verfügbare MB", "Seitenfehler/s", "Zusicherungsgrenze"]
    columns = ["(PDH-CSV 4.0) (UTC)(0)", *(rf"\\H\Arbeitsspeicher\{name}" for name in names)]
    log = tmp_path / "log.csv"
    log.write_text(",".join(f'"{column}"' for column in columns) + "\n" + row(0, 1, 2, 3) + "\n", encoding="utf-8")
    assert plimsoll("show", log).out.splitlines()[10:] == [
        "  not known 1 counter under a name that Plimsoll does not know; see --names",
        "    Arbeitsspeicher: Zusicherungsgrenze",
        "  no signal 1 counter that no rule can judge yet; plimsoll rules new FILE --from LOG writes a pack",
        "    Arbeitsspeicher: Seitenfehler/s",
    ]
    (result,) = json.loads(plimsoll("show", log, "--json", "-").out)
    assert result["not_known"] == [{"object": "Arbeitsspeicher", "counters": ["Zusicherungsgrenze"]}]
    assert result["without_signal"] == [{"object": "Arbeitsspeicher", "counters": ["Seitenfehler/s"]}]


def test_the_name_of_a_log_is_shown_in_one_line_whatever_is_in_it(plimsoll, tmp_path):
    log = a_log(tmp_path / "[red]a\nb\x1b[1m.csv", [row(0, 1, 2, 3)])
    assert plimsoll("show", log).out.splitlines()[0] == f"{tmp_path}/[red]a\\nb\\x1b[1m.csv"


def test_an_object_after_two_backslashes(plimsoll, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text('"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\\\Job(0)\\Steps"\n"01/15/2008 10:00:00.000","1"\n')
    assert plimsoll("show", log).out.splitlines()[8:10] == ["  Job (0)", "    Steps"]


NAMES = ["% Disk Time", "Avg. Disk Queue Length", "Current Disk Queue Length", "Disk Reads/sec", "% Idle Time"]


def a_wide_log(path):
    cells = ["(PDH-CSV 4.0) (UTC)(0)", *(rf"\\H\PhysicalDisk({n} 磁碟:)\{name}" for name in NAMES for n in range(40))]
    a_log(path, [row(0, *["1"] * (len(cells) - 1)), "x"])
    path.write_text("\n".join([",".join(f'"{cell}"' for cell in cells), *path.read_text().splitlines()[1:]]) + "\n")
    return path


def cells(text):
    return sum(1 + ("\u2e80" < item < "\uffe0") for item in text)


@pytest.mark.parametrize("width", [60, 80])
def test_on_a_terminal_lines_are_parted_between_words_and_nothing_is_lost(plimsoll, tmp_path, monkeypatch, width):
    monkeypatch.chdir(tmp_path)
    log = a_wide_log(Path("log.csv"))
    piped = plimsoll("show", log)
    shown = on_a_terminal(width, "show", log)
    assert max(map(cells, shown)) <= width
    assert " ".join(" ".join(shown).split()) == " ".join(f"{piped.out} {piped.err}".split())
    assert max(map(cells, piped.out.splitlines())) > 100
