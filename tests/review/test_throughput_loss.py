"""Work that falls: a ramp-down if the load falls too, a loss if the load stays, unknown if no load is recorded."""

import numpy as np
import pytest

from tests.simulated import a_log, ar1, reviewed

REQUESTS = "\\Web Service(_Total)\\Total Method Requests/sec"
CONNECTIONS = "\\Web Service(_Total)\\Current Connections"
ROWS = 360
AT = np.linspace(0, 1, ROWS)


def falling(until, share, lasts=0.0, back=1.01):
    """A share of the full load that falls to another one, over so much of the run, until it is back."""
    return np.where(back > AT, np.interp(AT, (until, until + lasts + 1e-9), (1, share)), 1)


def ramp(up=0.0, down=0.0):
    return np.clip(np.minimum(AT / up if up else 1, (1 - AT) / down if down else 1), 0, 1)


def clause(work, offered, interval_s=10, seed=1):
    """The doubt about the throughput of a run, or why the load is gone; empty without one."""
    rng = np.random.default_rng(seed)
    columns = {REQUESTS: np.clip(200 * work * (1 + ar1(rng, ROWS, deviation=0.05)), 0, None)}
    if offered is not None:
        columns[CONNECTIONS] = np.round(120 * offered + rng.normal(0, 2, ROWS).clip(-6, 6) * (offered > 0))
    loss = reviewed(a_log(columns, interval_s=interval_s)).throughput_loss
    return loss.doubt.reason if loss and loss.doubt else ""


STAYED, GONE = "were held", "whether it ended or broke is not known"
STAYS = 1 + 0 * AT
CASES = {
    "all but stops": (falling(0.75, 0.05), STAYS, STAYED),
    "a third is left": (falling(0.5, 0.35), ramp(up=0.1), STAYED),
    "falls for some minutes": (falling(0.4, 0.3, back=0.6), STAYS, STAYED),
    "falls before a ramp-down of both": (falling(0.4, 0.5) * ramp(down=0.1), ramp(down=0.1), STAYED),
    "both are gone": (falling(0.65, 0), falling(0.65, 0), GONE),
    "nothing shows what was offered": (ramp(up=0.1) * falling(0.7, 0), None, GONE),
    "ramp-down": (ramp(up=0.1, down=0.2), ramp(up=0.1, down=0.2), ""),
    "a gradual ramp-down, connections pooled": (ramp(up=0.1, down=0.4), STAYS, ""),
    "a short end, connections pooled": (falling(0.93, 0), STAYS, ""),
    "a short end": (falling(0.85, 0), None, ""),
    "a long ramp-down of nothing else": (falling(0.5, 0, lasts=0.2), None, ""),
    "recorded before and after": (falling(0.7, 0) * (AT > 0.25), None, ""),
    "half the load": (falling(0.5, 0.5), falling(0.5, 0.5), ""),
    "waves": (1 + 0.5 * np.sin(12 * AT), STAYS, ""),
    "slowly less": (1 - 0.2 * AT, STAYS, ""),
}


@pytest.mark.parametrize(("work", "offered", "expected"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_known_of_work_that_falls(work, offered, expected, seed):
    text = clause(work, offered, seed=seed)
    assert expected in text if expected else not text


def test_a_night_is_no_loss():
    day = np.where((AT > 0.3) & (AT < 0.75), 1, 0.2)
    assert not clause(day, STAYS, interval_s=240)
    assert not clause(np.where(AT < 0.7, 1, 0.02), None, interval_s=240)


def test_what_was_offered_tells_the_phases_where_throughput_was_lost():
    rng = np.random.default_rng(5)
    columns = {
        REQUESTS: 200 * falling(0.5, 0.3) * ramp(up=0.1) * (1 + ar1(rng, ROWS, deviation=0.04)),
        CONNECTIONS: 120 * ramp(up=0.1) + rng.normal(0, 2, ROWS),
    }
    assert [phase.name for phase in reviewed(a_log(columns)).phases] == ["ramp-up", "steady"]
