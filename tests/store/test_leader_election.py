"""Which of several `plimsoll up` sends alerts: on a real VictoriaMetrics, and over simulated time."""

import time

from plimsoll.model.errors import Unreachable
from plimsoll.store.victoriametrics.address import VictoriaMetricsAddress
from plimsoll.store.victoriametrics.leader_election import LIFE_S, LeaderElection
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer

SEEN_AFTER_S = 7.0


class Simulated:
    """A server with a clock. What is written can be read some seconds later; while it is `away`, it does not answer."""

    def __init__(self):
        self.now = 1000.0
        self.away = set()
        self.written = []

    def of(self, who):
        return LeaderElection(_Reached(self, who), who, lambda: self.now)


class _Reached(VictoriaMetricsServer):
    def __init__(self, server, who):
        self._server, self._who = server, who

    def _answers(self):
        if self._who in self._server.away:
            raise Unreachable("away")
        return self._server

    def clock(self):
        return round(self._answers().now * 1000)

    def write(self, lines):
        server = self._answers()
        tags = dict(tag.split("=", 1) for tag in lines.decode().split(" ")[0].split(",")[1:])
        server.written.append((tags, server.now))

    def ages(self, selector, within_s):
        server = self._answers()
        newest = {}
        for tags, at in server.written:
            if server.now - within_s < at <= server.now - SEEN_AFTER_S:
                newest[tuple(tags.items())] = at
        return [(dict(tags), server.now - at) for tags, at in newest.items()]


def steps(server, seconds, *turns):
    """Step some turns every 5 s; how many of them alert each time."""
    counts = []
    for _ in range(int(seconds / 5)):
        server.now += 5
        for turn in turns:
            turn.step()
        counts.append(sum(item.is_leader() for item in turns))
    return counts


def test_the_one_that_is_there_for_the_longest_time_alerts_and_the_others_say_so():
    server = Simulated()
    first = server.of("anna@a")
    steps(server, 30, first)
    second, third = server.of("bob@b"), server.of("carl@c")
    assert set(steps(server, 120, first, second, third)) == {1}
    assert first.is_leader()
    assert first.status == ""
    assert second.status.startswith("anna@a, which reads this store since 1970-01-01T00:16:45Z, alerts.")


def test_when_it_ends_one_of_the_others_takes_over_and_only_one():
    server = Simulated()
    first, second, third = server.of("a"), server.of("b"), server.of("c")
    steps(server, 30, first)
    steps(server, 30, first, second)
    steps(server, 30, first, second, third)
    counts = steps(server, 120, second, third)
    assert set(counts) == {0, 1}
    assert counts.index(1) * 5 <= LIFE_S + SEEN_AFTER_S
    assert (second.is_leader(), third.is_leader()) == (True, False)


def test_whoever_was_away_for_long_does_not_take_the_turn_back():
    server = Simulated()
    first, second = server.of("a"), server.of("b")
    steps(server, 30, first)
    steps(server, 30, first, second)
    server.away = {"a"}
    steps(server, 20, first, second)
    assert (first.is_leader(), second.is_leader()) == (True, False)
    steps(server, 60, first, second)
    assert second.is_leader()
    server.away = set()
    steps(server, 60, first, second)
    assert (first.is_leader(), second.is_leader()) == (False, True)


def test_where_it_cannot_be_known_for_a_minute_each_alerts():
    server = Simulated()
    server.away = {"a"}
    alone = server.of("a")
    assert steps(server, 40, alone) == [0] * 8
    assert "not known yet" in alone.status
    assert steps(server, 40, alone)[-1] == 1


def test_turns_are_kept_in_a_real_server(own_victoriametrics):
    server = VictoriaMetricsServer(VictoriaMetricsAddress.parse(f"victoriametrics://{own_victoriametrics.address}"))
    first, second = LeaderElection(server, 'root@"a", b (process 7)'), LeaderElection(server, "other")
    for turns in ([first], [first, second], [first, second]):
        for turn in turns:
            turn.step()
        own_victoriametrics.show()
        time.sleep(1.1)  # it says to the second what time it is
    assert (first.is_leader(), second.is_leader()) == (True, False)
    assert second.status.startswith('root@"a", b (process 7), which reads this store since 20')
    server.close()
