"""Volumes that will be full within three days, by simulated months and by the alert loop."""

import numpy as np
import pytest

from plimsoll.alerting.space_forecast import HOUR, SpaceForecast, compute_hours_until_full
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from tests.alerting.loop_world import PERIOD, SITE, START, World, alerts

DAYS = np.arange(30 * 24) / 24
GB = 1e9


def noise(seed):
    return np.random.default_rng(seed).normal(0, 0.1, len(DAYS))


def rotated(period, gigabytes):
    return gigabytes * (DAYS % period / period)


def at_night(gigabytes, every=24, hours=5):
    return gigabytes * (np.arange(len(DAYS)) % every < hours)


# Used GB of a volume of 100 GB.
QUIET = {
    "rotated weekly": 55 + rotated(7, 40),
    "rotated daily": 60 + rotated(1, 35),
    "nightly backups": 50 + at_night(40),
    "weekly backups": 50 + at_night(40, 168, 40),
    "dumps": 40 + np.sum([18 * ((day < DAYS) & (day + 2 > DAYS)) for day in (9, 10, 15, 22, 23)], axis=0),
    "a cleanup in time": 20 + DAYS * 2.5 - 45 * (DAYS > 22),
    "installed once": 20 + 60 * (DAYS > 15),
    "slow growth": 40 + DAYS,
}
REAL = {
    "linear": 30 + DAYS * 3.2,
    "with nightly backups": 30 + DAYS * 2.4 + at_night(15),
    "with a weekly rotation": 25 + DAYS * 2.6 + rotated(7, 15),
    "weekly steps": 10 + 26 * np.floor((DAYS + 3) / 7),
    "accelerating": 20 + 80 * np.expm1(DAYS / 6) / np.expm1(22 / 6),
    "sudden": 30 + np.clip(DAYS - 14, 0, None) * 10,
}


@pytest.mark.parametrize("kind", QUIET)
def test_nothing_is_told_of_what_comes_and_goes(kind):
    free = (100 - QUIET[kind] - noise(1)) * GB
    assert [hour for hour in range(8 * 24, len(free), 5) if compute_hours_until_full(free[:hour]) <= 72] == []


@pytest.mark.parametrize("kind", REAL)
def test_a_volume_that_fills_is_told_a_day_ahead(kind):
    free = (100 - REAL[kind] - noise(2)) * GB
    full = int(np.flatnonzero(free <= 0)[0])
    assert all(compute_hours_until_full(free[:hour]) <= 72 for hour in range(full - 26, full - 23))


def test_the_loop_alerts_on_the_volume_that_fills_and_ends_when_room_is_made(tmp_path):
    world = World(tmp_path)
    volumes = {"/data": 100 - REAL["linear"], "/log": 100 - QUIET["rotated weekly"]}
    series = [Series("web1", "disk", (("mode", "rw"), ("path", path)), "free") for path in volumes]
    full = int(np.flatnonzero(volumes["/data"] <= 0)[0])

    def write(first, last, free):
        times = START - (full - np.arange(first, last)) * HOUR
        which = np.repeat(np.arange(2, dtype=np.int32), len(times))
        world.send(Points(series, which, np.tile(times, 2), np.concatenate(free)))

    write(0, full - 30, [values[: full - 30] * GB for values in volumes.values()])
    forecast = SpaceForecast(world.store, SITE.catalogue.signals)

    def run(hours, free):
        for hour in hours:
            world.now = START - (full - hour) * HOUR
            write(hour, hour + 1, [values[hour : hour + 1] * GB for values in free])
            world.send(forecast(world.now + PERIOD))
            world.now += 6 * PERIOD
            world.loop.perform(world.now)

    run(range(full - 30, full - 24), volumes.values())
    assert alerts(world) == [("disk-full-soon", "web1", True)]
    run(range(full - 24, full - 20), [values + 60 for values in volumes.values()])
    assert alerts(world) == [("disk-full-soon", "web1", False)]
    world.close()
