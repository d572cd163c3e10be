"""Simulates the messaging system of the study (`demo/study.py`), a SQL Server and two front ends that use it."""

import numpy as np

from plimsoll.demo import study
from plimsoll.demo.study import CORES, DURATION_S, INTERVAL_S, Points, StudyLevel, StudySetup
from plimsoll.demo.windows import (
    MB,
    DemoRecording,
    DemoService,
    Disk,
    add_arrays,
    add_disks,
    add_memory_and_processes,
    add_network,
    add_processors,
)
from plimsoll.model.log import Values

SEED = 2008
TIME_S = np.arange(0, DURATION_S + 1, INTERVAL_S)
SAMPLES = len(TIME_S)
NONE = np.zeros(SAMPLES)


def simulate(setup: StudySetup) -> dict[str, DemoRecording]:
    """Return the simulated counters of one run, by host."""
    sql, write_s = _simulate_sql_server(setup, _make_generator(setup, 0))
    return {
        "SQLSRV01": sql,
        "OCSFE01": _simulate_front_end(setup, _make_generator(setup, 1), "ocsfe02.example.com", write_s),
        "OCSFE02": _simulate_front_end(setup, _make_generator(setup, 2), "ocsfe01.example.com", write_s),
    }


def _make_generator(setup: StudySetup, host: int) -> np.random.Generator:
    """Return the random generator of one host, separate so that a change to a host does not affect other hosts."""
    return np.random.Generator(np.random.PCG64([SEED, setup.sql_memory_mb, host]))


def _interpolate_curve(points: Points) -> Values:
    seconds, values = zip(*points, strict=True)
    return np.interp(TIME_S, seconds, values)


def _load(level: StudyLevel) -> Values:
    """Return the level at each sample of the run, first idle, then growing while users log on, then steady."""
    ramp, steady = _interpolate_curve(study.RAMP_LOAD), _interpolate_curve(study.STEADY_LOAD)
    return level.idle + (level.ramp - level.idle) * ramp + (level.steady - level.idle) * steady


def _simulate_logons() -> Values:
    return np.minimum(study.USERS, study.LOGON_RATE * TIME_S)


def _draw_wander(rng: np.random.Generator, spread: float) -> Values:
    """Return a random drift around 0, at most `spread` to either side, with a new direction every 120 s."""
    knots = np.arange(0, DURATION_S + 120, 120)
    return np.interp(TIME_S, knots, rng.uniform(-spread, spread, len(knots)))


def _draw_around(rng: np.random.Generator, mean: Values | float, share: float) -> Values:
    """Return random values around a mean, at most a share of the mean away from it."""
    return mean * (1 + share * rng.uniform(-1, 1, SAMPLES))


def _draw_counts(rng: np.random.Generator, per_second: Values | float) -> Values:
    """Return the events per second in each interval, random whole numbers of events around a mean rate."""
    return rng.poisson(np.full(SAMPLES, INTERVAL_S) * per_second) / INTERVAL_S


def _add_processors(
    out: DemoRecording, rng: np.random.Generator, mean: Values, noise: float, switches: Values
) -> Values:
    common = mean + _draw_wander(rng, noise)
    # The first processor serves the interrupts.
    shares = (1.05, 1.01, 0.98, 0.96)
    busy = [np.clip(common * share + rng.normal(0, noise, SAMPLES), 0, 100) for share in shares]
    waiting = rng.poisson(np.clip(common, 0, 100) / 60).astype(np.float64)
    return add_processors(out, busy, _draw_around(rng, switches, 0.08), waiting)


def _simulate_system_disk(rng: np.random.Generator, reads: Values) -> Disk:
    return Disk("0 C:", reads, _draw_counts(rng, 2.5), _draw_around(rng, 0.006, 0.3), _draw_around(rng, 0.004, 0.3))


