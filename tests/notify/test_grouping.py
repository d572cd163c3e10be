"""The number of notifications: storms of alerts by a simulated clock, compared with docs/alerts.md."""

import random
from contextlib import suppress

import pytest
from pydantic import SecretStr

from plimsoll.alerting import silences
from plimsoll.alerting.actions import Actor, acknowledge
from plimsoll.alerting.alert_queries import read_firing_alerts
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.alerting.host_inventory import HostInventory, LastSample, retire
from plimsoll.alerting.rule_targets import Site
from plimsoll.alerting.self_monitoring import Problem, SelfMonitoring
from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, Zone
from plimsoll.notify.grouping import FREE, HOST_EVERY, make_policy
from plimsoll.notify.settings import QuietHours, QuietSettings, QuietWindow, TargetSettings
from plimsoll.rules.load import load
from tests.alerting.world import CPU, HOUR, MINUTE, T0, Phone
from tests.each import run_each

UTC = Zone.parse("UTC")


def window(days, begin, end):
    return QuietWindow.model_validate({"days": days, "from": begin, "to": end})


WARNING = "windows-privileged-time"
BUSY = "cpu-busy"
FREE_SPACE = "windows-disk-free"


def test_an_alert_is_told_once_and_its_recovery(phone):
    phone.step("WEB01", times=20)
    phone.step(times=20)
    assert phone.titles == [
        "CRITICAL: WEB01 is short of processors (Processor time 95 %)",
        "Recovered: Processor time on WEB01",
    ]
    result = phone.sent[0][1].body
    assert "Processor time on WEB01: 95 %" in result
    assert "it should stay at or below 90 %" in result
    assert "since 2023-11-14 22:13:10 UTC" in result
    assert "Source: " in result
    assert "Look at: " in result


def test_a_second_target_is_told_of_what_nobody_acknowledges(world, file):
    second = Phone(world, after=15 * MINUTE)
    second.step("WEB01", "DB01", "BRIEF", times=30)
    second.step("WEB01", "DB01", times=30)
    acknowledge(
        file, next(item.id for item in read_firing_alerts(file) if item.host == "DB01"), Actor("joe"), "known", world.at
    )
    begun = world.at
    second.step("WEB01", "DB01", times=60)
    assert second.titles == ["CRITICAL: WEB01 is short of processors (Processor time 95 %)"]
    assert 4 * MINUTE <= second.sent[0][0] - begun <= 6 * MINUTE
    assert "Nobody has acknowledged this for 15 min." in second.sent[0][1].body
    second.step(times=20)
    assert second.titles[1:] == ["Recovered: Processor time on WEB01"]
    world.step(every=30 * HOUR)
    second.tick()
    assert file.rows("SELECT * FROM notifications WHERE outcome = 'given up'") == []


SITE = Site(load(), labels={"web01": {"team": "shop"}, "db01": {"team": "core", "site": "Berlin"}})


def route(**options):
    return make_policy(TargetSettings(url=SecretStr("json://phone"), **options), QuietHours(Zone.parse("UTC")), SITE)


ROUTES = (
    ({}, {"WEB01", "DB01", "APP"}),
    ({"hosts": ["web*", "app"]}, {"WEB01", "APP"}),
    ({"labels": {"team": "shop"}}, {"WEB01"}),
    ({"labels": {"team": "*", "site": "berlin"}}, {"DB01"}),
    ({"packs": ["linux"]}, set()),
    ({"packs": ["linux", "windows"], "hosts": ["db*"]}, {"DB01"}),
)


@pytest.mark.parametrize(("inputs", "reported"), ROUTES)
def test_a_target_is_told_of_its_own_alerts(inputs, reported, world, file):
    phone = Phone(world, policy=route(**inputs))
    phone.step("WEB01", "DB01", "APP", times=10)
    text = " ".join(message.title + message.body for _, message in phone.sent)
    assert {host for host in ("WEB01", "DB01", "APP") if host in text} == reported
    SelfMonitoring(file).step([Problem("store-full", "Samples cannot be written")], world.at)
    phone.step("WEB01", "DB01", "APP", times=10)
    assert "Samples cannot be written" in phone.titles[-1]


