"""Text logs of which a part is lost: half of the file became zero bytes, or the clock was set back for long."""

import pytest

from plimsoll.ingest.read import read_log
from plimsoll.model.remark import Kind

PDH = '"(PDH-CSV 4.0) (UTC)(0)","\\\\WEB01\\Processor(_Total)\\% Processor Time"\r\n' + "".join(
    f'"03/04/2024 08:{row // 60:02}:{row % 60:02}.000","{40 + row % 7}"\r\n' for row in range(600)
)
JMETER = "timeStamp,elapsed,label,responseCode,success,allThreads\n" + "".join(
    f"{1_709_539_200_000 + row * 1000},{100 + row % 9},view,200,true,5\n" for row in range(600)
)


def kinds(path):
    return {remark.kind for remark in read_log(path).remarks}


@pytest.mark.parametrize(("name", "text"), [("web01.csv", PDH), ("results.jtl", JMETER)])
def test_half_of_a_file_of_zero_bytes_is_a_part_that_is_lost(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text, newline="")
    assert Kind.CUT not in kinds(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + bytes(len(data) // 2))
    assert Kind.CUT in kinds(path)


def test_a_recording_of_sadf_whose_clock_was_set_back_contradicts_itself(tmp_path):
    minutes = [*range(60), *range(30, 90)]
    header = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n"
    rows = (
        f"web01;60;2024-03-04 {8 + minute // 60:02}:{minute % 60:02}:00 UTC;-1;{20 + at};0;5;0;0;{75 - at}\n"
        for at, minute in enumerate(minutes)
        if at <= 70
    )
    path = tmp_path / "web01.txt"
    path.write_text(header + "".join(rows))
    assert Kind.CONTRADICTORY in kinds(path)
