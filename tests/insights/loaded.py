"""A discrete-event simulation of closed-loop users of a web server and a database, for tests of capacity.

Users think, then do one operation of a mix: it visits the processors of WEB01, a pool of connections of the software
(held for the time at the database), the processors of DB01 and, if it misses the cache, the disk of DB01. Demands are
exponential. By the utilisation law, the use of a station is the rate of each operation times its demand, so the load at
which a station reaches a limit is known exactly.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from plimsoll.hosts.facts import Facts
from plimsoll.ingest.formats.load_results.requests import make_driver_series
from plimsoll.model.log import Log
from plimsoll.model.run import Run
from plimsoll.model.times import SECOND, Zone
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.subjects import Subject
from tests.simulated import START, a_log

STEP_S = 5
WEB, DB, DISK = "web", "db", "disk"


@dataclass(frozen=True)
class System:
    """Demands in seconds; `mix` has the share and the demands (web, db, disk) of each operation."""

    mix: dict[str, tuple[float, float, float, float]]
    web_processors: int = 4
    db_processors: int = 2
    think_s: float = 2.0
    pool: int | None = None  # connections to the database
    pool_hold_s: float = 0.0  # what an operation holds a connection for beside its work at the database

    def demand(self, station: int) -> float:
        """The mean demand of an operation at a station."""
        return sum(item[0] * item[1 + station] for item in self.mix.values())

    def limit(self, station: int, use: float) -> float:
        """The operations a second with which the use (0 to 1) of a station is reached, if demands are constant."""
        servers = (self.web_processors, self.db_processors, 1)[station]
        return use * servers / self.demand(station)


@dataclass
class Measured:
    """What was seen in each step of the run."""

    users: np.ndarray
    done: dict[str, np.ndarray]
    response: np.ndarray
    p95: np.ndarray
    flight: np.ndarray
    use: dict[str, np.ndarray] = field(default_factory=dict)


def simulate(system: System, levels, level_s=120, seed=0) -> Measured:
    """A run whose users are at these levels one after another."""
    rng = np.random.default_rng(seed)
    names = list(system.mix)
    shares = np.array([item[0] for item in system.mix.values()])
    servers = [system.web_processors, system.pool or 10**9, system.db_processors, 1]
    free, waiting = servers.copy(), [deque() for _ in servers]
    end = len(levels) * level_s
    rows = end // STEP_S
    busy = [[0.0] * rows for _ in range(4)]
    done = {name: [0.0] * rows for name in names}
    times = [[] for _ in range(rows)]
    flight = [0.0] * rows
    events, count = [], 0

    drawn, picked = iter(()), iter(())

    def exponential():
        nonlocal drawn
        result = next(drawn, None)
        if result is None:
            drawn = iter(rng.standard_exponential(10_000).tolist())
            result = next(drawn)
        return result

    def pick():
        nonlocal picked
        result = next(picked, None)
        if result is None:
            picked = iter(rng.choice(len(names), p=shares, size=10_000).tolist())
            result = next(picked)
        return names[result]

    def spend(station, start, length):
        first, last = int(start // STEP_S), min(int((start + length) // STEP_S), rows - 1)
        if first == last:
            busy[station][first] += length if start + length <= end else end - start
            return
        for row in range(first, last + 1):
            low, high = max(start, row * STEP_S), min(start + length, (row + 1) * STEP_S)
            if high > low:
                busy[station][row] += high - low

    def push(at, kind, values):
        nonlocal count
        count += 1
        heapq.heappush(events, (at, count, kind, values))

    def begin(at, station, job):
        free[station] -= 1
        if station == 1:
            enter(at, 2, job)
            return
        demand = system.mix[job[0]][1 + (0, 0, 1, 2)[station]]
        length = demand * exponential()
        spend(station, at, length)
        push(at + length, "done", (station, job))

    def enter(at, station, job):
        if free[station] > 0:
            begin(at, station, job)
        else:
            waiting[station].append(job)

    def leave(at, station):
        free[station] += 1
        if waiting[station]:
            begin(at, station, waiting[station].popleft())

    for level, users in enumerate(levels):
        for _ in range(max(0, users - (levels[level - 1] if level else 0))):
            push(level * level_s + rng.uniform(0, 0.1 * level_s), "think", None)
    while events:
        at, _, kind, result = heapq.heappop(events)
        if at >= end:
            break
        row = int(at // STEP_S)
        if kind == "think":
            enter(at, 0, (pick(), at))
        elif kind == "hold":
            leave(at, 1)
            job = result
            done[job[0]][row] += 1
            times[row].append(at - job[1])
            for other in range(int(job[1] // STEP_S), row + 1):
                flight[other] += min(at, (other + 1) * STEP_S) - max(job[1], other * STEP_S)
            push(at + system.think_s * exponential(), "think", None)
        else:
            station, job = result
            leave(at, station)
            if station == 0:
                enter(at, 1, job)
            elif station == 2:
                enter(at, 3, job)
            else:
                hold = system.pool_hold_s * exponential()
                push(at + hold, "hold", job)
    repeat = np.repeat(np.array(levels, dtype=float), level_s // STEP_S)
    use = np.array(busy) / STEP_S / np.array(servers)[:, None]
    return Measured(
        repeat,
        {name: np.array(values) / STEP_S for name, values in done.items()},
        np.array([np.mean(time) if time else np.nan for time in times]),
        np.array([np.quantile(time, 0.95) if time else np.nan for time in times]),
        np.array(flight) / STEP_S,
        {WEB: 100 * use[0], DB: 100 * use[2], DISK: 100 * use[3]},
    )


def driver_log(measured: Measured, users=True) -> Log:
    """What a load driver would have written of it."""
    total = np.sum(list(measured.done.values()), axis=0)
    columns = {
        make_driver_series("requests"): total,
        make_driver_series("response_mean_s"): measured.response,
        make_driver_series("response_p95_s"): measured.p95,
        **(
            {make_driver_series("users"): measured.users, make_driver_series("in_flight"): measured.flight}
            if users
            else {}
        ),
        **(
            {make_driver_series("requests", name): values for name, values in measured.done.items()}
            if len(measured.done) > 1
            else {}
        ),
    }
    times = START + np.arange(len(total), dtype=np.int64) * STEP_S * SECOND
    data = tuple(np.array(values, dtype=float) for values in columns.values())
    return Log(Path("/logs/results.jtl"), "JMeter-CSV", times, data, tuple(columns), Zone.parse("UTC"))


def host_logs(measured: Measured, seed=0, noise=0.3) -> list[Log]:
    """The counters of the two hosts, as Performance Monitor would have recorded them."""
    rng = np.random.default_rng([seed, 1])

    def read(values):
        return np.clip(values + rng.normal(0, noise, len(values)), 0, 100)

    return [
        a_log({r"\Processor(_Total)\% Processor Time": read(measured.use[WEB])}, "WEB01", STEP_S),
        a_log(
            {
                r"\Processor(_Total)\% Processor Time": read(measured.use[DB]),
                r"\PhysicalDisk(0 C:)\% Idle Time": 100 - read(measured.use[DISK]),
            },
            "DB01",
            STEP_S,
        ),
    ]


def run_of(system: System, levels, level_s=120, seed=0, users=True):
    """The review of a simulated run."""
    result = simulate(system, levels, level_s, seed)
    facts = {
        Subject("WEB01"): {"processors": system.web_processors},
        Subject("DB01"): {"processors": system.db_processors},
    }
    question = Question(load().packs, load_signals())
    logs = (driver_log(result, users), *host_logs(result, seed))
    return review(logs, Run("simulated", simulated=True), question, Facts(facts, {}))
