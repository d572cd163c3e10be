"""Silent hosts: one of ten has an alert that mutes its rules, all together have one alert, a retired host has none."""

import pytest

from plimsoll.alerting.alert_queries import read_firing_alerts
from plimsoll.alerting.host_inventory import HostInventory, LastSample, read_hosts, retire
from plimsoll.model.errors import Unusable
from tests.alerting.world import CPU, HOUR, MINUTE, PERIOD

TEN = [f"WEB{n:02}" for n in range(10)]


class Network:
    """Ten hosts that send every 10 s, an inventory that watches them, and a phone."""

    def __init__(self, world, phone, listed=()):
        self.world, self.phone, self.received = world, phone, {}
        self.roster = HostInventory(world.file, listed)

    def run(self, minutes, sending=TEN, firing=()):
        for _ in range(minutes * 6):
            self.world.step(*firing)
            now = self.world.at
            self.received |= {host: LastSample(now - 5, PERIOD) for host in sending}
            self.roster.step(self.received, now)
            self.phone.tick(now)

    def restart(self, listed=()):
        self.roster, self.received = HostInventory(self.world.file, listed), {}


@pytest.fixture
def network(world, phone):
    result = Network(world, phone)
    result.run(11)
    return result


def test_one_silent_host_of_ten_is_an_alert_and_mutes_its_own_rules(network, phone):
    network.run(5, sending=TEN[1:], firing=[(CPU, "WEB00", str(n)) for n in range(50)])
    assert phone.titles[-1] == "CRITICAL: WEB00 is silent"
    before = len(phone.sent)
    network.run(30, sending=TEN[1:], firing=[(CPU, "WEB00", str(n)) for n in range(100)] + [(CPU, "WEB01")])
    assert phone.titles[before:] == ["CRITICAL: WEB01 is short of processors (Processor time 95 %)"]
    network.run(5, firing=[(CPU, "WEB00", "3"), (CPU, "WEB00", "70"), (CPU, "WEB01")])
    assert "WEB00 sends again, after 35 min 10 s" in "".join(item.body for _, item in phone.sent)
    assert "Processor time on WEB00, 70: 95 %" in "".join(item.body for _, item in phone.sent)
    assert "Processor time of WEB00, 71 is 95 %" not in "".join(item.body for _, item in phone.sent)


def test_ten_hosts_that_fall_silent_at_once_are_one_message(network, phone, file):
    network.run(10, sending=[])
    assert phone.titles == ["CRITICAL: No data from any of 10 hosts"]
    assert len(read_firing_alerts(file)) == 11
    network.run(5, sending=TEN[:9])
    assert phone.titles[1:] == ["CRITICAL: WEB09 is silent (also 1 recovered)"]
    assert "Some of 10 hosts sends again" in phone.sent[1][1].body


def test_a_host_that_flaps_is_told_of_a_few_times(network, phone):
    for _ in range(20):
        network.run(4, sending=TEN[1:])
        network.run(1)
    assert len(phone.sent) <= 5
    assert "CRITICAL: Samples on WEB00: flapping" in phone.titles


def test_the_time_without_plimsoll_or_asleep_is_no_silence(network, phone, world, file):
    network.run(4, sending=TEN[1:])
    assert phone.titles == ["CRITICAL: WEB00 is silent"]
    world.at += 5 * HOUR
    network.restart()
    network.run(1, sending=TEN[2:])  # WEB01 has not sent since the restart
    assert len(phone.sent) == 2  # WEB00 is silent still: repeated after hours
    network.run(3, sending=TEN[2:])
    assert phone.titles[2:] == ["CRITICAL: WEB01 is silent"]
    network.run(1)
    world.at += 5 * HOUR  # the machine sleeps
    network.run(1, sending=[])
    assert not read_firing_alerts(file)


def test_a_retired_host_is_expected_no_more_until_it_sends_again(network, phone, world, file):
    network.run(4, sending=TEN[1:], firing=["WEB00"])
    host, closed = retire(file, "web00", world.at)
    assert (host.name, closed) == ("WEB00", 2)
    lost = world.step("WEB00")  # its status is firing still, without an alert
    assert lost == {(CPU, "web00", None)}
    world.firing = {}
    network.run(60, sending=TEN[1:])
    assert read_firing_alerts(file) == []
    network.run(1)
    network.run(4, sending=TEN[1:])
    assert [item.host for item in read_firing_alerts(file)] == ["WEB00"]
    with pytest.raises(Unusable, match='host "WEB99" is not known'):
        retire(file, "WEB99", world.at)


def test_listed_hosts_are_expected_at_once_others_after_ten_minutes(world, phone, file):
    network = Network(world, phone, listed=["DB01"])
    network.run(9, sending=["WEB00"])
    network.run(5, sending=["WEB01"])
    assert [item.host for item in read_firing_alerts(file)] == ["DB01"]
    assert {host.name: bool(host.expected) for host in read_hosts(file)} == {
        "DB01": True,
        "WEB00": False,
        "WEB01": False,
    }
    assert "it never sent one" in phone.sent[0][1].body


def test_hosts_with_long_intervals_are_waited_for(world, phone, file):
    roster = HostInventory(file)
    for n in range(300):
        now = world.at + n * PERIOD
        roster.step({"LOGGER": LastSample(now - now % (5 * MINUTE), 5 * MINUTE)}, now)
    assert read_firing_alerts(file) == []
    for n in range(300, 300 + 6 * 21):
        roster.step({}, world.at + n * PERIOD)
    assert [item.host for item in read_firing_alerts(file)] == ["LOGGER"]