def test_what_was_told_is_told_to_be_over_after_the_routing_changed(world):
    Phone(world).step("WEB01", times=10)
    other = Phone(world, policy=route(hosts=["db*"]))
    other.step("WEB01", times=400)
    assert other.titles == []
    other.step(times=10)
    assert other.titles == ["Recovered: Processor time on WEB01"]


@run_each(
    (({"packs": ["windws"]}, "did you mean windows?"), ({"labels": {"team": "shp"}}, "no host")), lambda case: case[1]
)
def test_a_routing_by_which_nothing_would_be_told_is_refused(case):
    result, outcome = case
    with pytest.raises(Unusable, match=outcome):
        route(**result).check("up.toml: notify.team")


def test_alerts_of_a_host_come_together_and_not_twice_a_minute(phone):
    phone.step((CPU, "WEB01"), (BUSY, "WEB01"), (CPU, "WEB01", "1"))
    phone.step((CPU, "WEB01"), (BUSY, "WEB01"), (CPU, "WEB01", "1"), (CPU, "WEB01", "2"), times=12)
    assert phone.titles == ["CRITICAL: WEB01 is short of processors (Processor time 95 %)"]
    assert phone.sent[0][1].body.count("it should stay") == 3
    phone.step((CPU, "WEB01"), (FREE_SPACE, "WEB01", "C:"), times=2, value=3.0)
    assert phone.titles[1:] == ["Warning: C: of WEB01 is running out of space (Free space 3 %)"]
    assert phone.sent[1][0] - phone.sent[0][0] >= HOST_EVERY


def test_what_fires_is_repeated_at_growing_intervals_until_it_is_acknowledged(phone, world, file):
    start = world.at
    while world.at < start + 60 * HOUR:
        phone.step("WEB01", every=10 * MINUTE)
    hours = [round((at - phone.sent[0][0]) / HOUR) for at, _ in phone.sent]
    assert hours == [0, 1, 3, 7, 15, 31, 55]
    assert "past its limit for" in phone.sent[1][1].body
    acknowledge(file, read_firing_alerts(file)[0].id, Actor("joe"), "known", world.at)
    phone.step("WEB01", times=300, every=10 * MINUTE)
    assert len(phone.sent) == 7
    phone.step()
    assert phone.titles[-1] == "Recovered: Processor time on WEB01"


def test_a_service_that_flaps_at_every_evaluation_is_five_messages_a_day(phone, world):
    for n in range(720):
        phone.step(*(["WEB01"] if n % 2 else []))
    assert phone.titles == [
        "CRITICAL: WEB01 is short of processors (Processor time 95 %)",
        "CRITICAL: Processor time on WEB01: flapping",
    ]
    for n in range(650):
        phone.step(*(["WEB01"] if n % 2 else []), every=2 * MINUTE)  # until a day has passed
    assert phone.titles[2:] == ["CRITICAL: Processor time on WEB01: flapping"] * 3  # after 2, 6 and 14 hours
    phone.step(times=6 * 60 + 2, every=MINUTE)
    assert phone.titles[5:] == ["Recovered: Processor time on WEB01: no longer flapping"]
    assert "it fired 685 times between" in phone.sent[-1][1].body


