"""Several recordings of one run: overlaps, clocks that are apart, zones that are not known."""

from pathlib import Path

import numpy as np
import pytest

from plimsoll.ingest.recordings import list_remarks, refuse_unnamed
from plimsoll.ingest.unnamed_host import name_hosts
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone


def a_log(name, host, start_s, count, value=1.0, zone=None, every_s=10):
    times = (start_s + every_s * np.arange(count, dtype=np.int64)) * SECOND
    series = Series(host, "win_system", (), "Threads")
    return Log(Path(name), "PDH-CSV", times, (np.full(count, float(value)),), (series,), zone or Zone.parse("UTC"))


def reported(*logs):
    return [str(remark) for remark in list_remarks(logs)]


def test_rotated_files_that_follow_each_other_need_no_word():
    assert reported(a_log("1.csv", "H", 0, 100), a_log("2.csv", "H", 1000, 100)) == []


def test_an_overlap_is_counted_once_and_said():
    (remark,) = reported(a_log("1.csv", "H", 0, 100), a_log("2.csv", "h", 900, 100))
    assert remark == "2.csv: 10 rows of 1 counter stand in 1.csv too: counted once"


def test_an_overlap_that_does_not_agree_says_which_counts():
    (remark,) = reported(a_log("1.csv", "H", 0, 100), a_log("2.csv", "H", 900, 100, value=2.0))
    assert remark.endswith("1.csv too, 10 values of them different: those of 1.csv count")


def test_rows_between_those_of_another_recording_all_count_and_it_is_said():
    (remark,) = reported(a_log("1.csv", "H", 0, 100), a_log("2.csv", "H", 903, 100))
    assert remark == "2.csv: 9 rows of 1 counter lie between those of 1.csv, at times of their own: all count"


def test_a_recording_in_the_pause_of_another_needs_no_word():
    assert reported(a_log("1.csv", "H", 0, 2, every_s=10_000), a_log("2.csv", "H", 103, 10)) == []


def test_overlaps_are_told_in_the_order_of_the_logs_whichever_began_first():
    first, second = a_log("1.csv", "H", 900, 100), a_log("2.csv", "h", 1800, 100)
    assert reported(first, second, a_log("3.csv", "H", 0, 200), a_log("4.csv", "H", 5000, 10)) == [
        "2.csv: 10 rows of 1 counter stand in 1.csv too: counted once",
        "3.csv: 100 rows of 1 counter stand in 1.csv too: counted once",
        "3.csv: 20 rows of 1 counter stand in 2.csv too: counted once",
    ]


def test_a_long_recording_overlaps_with_later_ones_than_the_next():
    long, short = a_log("1.csv", "H", 0, 100), a_log("2.csv", "H", 100, 10)
    last = a_log("3.csv", "H", 900, 10)
    assert [remark.partition(":")[0] for remark in reported(long, short, last)] == ["2.csv", "3.csv"]


def test_recordings_that_share_no_host_are_not_compared(monkeypatch):
    logs = [a_log(f"{at}.csv", f"H{at}", 0, 10) for at in range(100)]
    compared = []
    monkeypatch.setattr(np, "intersect1d", lambda *arguments, **_: compared.append(arguments))
    assert (reported(*logs), compared) == ([], [])


def test_of_many_overlaps_the_first_are_told():
    *first, last = reported(*(a_log(f"{at}.csv", "H" if at % 2 else "h", 100 * at, 20) for at in range(40)))
    assert len(first) == 20
    assert last.startswith("19 more pairs of recordings of one host overlap: ")


def test_of_many_remarks_the_first_are_told():
    *_, last = result = reported(*(a_log(f"{at}.csv", f"H{at}", 5000 * at, 10 + at) for at in range(30)))
    assert len(result) == 21
    assert last == "415 more remarks like these"


def test_recordings_of_different_days_are_no_sign_of_a_clock():
    (remark,) = reported(a_log("1.csv", "A", 0, 720), a_log("2.csv", "B", 2 * 86400, 720))
    assert remark == "the recordings of A and B do not meet: 1 d 22 h lie between them"


