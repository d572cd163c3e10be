"""Systems of known capacity, each with a load test of it, for trials of `plimsoll capacity`; nothing of the code.

`load_tested(kind, seed)` makes one up; `at` tells what it truly uses, answers and takes at a load, and `crossing` which
load truly brings a station to a use, both by simulating it there.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.simulators.events import GIVE, TAKE, USE, WAIT, Plan, Step, System, Visit, Work, simulated

KINDS = (
    "one mix",
    "users",
    "another mix",
    "background work",
    "cache misses",
    "two tiers",
    "everything",
    "a pool",
    "a lock",
)
SOFTWARE = ("a pool", "a lock")


@dataclass(frozen=True)
class Case:
    kind: str
    system: System
    steps: list[Step]
    think: float | None
    """Mean time to think of users; None for arrivals that do not wait for answers."""
    shares: dict[str, float]
    """The mix that is asked for."""


@dataclass(frozen=True)
class Truth:
    uses: dict[str, float]
    """Of each station, as a part of 1."""
    rate: float
    mean: float
    p95: float


def at(case: Case, load: float, seconds: float = 900, seed: int = 1) -> Truth:
    """What is true at so many users, or requests a second, in the long run."""
    warm = 120
    seen = simulated(case.system, [Step(warm + seconds, load, case.shares, case.think)], seed)
    took = sorted(end - start for start, end, *_ in seen.requests if end > warm)
    uses = {
        name: sum(seen.busy[name][warm : warm + int(seconds)]) / seconds / servers
        for name, servers in case.system.stations.items()
    }
    if not took:
        return Truth(uses, 0.0, 0.0, 0.0)
    return Truth(uses, len(took) / seconds, sum(took) / len(took), took[int(len(took) * 0.95)])


def crossing(case: Case, station: str, use: float, guess: float, seconds: float = 900) -> float | None:
    """The load at which the station's use truly is `use`; None where it never is."""
    low, high, low_use, high_use = 0.0, 0.0, 0.0, 0.0
    load = guess
    for turn in range(7):
        found = at(case, load, seconds, seed=turn + 2).uses[station]
        if found < use:
            low, low_use = load, found
        else:
            high, high_use = load, found
        if abs(found - use) < 0.004:
            break
        if not high:
            if load > 8 * guess:
                return None
            load *= min(2.0, max(1.1, use / max(found, 0.01)))
        elif not low:
            load *= max(0.5, min(0.9, use / found))
        else:
            load = low + (high - low) * min(0.95, max(0.05, (use - low_use) / (high_use - low_use)))
    return load


def load_tested(kind: str, seed: int) -> Case:
    """A system of this kind and its load test, other ones for each seed."""
    r = random.Random(f"{kind} {seed}")
    operations, stations, pools, works = _operations(kind, r), _stations(kind, r), {}, ()
    closed = kind in ("users", "a pool", "a lock") or r.random() < 0.4
    think = r.choice((2.0, 5.0, 8.0)) if closed else None
    if kind in SOFTWARE:
        pools = {"connections": r.randint(4, 12) if kind == "a pool" else 1}
    if kind in ("background work", "everything"):
        works = _works(stations, r)
    plans = {name: _plan(kind, stations, cost, r) for name, cost in operations.items()}
    system = System(stations, plans, pools, works)
    shares = {name: r.uniform(0.5, 3) for name in operations}
    total = sum(shares.values())
    shares = {name: share / total for name, share in shares.items()}
    case = Case(kind, system, [], think, shares)
    top = _bound(case, r) * (r.uniform(1.5, 2.2) if kind in SOFTWARE else r.uniform(0.62, 1.0))
    if kind == "cache misses":  # what they are at the bound is what the scale of `_plan` could not know
        case = replace(case, system=replace(system, operations=_missing(plans, stations, top, r)))
        top = _bound(case, r) * r.uniform(0.62, 1.0)
    return replace(case, steps=_steps(case, top, r))


def _stations(kind: str, r: random.Random) -> dict[str, int]:
    stations = {"APP01 cpu": r.choice((2, 4, 8)), "APP01 disk": 1}
    if kind in ("two tiers", "everything"):
        stations |= {"DB01 cpu": r.choice((2, 4, 8)), "DB01 disk": 1}
    return stations


def _operations(kind: str, r: random.Random) -> dict[str, float]:
    """How costly each is, as a multiple."""
    names = ("view", "search", "buy", "report")
    many = {"one mix": 3, "another mix": 3, "everything": 4}.get(kind, r.randint(1, 3))
    return {name: r.uniform(0.4, 3) for name in names[:many]}


