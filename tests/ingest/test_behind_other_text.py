"""A recording behind other text, as a terminal or a mail leaves it: named by its program, and never taken for notes."""

from pathlib import Path

import pytest

from plimsoll.ingest.read import read_log
from plimsoll.model.errors import NoLog, Unusable

CASES = Path(__file__).parent / "cases"
FILES = {
    "nmon": "nmon/snapshots/input.nmon",
    "collectl": "collectl/details/input.txt",
    "dool": "dool/columns/input.csv",
    "vmstat": "vmstat/with_times/input.txt",
    "iostat": "sysstat-text/iostat/input.txt",
    "sysstat": "sysstat-JSON/iostat/input.json",
    "atop": "atop/since_boot_and_after/input.txt",
    "pmrep": "pmrep/gap/input.csv",
    "JMeter": "jmeter-csv/documented/input.jtl",
}


@pytest.mark.parametrize("program", FILES)
def test_a_recording_behind_other_text_is_refused_under_its_programs_name(tmp_path, program):
    recording = CASES / FILES[program]
    file = tmp_path / "saved.txt"
    file.write_bytes(b"user@web01:~$ record\n" + recording.read_bytes())
    with pytest.raises(Unusable, match=rf"what \S*.*{program}.* records, without its first line or behind") as error:
        read_log(file)
    assert not isinstance(error.value, NoLog)


def test_notes_that_name_recorders_are_no_recording(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("we ran nmon -f, vmstat and iostat; procs were many, avg-cpu was low\nsee ZZZZ below\n")
    with pytest.raises(NoLog):
        read_log(file)
