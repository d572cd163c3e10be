"""Maintenance that comes again becomes planned silences."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from plimsoll.alerting import silences
from plimsoll.alerting.alert_queries import read_events, read_firing_alerts
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.maintenance import Maintenance, MaintenancePlan
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import Zone, convert_to_datetime, convert_to_instant, format_iso
from plimsoll.notify.settings import DAYS
from tests.alerting.loop_world import START
from tests.alerting.world import PERIOD


def test_maintenance_that_comes_again_is_planned_once_silences_and_is_in_the_history(world, phone):
    zone = Zone.parse("Europe/Berlin")
    local = zone.local(world.at)
    begin, end = ((local + timedelta(minutes=minutes)).time().replace(second=0, microsecond=0) for minutes in (1, 31))
    labels = {"web1": {"role": "web"}, "db1": {"role": "sql"}}
    weekly = Maintenance("patches", zone, begin, end, days=[DAYS[local.weekday()]], labels={"role": "web"})
    over = Maintenance("once", zone, begin, end, until=local.date() - timedelta(days=1))
    plan = MaintenancePlan(world.file, [weekly, over], labels, world.at)
    for _ in range(3):
        plan.step(world.at)
        plan = MaintenancePlan(world.file, [weekly, over], labels, world.at)  # as after a reload
    plan.step(world.at)
    planned = silences.read_planned_silences(world.file, world.at)
    assert [(one.host, one.reason, zone.local(one.start).time()) for one in planned] == [("web1", "patches", begin)] * 2
    phone.step(times=12)
    phone.step("web1", "db1", times=12)
    assert len(phone.sent) == 1
    assert "db1" in phone.titles[0]
    (alert,) = [one for one in read_firing_alerts(world.file) if one.host == "web1"]
    assert [(one.what, one.note) for one in read_events(world.file, alert.id)] == [
        ("fired", ""),
        ("planned", "patches"),
    ]
    (active,) = silences.read_active_silences(world.file, world.at)
    silences.end(world.file, active.id, world.at)  # the work is done early, and is not planned anew
    MaintenancePlan(world.file, [weekly], labels, world.at).step(world.at)
    assert silences.read_active_silences(world.file, world.at + PERIOD) == []


def test_maintenance_of_many_hosts_is_planned_and_leaves_people_their_silences(world):
    labels = {f"sql{at}": {"role": "sql"} for at in range(200)}
    daily = Maintenance("patches", Zone.parse("UTC"), time(22), time(2), labels={"role": "sql"})
    MaintenancePlan(world.file, [daily], labels, world.at).step(world.at)
    assert len(silences.read_planned_silences(world.file, world.at)) >= 200 * 7
    silences.add(world.file, "*", "web1", "*", PERIOD, "new release", "joe", world.at)


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ({"days": ["tue"], "weeks": [2]}, ["2023-12-12"]),  # the second Tuesday
        ({"dates": [1, 15]}, ["2023-12-01", "2023-12-15"]),
        ({"days": ["sat", "sun"], "until": date(2023, 12, 3)}, ["2023-12-02", "2023-12-03"]),
    ],
)
def test_times_of_maintenance_by_weeks_and_dates(settings, days):
    plan = Maintenance("r", Zone.parse("America/New_York"), time(22), time(2), **settings)
    spans = set()
    for day in range(1, 22):
        now = convert_to_instant(datetime(2023, 12, day, 12, tzinfo=ZoneInfo("America/New_York")))
        spans |= {(convert_to_datetime(start), convert_to_datetime(end)) for start, end in plan.times(now)}
    assert sorted(f"{start - timedelta(hours=5):%F}" for start, _ in spans) == days
    assert {end - start for start, end in spans} == {timedelta(hours=4)}


def test_a_report_of_live_hosts_names_the_maintenance_in_its_span(duckdb, tmp_path, plimsoll):
    tmp_path.chmod(0o700)
    times = np.arange(-180, 0) * PERIOD + START
    series = [Series("WEB1", "mem", (), "available_percent")]
    duckdb.live.write_points(Points(series, np.zeros(180, np.int32), times, np.full(180, 50.0)))
    file = AlertsFile(tmp_path / "alerts.db")
    for host, begin, reason in (("web*", -20, "patches"), ("db*", -20, "backups"), ("*", 90, "the next one")):
        start = START + begin * 6 * PERIOD
        silences.add(file, "*", host, "*", 60 * PERIOD, reason, silences.MAINTENANCE, start, start)
    file.close()
    duckdb.close()
    span = ("--from", format_iso(START - 180 * PERIOD), "--to", format_iso(START))
    done = plimsoll("review", "live:web1", *span, "--store", tmp_path)
    (remark,) = [line for line in (done.out + done.err).splitlines() if "maintenance" in line]
    assert "planned maintenance (web*), " in remark
    assert remark.endswith(": patches")
