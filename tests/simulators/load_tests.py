"""A discrete-event simulator of systems under a load test, and the logs of it; nothing of the code.

A request visits stations one after another; stations have servers and one queue, first come first served.
"""

import csv
import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
_JTL = (
    "timeStamp elapsed label responseCode responseMessage threadName dataType success failureMessage bytes sentBytes "
    "grpThreads allThreads URL Latency IdleTime Connect"
)
Visit: TypeAlias = tuple[str, float]
"""A station, and for how long (s) one of its servers is used."""
Plan: TypeAlias = Callable[[random.Random, float], list[Visit]]
"""What a request does, given the users at work (or, with open arrivals, the requests a second)."""


@dataclass(frozen=True)
class System:
    stations: dict[str, int]
    operations: dict[str, Plan]


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

    def serve(self, time: float, request: _Request) -> None:
        """Begin the next visit of a request, or end it."""
        if request.at == len(request.visits):
            self.done(time, request)
            return
        name, seconds = request.visits[request.at]
        request.at += 1
        free = self.free[name]
        start = max(time, free[0])
        heapq.heapreplace(free, start + seconds)
        self.note(self.seen.busy[name], start, start + seconds)
        self.later(start + seconds, request)

    def later(self, time: float, request: _Request) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, None, request))

    def done(self, time: float, request: _Request) -> None:
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


@dataclass(frozen=True)
class Case:
    kind: str
    system: System
    steps: list[Step]
    think: float | None
    """Mean time to think of users; None for arrivals that do not wait for answers."""
    shares: dict[str, float]
    """The mix that is asked for."""


def _run(case: Case, load: float, seconds: float = 300) -> tuple[dict[str, float], float, float]:
    """The use of each station (0 to 1), the rate of requests and their mean duration at a load."""
    warm = 120
    seen = simulated(case.system, [Step(warm + seconds, load, case.shares, case.think)], 1)
    took = [end - start for start, end, *_ in seen.requests if end > warm]
    uses = {
        name: sum(seen.busy[name][warm : warm + int(seconds)]) / seconds / servers
        for name, servers in case.system.stations.items()
    }
    return uses, len(took) / seconds, sum(took) / len(took) if took else 0.0


def load_tested(kind: str, seed: int) -> Case:
    """Return a system and its load test, other ones for each seed: `one mix` of requests, or `users` who think."""
    r = random.Random(f"{kind} {seed}")
    count = r.randint(1, 3)
    names = ("view", "search", "buy")[: 3 if kind == "one mix" else count]
    operations = {name: r.uniform(0.4, 3) for name in names}
    stations = {"APP01 cpu": r.choice((2, 4, 8)), "APP01 disk": 1}
    closed = kind == "users" or r.random() < 0.4
    think = r.choice((2.0, 5.0, 8.0)) if closed else None
    plans = {name: _plan(stations, cost, r) for name, cost in operations.items()}
    shares = {name: r.uniform(0.5, 3) for name in operations}
    total = sum(shares.values())
    case = Case(kind, System(stations, plans), [], think, {name: share / total for name, share in shares.items()})
    top = _bound(case) * r.uniform(0.62, 1.0)
    return replace(case, steps=_steps(case, top, r))


def _drawn(r: random.Random) -> Callable[[random.Random, float], float]:
    """A distribution of service times: regular, exponential, or with a long tail."""
    return r.choice((
        lambda draw, mean: draw.gammavariate(4, mean / 4),
        lambda draw, mean: draw.expovariate(1 / mean),
        lambda draw, mean: mean * draw.lognormvariate(-0.59, 1.087),  # a coefficient of variation of 1.5
    ))  # fmt: skip


def _plan(stations: dict[str, int], cost: float, r: random.Random) -> Plan:
    """An operation that visits every station, with shares of its own."""
    drawn, means = _drawn(r), {}
    for name, servers in stations.items():
        # so that one processor, or a disk, does from 8 to 60 of them a second
        means[name] = cost * r.uniform(0.008, 0.03) * (0.5 * servers**0.5 if "cpu" in name else 0.25)
    turns = {name: r.randint(1, 2) for name in stations}
    slice_ = r.choice((None, 0.01))
    r.uniform(0.015, 0.03)  # what follows is drawn after this

    def plan(draw: random.Random, _load: float) -> list[Visit]:
        visits: list[Visit] = []
        for name in stations:
            for _ in range(turns[name]):
                seconds = drawn(draw, means[name] / turns[name])
                while slice_ and "cpu" in name and seconds > slice_:  # as a scheduler shares a processor
                    visits.append((name, slice_))
                    seconds -= slice_
                visits.append((name, seconds))
        return visits

    return plan


