"""What is usual at an hour of the week: by the clock of a zone, from four weeks on, and as a clause of alerts."""

from datetime import datetime

import numpy as np
import pytest

from plimsoll.alerting.alert_queries import read_history
from plimsoll.alerting.usual_values import HOUR, find_usual_values
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import Zone, convert_to_instant
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.signal_finder import ResolvedSeries
from tests.alerting.in_memory import InMemory
from tests.alerting.loop_world import MINUTE, START, World

SERIES = Series("web1", "cpu", (("cpu", "cpu-total"),), "usage_idle")
BERLIN = Zone.parse("Europe/Berlin")


def weeks_of(store, end, weeks, zone):
    """Write a sample every five minutes: the hour of the week by the clock of the zone."""
    times = np.arange(end - weeks * 168 * HOUR, end, 5 * MINUTE)
    local = [zone.local(int(at)) for at in times]
    values = np.array([24.0 * moment.weekday() + moment.hour for moment in local])
    store.write_points(Points([SERIES], np.zeros(len(times), np.int32), times, values))


@pytest.mark.parametrize("weeks", [3, 4, 9])
def test_the_hours_are_those_of_the_zone_also_when_its_clocks_are_changed(weeks):
    store, now = InMemory(), convert_to_instant(datetime(2026, 11, 9, 10, tzinfo=BERLIN.rule))
    weeks_of(store, now + HOUR, weeks, BERLIN)
    usual = find_usual_values(store, ResolvedSeries(SERIES, False, Transform()), now, now + 2 * HOUR, BERLIN)
    if weeks < 5:  # of the hour that begins now there are as many weeks less one
        assert usual is None or np.isnan(usual.low).all()
    else:
        assert usual is not None
        assert usual.low.tolist() == usual.high.tolist() == [10, 11]
        assert usual.text("%") == "about 10 %"


def test_an_alert_has_what_is_usual_at_its_hour_once_there_are_four_weeks(tmp_path):
    world = World(tmp_path)
    times = np.arange(START - 5 * 168 * HOUR, START, 5 * MINUTE)
    world.store.write_points(world.points("web1", times, 60))
    world.run(20 * MINUTE, {"web1": 60, "db1": 60})
    world.run(20 * MINUTE, {"web1": 2, "db1": 2})
    usual = {
        (alert.host, alert.details.usual) for alert in read_history(world.file, 0, 2**62) if alert.rule == "cpu-busy"
    }
    assert usual == {("web1", "about 40 %"), ("db1", "")}
    world.close()
