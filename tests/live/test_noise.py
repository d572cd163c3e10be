"""How much people are told: storms of alerts by a simulated clock, against the numbers that docs/alerts.md states."""

import random
from datetime import time

import pytest

from live import silences
from live.alert_actions import acknowledge
from live.alert_history import firing
from live.messages import Style
from live.noise import FREE, HOST_EVERY, MOST_AN_HOUR, Policy
from live.notify import Target
from live.outbox import Outbox
from live.quiet_hours import QuietHours, Window
from model.errors import Unusable
from model.times import SECOND, Zone
from tests.live.conftest import CPU, HOUR, MINUTE, T0

UTC = Zone.parse("UTC")
WARNING = "windows-cpu-busy-warning"


class Phone:
    """A target that keeps what it is sent; `fails` makes it unreachable."""

    def __init__(self, world, quiet=None, severities=("critical", "warning")):
        self.sent = []
        self.world = world
        self.fails = None
        policy = Policy(frozenset(severities), quiet or QuietHours(UTC))
        self.outbox = Outbox(world.file, "phone", "phone://****", T0)
        self.target = Target("phone", self.outbox, policy, self._send, Style(UTC))

    def _send(self, message):
        if self.fails is None:
            self.sent.append((self.now, message))
        return self.fails

    def tick(self, now=None):
        self.now = self.world.at + 30 * SECOND if now is None else now
        self.target.tick(self.now)

    def step(self, *firing, times=1, **given):
        for _ in range(times):
            self.world.step(*firing, **given)
            self.tick()

    @property
    def titles(self):
        return [message.title for _, message in self.sent]

    def check_rate(self):
        for at, _ in self.sent:
            assert sum(at - HOUR < other <= at for other, _ in self.sent) <= MOST_AN_HOUR


@pytest.fixture
def phone(world):
    return Phone(world)


def test_an_alert_is_told_once_and_its_recovery(phone):
    phone.step("WEB01", times=20)
    phone.step(times=20)
    assert phone.titles == ["CRITICAL: Processor time of WEB01 is 95 %", "Recovered: Processor time of WEB01"]
    told = phone.sent[0][1].body
    assert "Processor time of WEB01 is 95 %" in told
    assert "it should stay at or below 90 %" in told
    assert "since 2023-11-14 22:13:10 UTC" in told
    assert "Source: " in told
    assert "Look at: " in told


def test_alerts_of_a_host_come_together_and_not_twice_a_minute(phone):
    phone.step((CPU, "WEB01"), (WARNING, "WEB01"), (CPU, "WEB01", "1"))
    phone.step((CPU, "WEB01"), (WARNING, "WEB01"), (CPU, "WEB01", "1"), (CPU, "WEB01", "2"), times=12)
    assert phone.titles == ["CRITICAL: 3 firing on WEB01", "CRITICAL: Processor time of WEB01, 2 is 95 %"]
    assert phone.sent[1][0] - phone.sent[0][0] >= HOST_EVERY


def test_what_fires_is_repeated_at_growing_intervals_until_it_is_acknowledged(phone, world, file):
    start = world.at
    while world.at < start + 60 * HOUR:
        phone.step("WEB01", every=10 * MINUTE)
    hours = [round((at - phone.sent[0][0]) / HOUR) for at, _ in phone.sent]
    assert hours == [0, 1, 3, 7, 15, 31, 55]
    assert "past its limit for" in phone.sent[1][1].body
    acknowledge(file, firing(file)[0].id, "joe", "known", world.at)
    phone.step("WEB01", times=300, every=10 * MINUTE)
    assert len(phone.sent) == 7
    phone.step()
    assert phone.titles[-1] == "Recovered: Processor time of WEB01"


def test_a_service_that_flaps_at_every_evaluation_of_a_day_is_told_of_five_times(phone, world):
    for n in range(8640):
        world.step(*(["WEB01"] if n % 2 else []))
        phone.tick()
    assert len(phone.sent) <= 5
    assert "CRITICAL: Processor time of WEB01 is flapping" in phone.titles
    before = len(phone.sent)
    phone.step(times=370)
    assert phone.titles[before:] == ["Recovered: Processor time of WEB01 is no longer flapping"]
    assert "it fired 4,3" in phone.sent[-1][1].body  # thousand times


def test_a_service_that_stops_flapping_by_firing_is_told_of(phone, world):
    for n in range(60):
        phone.step(*(["WEB01"] if n % 10 < 5 else []), every=MINUTE)
    before = len(phone.sent)
    phone.step("WEB01", times=70, every=MINUTE)
    assert phone.titles[before:] == ["CRITICAL: 1 firing, 1 recovered on WEB01"]


def test_three_hundred_alerts_at_once_are_one_message(phone):
    phone.step(*(f"WEB{n:03}" for n in range(300)), times=30)
    phone.step(times=30)
    assert phone.titles == ["CRITICAL: 300 firing on 300 hosts", "Recovered: 300 recovered on 300 hosts"]
    assert phone.sent[0][1].body.count("Processor time of") == 50
    assert "And 250 more: plimsoll alerts list" in phone.sent[0][1].body


@pytest.mark.parametrize("seed", range(3))
def test_no_storm_is_more_than_thirty_messages_in_an_hour_and_nothing_is_lost(world, seed):
    phone, chance = Phone(world), random.Random(seed)
    names = [(CPU, f"H{n % 40}", str(n)) for n in range(400)]
    for _ in range(1500):
        phone.step(*chance.sample(names, chance.choice((0, 1, 3, 40))))
    storm = len(phone.sent)
    assert storm > FREE
    phone.check_rate()
    phone.step(times=900)  # all is well for two and a half hours
    phone.check_rate()
    assert not any(row["n"] for row in world.file.rows("SELECT count(*) AS n FROM told WHERE what = 'fired'"))


def test_silences_end_by_themselves(phone, world, file):
    silences.add(file, "windows-cpu-*", "web*", "*", HOUR, "maintenance", "joe", world.at)
    phone.step("WEB01", "DB01", times=10)
    phone.step("WEB01", "WEB02", times=10)
    phone.step("WEB01", times=10)
    assert phone.titles == ["CRITICAL: Processor time of DB01 is 95 %", "Recovered: Processor time of DB01"]
    phone.step("WEB01", times=360)
    assert phone.titles[2:] == ["CRITICAL: Processor time of WEB01 is 95 %"]  # and nothing of what WEB02 did meanwhile
    with pytest.raises(Unusable, match="at most 30 d"):
        silences.add(file, "*", "*", "*", 31 * 24 * HOUR, "for ever", "joe", world.at)
    with pytest.raises(Unusable, match="needs a reason"):
        silences.add(file, "*", "*", "*", HOUR, " ", "joe", world.at)


def test_quiet_hours_let_critical_alerts_pass_and_sum_up_the_rest(world):
    # T0 is a Tuesday, 22:13.
    quiet = QuietHours(Zone.parse("+02:00"), [Window(frozenset({"tue"}), time(23), time(6))])
    phone = Phone(world, quiet)
    phone.step((CPU, "WEB01"), (WARNING, "WEB02"), times=6)
    assert phone.titles == ["CRITICAL: Processor time of WEB01 is 95 %"] * 1
