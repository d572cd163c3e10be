"""The clock of a load driver compared with the hosts' clocks: a remark only where the load shows the offset."""

import numpy as np
import pytest

import plimsoll
from plimsoll.review.recording.load_driver import find_clock_offset
from tests.simulated import START, a_log, reviewed

CPU = r"\Processor(_Total)\% Processor Time"
HEAD = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n"


def _run(tmp_path, shift_s, rates=(2, 6, 4, 9, 3), noise=2.0):
    """A host of 30 min and a driver that stepped its load in 25 of them, with a clock that is `shift_s` off."""
    rng = np.random.default_rng(3)
    seconds, first = np.arange(0, 1800, 5), 120
    rate = np.zeros(len(seconds))
    rows = []
    for at, item in enumerate(rates):
        begin = first + at * 300
        rate[(seconds >= begin) & (seconds < begin + 300)] = item
        times = START // 10**6 + ((begin + np.arange(0, 300, 1 / item) + shift_s) * 1000).astype(np.int64)
        rows += [f"{time},80,page,200,OK,T 1,true,5\n" for time in times]
    busy = 10 + 6 * rate + rng.normal(0, noise, len(seconds))
    path = tmp_path / "results.jtl"
    path.write_text(HEAD + "".join(rows), encoding="utf-8")
    [driver] = plimsoll.read(path).logs
    return reviewed(a_log({CPU: np.clip(busy, 0, 100)}), driver)


@pytest.mark.parametrize("shift_s", [-600, -45, 90, 420])
def test_a_clock_that_is_off_is_said_and_nothing_is_moved(tmp_path, shift_s):
    review = _run(tmp_path, shift_s)
    clock = find_clock_offset(review.signals)
    assert clock
    assert clock.offset / 1e9 == pytest.approx(-shift_s, abs=10)
    assert clock.low <= clock.offset <= clock.high
    [result] = [remark.text for remark in review.remarks if "clock of the load driver" in remark.text]
    assert ("ahead of" if shift_s > 0 else "behind") in result
    assert "left as they are" in result


@pytest.mark.parametrize("extra", [{"shift_s": 0}, {"shift_s": 5}, {"shift_s": 300, "noise": 60.0}])
def test_nothing_is_said_where_clocks_agree_or_the_load_does_not_show(tmp_path, extra):
    assert find_clock_offset(_run(tmp_path, **extra).signals) is None


def test_recordings_of_different_hours_are_said_to_have_no_time_in_common(tmp_path):
    review = _run(tmp_path, 3 * 3600)
    assert any("no time in common" in remark.text for remark in review.remarks)
    assert any("no time in common" in doubt.reason for doubt in review.doubts)
    assert not any("no time in common" in doubt.reason for doubt in _run(tmp_path, 420).doubts)
