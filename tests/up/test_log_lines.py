"""The log of `plimsoll up`, as a process writes it."""

import os
import re
import subprocess
import sys

import pytest

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d "
BEGIN = "import logging, sys\nfrom pathlib import Path\nfrom plimsoll.up import log_lines\nlog = logging.getLogger('plimsoll.x')\n"


@pytest.fixture
def logged(tmp_path):
    """Runs statements in a process of its own; the lines on its stderr."""

    def run(statements, journal=False):
        with (tmp_path / "stderr").open("w+b") as stderr:
            fstat = os.fstat(stderr.fileno())
            stream = f"{fstat.st_dev}:{fstat.st_ino if journal else fstat.st_ino + 1}"
            subprocess.run(
                [sys.executable, "-c", BEGIN + statements],
                env={**os.environ, "JOURNAL_STREAM": stream, "TZ": "Europe/Berlin"},
                stderr=stderr,
                check=True,
            )
        return (tmp_path / "stderr").read_text().splitlines()

    return run


SAY = """
log_lines.set_up()
log.info("started on %s", "127.0.0.1:8087")
log.warning("/mnt/a\\x1b[31m\\nb: does not answer")
logging.getLogger("somelibrary").info("chatter")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("a step failed")
"""


def test_lines_have_a_time_with_zone_and_the_level_in_words(logged):
    first, second, *rest = logged(SAY)
    assert re.fullmatch(TIME + r"info: started on 127\.0\.0\.1:8087", first)
    assert re.fullmatch(TIME + r"warning: /mnt/a\\x1b\[31m\\nb: does not answer", second)
    assert re.fullmatch(TIME + "error: a step failed", rest[0])
    assert re.fullmatch(TIME + "error: ZeroDivisionError: division by zero", rest[-1])
    assert not any("chatter" in line for line in rest)


def test_the_journal_of_systemd_gets_priorities_and_no_times(logged):
    lines = logged(SAY, journal=True)
    assert lines[:2] == ["<6>started on 127.0.0.1:8087", r"<4>/mnt/a\x1b[31m\nb: does not answer"]
    assert lines[2] == "<3>a step failed"
    assert all(line.startswith("<3>") for line in lines[2:])


def test_the_same_complaint_is_said_once_an_hour_with_a_count(logged):
    lines = logged("""
import time
log_lines.set_up()
begun, real = time.time(), time.time
def at(seconds, said):
    record = log.makeRecord(log.name, logging.WARNING, "", 0, said, (), None)
    record.created = begun + seconds
    log.handle(record)
for seconds in range(0, 7200, 10):
    at(seconds, "mail: refused")
    if seconds % 1000 == 0:
        at(seconds, f"another {seconds}")
        log.info("a note")
""")
    rows = [re.sub(TIME, "", line) for line in lines]
    assert [line for line in rows if "mail" in line] == [
        "warning: mail: refused",
        "warning: mail: refused (359 more times since it was said last)",
    ]
    assert len([line for line in rows if "another" in line]) == 8
    assert rows.count("info: a note") == 8, "only complaints are left out"


def test_a_file_takes_the_lines_and_does_not_grow_without_end(logged, tmp_path):
    file = tmp_path / "plimsoll.log"
    assert logged(f"log_lines.set_up(Path({str(file)!r}))\nfor at in range(22_000): log.info('%0999d', at)\n") == []
    assert file.read_text().splitlines()[-1].endswith("21999")
    assert {path.name for path in tmp_path.glob("plimsoll*")} == {
        "plimsoll.log",
        *(f"plimsoll.log.{n}" for n in (1, 2, 3)),
    }
    assert sum(path.stat().st_size for path in tmp_path.glob("plimsoll*")) < 4 * 5_000_000
