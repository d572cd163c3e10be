"""A discrete-event simulator of systems under a load test: queues, pools and users; nothing of the code.

A request is a list of visits, made when it begins. A visit is `(USE, station, seconds)`, `(WAIT, "", seconds)`,
`(TAKE, pool, 0)` or `(GIVE, pool, 0)`. Stations have servers and one queue, first come first served; who takes what a
pool has no more of waits in line, and holds what it has.
"""

import heapq
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

USE, WAIT, TAKE, GIVE = range(4)
Visit: TypeAlias = tuple[int, str, float]
Plan: TypeAlias = Callable[[random.Random, float], list[Visit]]
"""What a request does, given the users at work (or, with open arrivals, the requests a second)."""


@dataclass(frozen=True)
class Work:
    """Background work: every `period` seconds, `shift` later, one after another, whatever the load."""

    period: float
    shift: float
    visits: Callable[[random.Random], list[Visit]]


@dataclass(frozen=True)
class System:
    stations: dict[str, int]
    operations: dict[str, Plan]
    pools: dict[str, int] = field(default_factory=dict[str, int])
    works: tuple[Work, ...] = ()


@dataclass(frozen=True)
class Step:
    """So long so many users (`think` is their mean time to think) or, without `think`, so many requests a second."""

    seconds: float
    load: float
    shares: dict[str, float]
    think: float | None = None


@dataclass
class Seen:
    requests: list[tuple[float, float, str, int]]
    """Start, end, operation, and users at work when it ended."""
    busy: dict[str, list[float]]
    """Of each station, busy servers in each second."""


class _Request:
    __slots__ = ("at", "operation", "started", "user", "visits")

    def __init__(self, operation: str, started: float, visits: list[Visit], user: int | None) -> None:
        self.operation, self.started, self.visits, self.user, self.at = operation, started, visits, user, 0


class _Run:
    def __init__(self, system: System, steps: list[Step], seed: int) -> None:
        self.system, self.steps, self.random = system, steps, random.Random(seed)
        self.ends: list[float] = []
        total = 0.0
        for step in steps:
            total += step.seconds
            self.ends.append(total)
        self.step, self.users, self.in_flight, self.count = 0, 0, 0, 0
        self.free = {name: [0.0] * servers for name, servers in system.stations.items()}
        self.left = dict(system.pools)
        self.lines: dict[str, deque[_Request]] = {name: deque() for name in system.pools}
        self.seen = Seen([], {name: [0.0] * (int(total) + 1) for name in system.stations})
        self.events: list[tuple[float, int, Callable[[float], None] | None, _Request | None]] = []

    def at(self, time: float, call: Callable[[float], None]) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, call, None))

    def go(self) -> Seen:
        self.step = -1
        start = 0.0
        for end in self.ends:
            self.at(start, self.next_step)
            start = end
        for work in self.system.works:
            self.at(work.shift, self.background(work))
        finish, events = self.ends[-1], self.events
        while events and events[0][0] < finish:
            time, _, call, request = heapq.heappop(events)
            if request is not None:
                self.serve(time, request)
            elif call is not None:
                call(time)
        return self.seen

    def next_step(self, time: float) -> None:
        self.step += 1
        step = self.steps[self.step]
        if step.think is None:
            self.arrivals(self.step)(time)
            return
        while self.users < round(step.load):  # users begin one after another
            self.users += 1
            self.at(time + self.random.random() * (step.think + min(10, step.seconds / 10)), self.user(self.users))

    def arrivals(self, of_step: int) -> Callable[[float], None]:
        rate = self.steps[of_step].load

        def arrive(time: float) -> None:
            if self.step == of_step:
                self.begin(time, None)
                self.at(time + self.random.expovariate(rate), arrive)

        return arrive

    def user(self, number: int) -> Callable[[float], None]:
        return lambda time: self.begin(time, number)

    def begin(self, time: float, user: int | None) -> None:
        step = self.steps[self.step]
        if user is not None and user > round(step.load):
            self.users -= 1
            return
        names = list(step.shares)
        operation = self.random.choices(names, list(step.shares.values()))[0]
        visits = self.system.operations[operation](self.random, step.load)
        self.in_flight += 1
        self.serve(time, _Request(operation, time, visits, user))

    def background(self, work: Work) -> Callable[[float], None]:
        def begin(time: float) -> None:
            self.serve(time, _Request("", time, work.visits(self.random), None))
            self.at(time + work.period, begin)

        return begin

    def serve(self, time: float, request: _Request) -> None:
        """What the request does at this time, up to where it has to wait."""
        visits = request.visits
        while request.at < len(visits):
            kind, name, seconds = visits[request.at]
            request.at += 1
            if kind == USE:
                free = self.free[name]
                start = max(time, free[0])
                heapq.heapreplace(free, start + seconds)
                self.note(self.seen.busy[name], start, start + seconds)
                return self.later(start + seconds, request)
            if kind == WAIT:
                return self.later(time + seconds, request)
            if kind == TAKE:
                if not self.left[name]:
                    self.lines[name].append(request)
                    return None
                self.left[name] -= 1
            elif self.lines[name]:
                waited = self.lines[name].popleft()
                self.later(time, waited)
            else:
                self.left[name] += 1
        return self.done(time, request)

    def later(self, time: float, request: _Request) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, None, request))

    def done(self, time: float, request: _Request) -> None:
        if not request.operation:
            return
        step = self.steps[self.step]
        users = self.users if step.think is not None else self.in_flight
        self.in_flight -= 1
        self.seen.requests.append((request.started, time, request.operation, users))
        if request.user is not None:
            self.at(time + self.random.expovariate(1 / (step.think or 1)), self.user(request.user))

    @staticmethod
    def note(busy: list[float], start: float, end: float) -> None:
        second = int(start)
        while second < end and second < len(busy):
            busy[second] += min(end, second + 1) - max(start, second)
            second += 1


def simulated(system: System, steps: list[Step], seed: int) -> Seen:
    """What the load driver and the counters of the stations see of a load test."""
    return _Run(system, steps, seed).go()