def _simulate_sql_server(setup: StudySetup, rng: np.random.Generator) -> tuple[DemoRecording, Values]:
    """Return the SQL Server's counters, and the seconds per write to its database disk, which slow the front ends."""
    out = DemoRecording()
    calendar = add_arrays(
        _interpolate_curve(((at, 0), (at + 15, p), (at + 60, p), (at + 75, 0))) for at, p in study.CALENDAR_S.items()
    )
    switches = _load(StudyLevel(900, 9200, 5200)) + 60 * calendar
    cpu = _add_processors(out, rng, _load(study.SQL_CPU) + calendar, 2, switches)
    # With too little memory, some work needs evicted data, which evicts other data.
    burst = np.where(rng.random(SAMPLES) < study.BURST_SHARE, rng.uniform(0.2, 1, SAMPLES), 0) * setup.evicting
    reads = _draw_counts(
        rng, _draw_around(rng, _interpolate_curve(setup.database_reads), 0.2) + study.BURST_READS * burst
    )
    writes, write_s = _simulate_flushes(rng)
    flushing = writes > 0
    log_writes = _draw_counts(rng, study.LOG_WRITES)
    log_s = np.where(flushing, rng.uniform(0.3, 1, SAMPLES) * study.LOG_LATENCY_PEAK_S, _draw_around(rng, 0.0009, 0.4))
    paging = _draw_counts(rng, setup.paging_reads)
    log = Disk("1 D:", NONE, log_writes, NONE, log_s)
    database = Disk("2 E:", reads, writes, _draw_around(rng, 0.006, 0.3) * (1 + flushing), write_s)
    add_disks(out, [_simulate_system_disk(rng, paging), log, database])
    first, last = setup.sql_private_mb
    private = first + (last - first) * np.cumsum(reads) / np.sum(reads)  # pages that were read stay in memory
    service = DemoService("sqlservr", 0.93, MB * private)
    in_use = MB * (setup.sql_system_mb + _draw_wander(rng, 18))
    add_memory_and_processes(out, MB * setup.sql_memory_mb, in_use, service, 4 * paging, cpu, CORES)
    add_network(out, _draw_around(rng, _load(StudyLevel(4e4, 2.6e6, 1.4e6)), 0.1))
    lazy = np.where(flushing, _draw_counts(rng, 12), 0) * setup.evicting
    missed = np.minimum(5, setup.missed_percent * (0.6 + 0.4 * reads / 50))
    buffer = "\\SQLServer:Buffer Manager\\"
    out.gauge(buffer + "Page life expectancy", np.floor(_simulate_page_life(rng, setup, burst)))
    out.fraction(buffer + "Buffer cache hit ratio", 100 - _draw_around(rng, missed, 0.1))
    out.interval(buffer + "Lazy writes/sec", lazy)
    out.interval(buffer + "Checkpoint pages/sec", 2 * (writes - lazy))  # a write includes neighbouring pages
    connections = 24 + 196 * np.minimum(1, _simulate_logons() / 6000) + _draw_wander(rng, 4)
    out.gauge("\\SQLServer:General Statistics\\User Connections", connections)
    batches = _draw_around(rng, _load(StudyLevel(6, 1450, 720)) + 9 * calendar, 0.06)
    out.interval("\\SQLServer:SQL Statistics\\Batch Requests/sec", _draw_counts(rng, batches))
    return out, write_s


def _simulate_flushes(rng: np.random.Generator) -> tuple[Values, Values]:
    """Return the writes per second and the seconds per write of the database disk, which has writes only in flushes."""
    writes, seconds = NONE.copy(), NONE.copy()
    for number, start in enumerate(range(study.FLUSH_FIRST_S, DURATION_S, study.FLUSH_EVERY_S)):
        length = len(study.FLUSH_WRITES) - (number % study.FLUSH_SHORT_EVERY == study.FLUSH_SHORT_EVERY - 1)
        first, end = start // INTERVAL_S, start // INTERVAL_S + length
        size = 1 + study.FLUSH_SPREAD * rng.uniform(-1, 1)
        scatter = 1 + study.SAMPLE_SPREAD * rng.uniform(-1, 1, length)
        writes[first:end] = np.array(study.FLUSH_WRITES[:length]) * size * scatter
        seconds[first:end] = np.array(study.FLUSH_LATENCY_S[:length]) * rng.uniform(0.85, 1.15)
        seconds[end - 1] = study.FLUSH_SLOW_S.get(number, seconds[end - 1])
    return np.rint(writes * INTERVAL_S) / INTERVAL_S, seconds