def _drawn(r: random.Random) -> Callable[[random.Random, float], float]:
    """A distribution of service times: regular, exponential, or with a long tail."""
    return r.choice((
        lambda draw, mean: draw.gammavariate(4, mean / 4),
        lambda draw, mean: draw.expovariate(1 / mean),
        lambda draw, mean: mean * draw.lognormvariate(-0.59, 1.087),  # a coefficient of variation of 1.5
    ))  # fmt: skip


def _plan(kind: str, stations: dict[str, int], cost: float, r: random.Random) -> Plan:
    """An operation that visits every station, with shares of its own."""
    drawn, means = _drawn(r), {}
    for name, servers in stations.items():
        # so that one processor, or a disk, does from 8 to 60 of them a second
        means[name] = cost * r.uniform(0.008, 0.03) * (0.5 * servers**0.5 if "cpu" in name else 0.25)
    turns = {name: r.randint(1, 2) for name in stations}
    slice_ = r.choice((None, 0.01))
    held = r.uniform(0.05, 0.12) if kind == "a pool" else r.uniform(0.015, 0.03)

    def plan(draw: random.Random, _load: float) -> list[Visit]:
        visits: list[Visit] = []
        for name in stations:
            for _ in range(turns[name]):
                seconds = drawn(draw, means[name] / turns[name])
                while slice_ and "cpu" in name and seconds > slice_:  # as a scheduler shares a processor
                    visits.append((USE, name, slice_))
                    seconds -= slice_
                visits.append((USE, name, seconds))
        if kind in SOFTWARE:  # held while something is waited for that no counter shows
            at_ = len(visits) // 2
            visits[at_:at_] = [
                (TAKE, "connections", 0),
                (USE, "APP01 cpu", drawn(draw, means["APP01 cpu"] / 8)),
                (WAIT, "", held * draw.uniform(0.5, 1.5)),
                (GIVE, "connections", 0),
            ]
        return visits

    return plan


def _missing(plans: dict[str, Plan], stations: dict[str, int], top: float, r: random.Random) -> dict[str, Plan]:
    """The same operations, whose data are found in memory less often the more load there is."""
    disk = next(name for name in stations if "disk" in name)
    least, more, seconds = r.uniform(0.05, 0.2), r.uniform(0.1, 0.5), r.uniform(0.004, 0.012)

    def with_misses(plan: Plan) -> Plan:
        def missing(draw: random.Random, load: float) -> list[Visit]:
            visits = plan(draw, load)
            if draw.random() < min(0.95, least + more * load / top):
                visits.append((USE, disk, draw.expovariate(1 / seconds)))
            return visits

        return missing

    return {name: with_misses(plan) for name, plan in plans.items()}


def _works(stations: dict[str, int], r: random.Random) -> tuple[Work, ...]:
    """Something every second, and a job of some tens of seconds every few minutes."""
    name = r.choice([name for name in stations if "cpu" in name])
    servers = stations[name]
    idle, period, part = r.uniform(0.01, 0.1), r.choice((120, 180, 300)), r.uniform(0.02, 0.08)

    def small(draw: random.Random) -> list[Visit]:
        return [(USE, name, draw.expovariate(1 / (idle * servers)))]

    def job(draw: random.Random) -> list[Visit]:
        return [(USE, name, 0.05)] * int(part * servers * period * draw.uniform(0.8, 1.2) / 0.05)

    return (Work(1, 0.5, small), Work(period, period / 3, job))


def _bound(case: Case, r: random.Random) -> float:
    """About the load at which the first station is at 80 %, or a pool at its end, by short simulations."""
    small = at(case, 2 if case.think is None else 2 * (case.think + 0.2), 300)
    idle = at(replace(case, shares=dict.fromkeys(case.shares, 1.0)), 0.01 if case.think is None else 0.51, 300).uses
    scale = min((0.8 - idle[name]) / max(1e-6, (small.uses[name] - idle[name]) / small.rate) for name in small.uses)
    if case.system.pools:
        held = [
            sum(v[2] for v in plan(r, 1) if v[0] == WAIT)
            for plan in case.system.operations.values()
            for _ in range(400)
        ]
        scale = min(scale, case.system.pools["connections"] / (sum(held) / len(held)))
    return scale if case.think is None else scale * (case.think + small.mean)


def _steps(case: Case, top: float, r: random.Random) -> list[Step]:
    """From a sixth of the top up to it: as steps of some minutes, or every minute a little more."""
    many, seconds = r.choice(((6, 240), (8, 240), (7, 300), (25, 60)))
    steps: list[Step] = []
    for at_ in range(many):
        load = top * (1 / 6 + 5 / 6 * at_ / (many - 1))
        shares = case.shares
        if case.kind in ("another mix", "everything"):
            shares = {name: r.uniform(0.3, 3) for name in shares}
        steps.append(Step(seconds, max(1, round(load)) if case.think else load, shares, case.think))
    return steps