def test_a_host_an_hour_off_is_noticed():
    (remark,) = reported(a_log("1.csv", "A", 0, 720), a_log("2.csv", "B", 3600, 720))
    assert remark == "the recording of B begins 1 h after that of A and is as long: is a clock or a time zone wrong?"


def test_hosts_started_minutes_apart_are_not_suspected():
    assert reported(a_log("1.csv", "A", 0, 720), a_log("2.csv", "B", 300, 700)) == []


def test_recordings_that_do_not_meet_are_noticed():
    (remark,) = reported(a_log("1.csv", "A", 0, 10), a_log("2.csv", "B", 5000, 100))
    assert remark == "the recordings of A and B do not meet: 1 h 21 min lie between them"


def test_a_host_under_its_short_and_its_full_name_is_noticed():
    (remark,) = reported(a_log("1.csv", "WEB1", 0, 100), a_log("2.csv", "web1.example.com", 0, 100))
    assert remark == "WEB1 and web1.example.com may be one machine under two names: shown as two hosts"


@pytest.mark.parametrize("other", ["WEB1x.example.com", "10.0.0.1"])
def test_other_hosts_and_addresses_are_not(other):
    first = "10" if other[0].isdecimal() else "WEB1"
    assert reported(a_log("1.csv", first, 0, 100), a_log("2.csv", other, 0, 100)) == []


def test_a_log_without_a_zone_among_others_is_noticed():
    (remark,) = reported(a_log("1.csv", "A", 0, 100), a_log("2.csv", "B", 0, 100, zone=Zone.unknown()))
    assert remark.startswith("2.csv: does not say its time zone while 1.csv does: taken for UTC")


@pytest.mark.parametrize("start_s", [900, 903])
def test_computers_that_are_not_named_are_not_taken_for_one(start_s):
    first, second = a_log("1.csv", "unknown", 0, 100), a_log("2.csv", "unknown", start_s, 100, value=2.0)
    with pytest.raises(Unusable, match=r"^2\.csv: was recorded while 1\.csv was, .* neither names its computer"):
        refuse_unnamed([first, second])


def test_one_that_is_not_named_may_have_been_recorded_in_parts():
    logs = [a_log(f"{at}.csv", "unknown", start, 100) for at, start in enumerate((0, 900, 3000))]
    refuse_unnamed([*logs, a_log("other.csv", "H", 0, 100, value=2.0)])


def a_host(name, host, seed, whole=False):
    """A log of three counters that vary; with `whole`, rounded to whole numbers, as by vmstat."""
    rng = np.random.default_rng(seed)
    columns = tuple(mean * (1 + rng.normal(0, 0.1, 100)) for mean in (70.0, 4000.0, 3e6))
    series = tuple(Series(host, "kernel", (), field) for field in ("idle", "switches", "free"))
    times = 10 * np.arange(100, dtype=np.int64) * SECOND
    return Log(
        Path(name), "txt", times, tuple(c.round() for c in columns) if whole else columns, series, Zone.parse("UTC")
    )


@pytest.mark.parametrize(("seed", "hosts"), [(1, [("H",), ("H",)]), (2, [("H",), ("unknown",)])])
def test_a_recording_that_names_no_host_is_of_the_only_named_host_if_it_shows_the_same(seed, hosts):
    logs, remarks = name_hosts([a_host("sar", "H", 1), a_host("vmstat", "unknown", seed, whole=True)])
    assert [log.hosts for log in logs] == hosts
    said = ["vmstat: names no host, and shows the same as sar: taken for a recording of H"] if seed == 1 else []
    assert [str(remark) for remark in remarks] == said
    assert Kind.CONTRADICTORY not in {remark.kind for remark in list_remarks(logs)}


def test_with_two_named_hosts_a_recording_that_names_none_is_of_neither():
    logs, _ = name_hosts([a_host("a", "A", 1), a_host("b", "B", 2), a_host("vmstat", "unknown", 1)])
    assert logs[2].hosts == ("unknown",)