def _bound(case: Case) -> float:
    """About the load at which the first station is at 80 %, by short simulations."""
    small, rate, mean = _run(case, 2 if case.think is None else 2 * (case.think + 0.2))
    idle, *_ = _run(replace(case, shares=dict.fromkeys(case.shares, 1.0)), 0.01 if case.think is None else 0.51)
    scale = min((0.8 - idle[name]) / max(1e-6, (small[name] - idle[name]) / rate) for name in small)
    return scale if case.think is None else scale * (case.think + mean)


def _steps(case: Case, top: float, r: random.Random) -> list[Step]:
    """From a sixth of the top up to it: as steps of some minutes, or every minute a little more."""
    many, seconds = r.choice(((6, 240), (8, 240), (7, 300), (25, 60)))
    steps: list[Step] = []
    for at_ in range(many):
        load = top * (1 / 6 + 5 / 6 * at_ / (many - 1))
        steps.append(Step(seconds, max(1, round(load)) if case.think else load, case.shares, case.think))
    return steps


def write_logs(folder: Path, case: Case, seen: Seen, seed: int) -> None:
    """Write what was recorded into the folder."""
    draw = random.Random(seed)
    hosts = sorted({name.split()[0] for name in case.system.stations})
    interval = draw.choice((5, 10, 15))
    facts: list[str] = []
    for host in hosts:
        stations = {name.split()[1]: name for name in case.system.stations if name.startswith(host)}
        servers = case.system.stations[stations["cpu"]]
        uses = {
            kind: _means(seen.busy[name], interval, case.system.stations[name], draw) for kind, name in stations.items()
        }
        _perfmon(folder / f"{host}.csv", host, interval, servers, uses)
        facts.append(f"[hosts.{host}]\nprocessors = {servers}\nmemory_mb = 32768\n")
    (folder / "plimsoll.toml").write_text("\n".join(facts))
    _jtl(folder / "results.jtl", seen)


def _means(busy: list[float], interval: int, servers: int, draw: random.Random) -> list[float]:
    """The use in each interval, in percent, with what the counters are off by."""
    return [
        min(100.0, max(0.0, 100 * sum(busy[at : at + interval]) / interval / servers + draw.gauss(0, 0.2)))
        for at in range(0, len(busy) - interval, interval)
    ]


def _perfmon(path: Path, host: str, interval: int, servers: int, uses: dict[str, list[float]]) -> None:
    def counter(text: str) -> str:
        return f"\\\\{host}\\{text}"

    names = [
        *(f"Processor Information(0,{at})\\% Processor Time" for at in range(servers)),
        "Processor Information(_Total)\\% Processor Time",
        "PhysicalDisk(0 C:)\\% Idle Time",
        "Memory\\Available MBytes",
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["(PDH-CSV 4.0) (Coordinated Universal Time)(0)", *map(counter, names)])
        for at, (cpu, disk) in enumerate(zip(uses["cpu"], uses["disk"], strict=True)):
            time = START + timedelta(seconds=interval * (at + 1))
            writer.writerow([
                time.strftime("%m/%d/%Y %H:%M:%S.000"), *[f"{cpu:.4f}"] * (servers + 1), f"{100 - disk:.4f}", "16384",
            ])  # fmt: skip


def _jtl(path: Path, seen: Seen) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_JTL.split())
        began = round(START.timestamp() * 1000)
        for start, end, operation, users in seen.requests:
            writer.writerow([
                began + round(start * 1000), round((end - start) * 1000), operation, 200, "OK", "Users 1-1", "text", "true", "", 1024,
                128, users, users, f"http://app01/{operation}", round((end - start) * 900), 0, 1,
            ])  # fmt: skip