@pytest.mark.parametrize("minutes", [9, 21, 31, 55, 100, 170, 290, 400])
def test_one_service_is_never_more_than_thirty_messages_a_day(phone, world, minutes):
    chance = random.Random(minutes)
    while world.at < T0 + 72 * HOUR:
        phone.step("WEB01", every=chance.uniform(0.1, 1.9) * minutes * MINUTE // 2 // SECOND * SECOND)
        for _ in range(round(chance.uniform(0, 2) * minutes / 20)):
            phone.step("WEB01", every=10 * MINUTE)
        phone.step(every=chance.uniform(0.1, 1.9) * minutes * MINUTE // 2 // SECOND * SECOND)
        phone.step(every=chance.uniform(0.1, 1.9) * minutes * MINUTE // 4 // SECOND * SECOND)
    busiest = max(sum(at - 24 * HOUR < other <= at for other, _ in phone.sent) for at, _ in phone.sent)
    assert 1 < busiest <= 30


def test_three_hundred_alerts_at_once_are_one_message(phone):
    phone.step(*(f"WEB{n:03}" for n in range(300)), times=30)
    phone.step(times=30)
    assert phone.titles == [
        "CRITICAL: WEB000 is short of processors (Processor time 95 %) (also 299 critical on 299 hosts)",
        "Recovered: 300 incidents on 300 hosts",
    ]
    assert phone.sent[0][1].body.count("it should stay") == 50
    assert "And 250 more: plimsoll alerts list" in phone.sent[0][1].body


def test_no_storm_is_more_than_thirty_messages_in_an_hour_and_nothing_is_lost(phone, file):
    chance = random.Random(7)
    names = [(CPU, f"H{n % 40}", str(n)) for n in range(400)]
    for _ in range(250):
        phone.step(*chance.sample(names, chance.choice((0, 1, 3, 20))), every=20 * SECOND)
    assert len(phone.sent) > FREE
    assert any("messages come every 4 min now, at most 30 in an hour" in item.body for _, item in phone.sent)
    phone.step(times=200, every=2 * MINUTE)  # and then all is well
    phone.check_rate()
    assert (
        file.rows("SELECT * FROM told WHERE what = 'fired'") == []
    )  # whoever was told that it fired knows that it ended


def test_silences_end_by_themselves(phone, world, file):
    silences.add(file, "windows-cpu-*", "web*", "*", HOUR, "maintenance", "joe", world.at)
    phone.step("WEB01", "DB01", times=10)
    phone.step("WEB01", "WEB02", times=10)
    phone.step("WEB01", times=10)
    assert phone.titles == [
        "CRITICAL: DB01 is short of processors (Processor time 95 %)",
        "Recovered: Processor time on DB01",
    ]
    phone.step("WEB01", times=360)
    assert phone.titles[2:] == [
        "CRITICAL: WEB01 is short of processors (Processor time 95 %)"
    ]  # and nothing of what WEB02 did meanwhile
    with pytest.raises(Unusable, match="at most 30 d"):
        silences.add(file, "*", "*", "*", 31 * 24 * HOUR, "for ever", "joe", world.at)
    with pytest.raises(Unusable, match="needs a reason"):
        silences.add(file, "*", "*", "*", HOUR, " ", "joe", world.at)


def test_there_are_not_more_silences_than_each_alert_can_be_compared_with(world, file, monkeypatch):
    monkeypatch.setattr(silences, "MOST", 2)
    first, _ = (silences.add(file, "*", f"web{n}", "*", HOUR, "maintenance", "joe", world.at) for n in range(2))
    with pytest.raises(Unusable, match="there are 2 silences already"):
        silences.add(file, "*", "*", "*", HOUR, "maintenance", "joe", world.at)
    silences.end(file, first.id, world.at)
    assert silences.add(file, "*", "*", "*", HOUR, "maintenance", "joe", world.at).id == 3


def test_quiet_hours_let_critical_alerts_pass_and_sum_up_the_rest(world):
    # T0 is a Tuesday, 22:13 UTC, in this zone a quarter past midnight.
    quiet = QuietHours(Zone.parse("+02:00"), QuietSettings(hours=(window(["tue"], "23:00", "06:00"),)))
    phone = Phone(world, quiet)
    phone.step((WARNING, "WEB01"), (WARNING, "WEB02"), (CPU, "WEB03"), times=30, every=MINUTE)
    assert phone.titles == ["CRITICAL: WEB03 is short of processors (Processor time 95 %)"]
    phone.step((WARNING, "WEB02"), (CPU, "WEB03"), times=30, every=MINUTE)
    phone.step((WARNING, "WEB02"), times=4 * 60 + 46, every=MINUTE)
    assert len(phone.sent) == 2  # the recovery of WEB03
    phone.step((WARNING, "WEB02"), every=MINUTE)
    assert phone.titles[2:] == ["Warning: Privileged time on WEB02: 95 % (also 1 recovered)"]
    assert "held back during quiet hours" in phone.sent[-1][1].body
    assert "Privileged time on WEB01, past its limit" in phone.sent[-1][1].body


def test_a_target_that_fails_is_tried_again_and_told_what_holds_then(phone, file):
    phone.fails = "Connection refused"
    phone.step("WEB01", "WEB02", times=30)
    attempts = [row["at"] for row in file.rows("SELECT at FROM notifications WHERE outcome = 'failed'")]
    assert [(attempt - attempts[0]) // SECOND for attempt in attempts] == [0, 30, 90, 210]
    state = phone.outbox.state()
    assert (state.failing_since, state.attempts, state.error) == (attempts[0], 4, "Connection refused")
    phone.step("WEB02", times=50)
    phone.fails = None
    phone.step("WEB02", times=60)
    assert sorted(phone.titles) == [
        "CRITICAL: WEB02 is short of processors (Processor time 95 %)",
        "Recovered: Processor time on WEB01",
    ]
    join = "".join(message.body for _, message in phone.sent)
    assert "Processor time on WEB01, past its limit 2023-11-14 22:13:10–22:18:10" in join
    assert "Messages could not be sent here since 2023-11-14 22:13:40." in join
    assert phone.outbox.state().failing_since is None


def test_what_could_not_be_told_for_a_day_is_given_up(phone, file):
    phone.fails = "Connection refused"
    phone.step("WEB01", times=2)
    phone.step(times=25, every=HOUR)
    phone.fails = None
    phone.step(times=2, every=HOUR)
    assert phone.sent == []
    assert len(file.rows("SELECT * FROM notifications WHERE outcome = 'given up'")) == 1


def test_alerts_of_a_retired_host_are_closed_and_not_called_recovered(world, phone, file):
    HostInventory(file).step({"WEB01": LastSample(world.at)}, world.at)
    phone.step("WEB01", times=9)
    retire(file, "WEB01", world.at)
    world.firing = {}
    phone.step(times=9)
    assert phone.titles[1:] == ["Closed: Processor time on WEB01"]
    assert "no longer watched" in phone.sent[-1][1].body


def test_after_catching_up_only_what_still_fires_is_told(world):
    phone = Phone(world)
    phone.step("OLD", times=3)
    phone.step("OLD", "WEB01", quiet=True)
    phone.step("WEB02", quiet=True, times=20)
    assert phone.titles == ["CRITICAL: OLD is short of processors (Processor time 95 %)"]
    world.book.caught_up()
    phone.step("WEB02", times=9)
    assert phone.titles[1:] == [
        "CRITICAL: WEB02 is short of processors (Processor time 95 %)",
        "Recovered: Processor time on OLD",
    ]


def test_what_was_held_back_before_a_stop_is_told_after_two_restarts(world):
    phone = Phone(world, after=2 * MINUTE)
    phone.step("KEPT", times=15)
    phone.fails = "no route"
    phone.step("KEPT", "AWAY", times=15)
    world.step("AWAY", "MISSED", quiet=True)  # stopped again before it has caught up
    world.step(quiet=True)
    world.book.caught_up()
    phone.fails = None
    phone.step(times=100)
    rows = [message.body for _, message in phone.sent[1:]]
    assert [sum(host in body for body in rows) for host in ("KEPT", "AWAY", "MISSED")] == [1, 1, 0]


def test_a_full_disk_is_told_of_once_an_hour_and_repeats_nothing(phone, file):
    (pages,) = file.rows("PRAGMA page_count")
    file.rows(f"PRAGMA max_page_count = {pages[0] + 4}")
    hosts = [f"WEB{n}" for n in range(30)]
    with suppress(NotKept):
        phone.step(*hosts[:10])
    for _ in range(100):
        phone.tick(phone.world.at + 60 * SECOND)
    assert len(phone.sent) <= 2
    assert phone.titles.count("CRITICAL: Plimsoll cannot write its alerts") <= 1


def test_nothing_is_healthy_again_while_a_warning_of_the_incident_fires(phone, file, world):
    silences.add(file, BUSY, "*", "*", HOUR, "known", "joe", world.at)
    phone.step((CPU, "WEB01"), (BUSY, "WEB01"), times=12)
    phone.step((BUSY, "WEB01"), times=12)
    assert phone.titles == [
        "CRITICAL: WEB01 is short of processors (Processor time 95 %)",
        "Better, not over: Processor time on WEB01",
    ]
    ((_, message),) = phone.sent[1:]
    assert message.level == "warning"
    assert "healthy again" not in message.body
    assert "no longer past its critical limit" in message.body
    assert "A warning still fires: Processor time on WEB01: 95 %" in message.body