def _simulate_page_life(rng: np.random.Generator, setup: StudySetup, burst: Values) -> Values:
    """Return the page life expectancy (s), which grows by one second per second unless pages are evicted."""
    if not setup.evicting:
        flushes = np.maximum(0, (TIME_S - study.FLUSH_FIRST_S) // study.FLUSH_EVERY_S + 1)
        return setup.page_life_start_s + TIME_S - 4 * flushes + _draw_wander(rng, 3)
    ageing, highest = INTERVAL_S * rng.uniform(0.5, 1, SAMPLES), study.PAGE_LIFE_HIGH_S + rng.uniform(0, 20, SAMPLES)
    life, out = setup.page_life_start_s, np.empty(SAMPLES)
    for i in range(SAMPLES):
        life = min(life + ageing[i], highest[i])
        life -= study.BURST_COST * burst[i] * (life - study.PAGE_LIFE_LOW_S)
        out[i] = life
    return out


def _simulate_front_end(setup: StudySetup, rng: np.random.Generator, neighbour: str, write_s: Values) -> DemoRecording:
    """Return a front end's counters; `neighbour` is the other front end, `write_s` the seconds per database write."""
    out = DemoRecording()
    cpu = _add_processors(out, rng, _load(study.FRONT_END_CPU), 0.8, _load(StudyLevel(500, 2900, 6400)))
    paging = _draw_counts(rng, 0.2)
    add_disks(out, [_simulate_system_disk(rng, paging)])
    logged_on = _simulate_logons() / study.FRONT_ENDS
    service = DemoService("RTCSrv", 0.8, 1000 * (150_000 + 90 * logged_on))
    in_use = MB * (900 + _draw_wander(rng, 15))
    add_memory_and_processes(out, 4096 * MB, in_use, service, 4 * paging, cpu, CORES)
    add_network(out, _draw_around(rng, _load(StudyLevel(2e4, 0.9e6, 1.6e6)), 0.1))
    # During a flush, calls to the database are slower by a tenth of the time of a write.
    held_up_ms = 100 * write_s
    database = "\\LC:USrv - 00 - DBStore\\"
    for counter, level in (("002 - Queue Latency", setup.queue_ms), ("004 - Sproc Latency", setup.sproc_ms)):
        latency = _draw_around(rng, _load(level) * (1 + _draw_wander(rng, 0.1)), 0.12) + held_up_ms
        out.interval(f"{database}USrv - {counter} (msec)", latency)
    holding = "\\LC:SIP - 07 - Load Management\\SIP - 000 - Average Holding Time For Incoming Messages"
    out.interval(holding, _draw_around(rng, _load(setup.holding_s), 0.3))
    trouble_from, trouble_to = study.TROUBLE_S
    trouble = (trouble_from <= TIME_S) & (trouble_to >= TIME_S)
    for peer, connections, waits in (("Clients", logged_on, 0.04), (neighbour, np.minimum(8, logged_on), 0.01)):
        path = f"\\LC:SIP - 01 - Peers({peer})\\"
        out.gauge(path + "SIP - 000 - Connections Active", connections)
        waiting = np.where(trouble & (rng.random(SAMPLES) < waits), rng.integers(1, 6, SAMPLES), NONE)
        out.gauge(path + "SIP - 017 - Sends Outstanding", waiting)
        out.gauge(path + "Flow Controlled Connections", np.where(waiting > 3, 1, NONE))
    for counter, chance in (("051 - Local 503", 0.02), ("053 - Local 504", 0.01)):
        refused = trouble * (rng.random(SAMPLES) < chance) / INTERVAL_S
        out.interval(f"\\LC:SIP - 04 - Responses\\SIP - {counter} Responses/sec", refused)
    return out
