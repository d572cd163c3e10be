"""The figures of "OCS 2007 on HP BladeSystem" (2008) that the simulation follows.

Comments name the figure or table of the study; numbers without one are our own. There are two simplifications. Users
log on at a constant rate; in the study the rate falls as load drivers finish. Only two of the four front ends are
simulated, each with a quarter of the users.
"""

from dataclasses import dataclass
from typing import TypeAlias

Points: TypeAlias = tuple[tuple[float, float], ...]  # seconds of the test, and the value at that time
INTERVAL_S = 5
DURATION_S = 9000
STEADY_FROM_S = 1200  # users log on for 833 s; then "the first several minutes of the user profile"
USERS = 30_000  # Test methodology
LOGON_RATE = 36  # users/s, run table
FRONT_ENDS = 4  # Test topology
CORES = 4  # Test topology: two dual-core processors in every server
# The share of the load of logging on, and of the load of steady work.
RAMP_LOAD: Points = ((0, 0), (30, 1), (1080, 1), (1170, 0))
STEADY_LOAD: Points = ((1080, 0), (1170, 1))
TROUBLE_S = (60, 700)  # while many log on at once, messages may have to wait
LOG_WRITES = 44.0  # per s, "fairly constant" (figure 8)
LOG_LATENCY_PEAK_S = 0.021  # figure 8
FLUSH_FIRST_S, FLUSH_EVERY_S = 120, 300  # figure 8: the log is flushed to the database every 5 minutes
FLUSH_WRITES = (300.0, 878.0, 624.0, 346.0, 162.0)  # per s, sample by sample; their mean is 462 (Test results)
FLUSH_SPREAD, SAMPLE_SPREAD = 0.25, 0.12  # 878 x 1.25 x 1.12 stays within the maximum of 1,230 (Test results)
FLUSH_LATENCY_S = (0.012, 0.055, 0.042, 0.020, 0.010)  # with the slow ones, 30 ms on average (Test results)
FLUSH_SLOW_S = {6: 0.180, 18: 0.142}  # the last writes of two flushes: maximum in the text, and in figure 8
FLUSH_SHORT_EVERY = 9  # every ninth flush lacks its last sample: 8.2 % of the samples are not zero (Test results)
CALENDAR_S = {3480: 35.0, 7080: 27.0}  # 11:00 and 12:00: 20 to 40 points more CPU for a moment (figure 7)
PAGE_LIFE_LOW_S, PAGE_LIFE_HIGH_S = 200, 1080  # with 4 GB; "never goes over 1100" (figure 10)
BURST_COST = 0.75  # of the page life expectancy above the lowest, at most
BURST_SHARE = 0.022  # of the samples, with 4 GB: reads of data that had left memory
BURST_READS = 280.0  # per s on top of the usual, at most: the peak "at over 250" (figure 10)


@dataclass(frozen=True)
class StudyLevel:
    """The values of a quantity in the three phases of a run: without users, while users log on, and in steady state."""

    idle: float
    ramp: float
    steady: float


# Run table: 65/30 and 7/20 %. These are means that include the start and end of each phase; plateaus differ a little.
SQL_CPU = StudyLevel(2, 68, 29.5)
FRONT_END_CPU = StudyLevel(1, 6.2, 20)


@dataclass(frozen=True)
class StudySetup:
    """The SQL Server's memory, and the effects of that memory, which are all that differs between the two runs."""

    memory: str
    sql_memory_mb: int
    sql_system_mb: float  # held by everything but SQL Server
    sql_private_mb: tuple[float, float]  # held by SQL Server at the start and at the end
    page_life_start_s: float
    evicting: bool  # pages must leave memory to make room for others
    database_reads: Points  # per s, without bursts
    missed_percent: float  # of the look-ups in the buffer cache, at 50 reads/s
    paging_reads: float  # per s
    queue_ms: StudyLevel
    sproc_ms: StudyLevel
    holding_s: StudyLevel


SETUPS = (
    StudySetup(
        memory="8GB",
        sql_memory_mb=8192,
        sql_system_mb=1000,
        sql_private_mb=(1400, 6250),  # keeps a tenth of the memory free, as current limits require
        page_life_start_s=2700,  # rebooted 45 minutes before
        evicting=False,
        # Figure 9: peaks at the start, levels off, rises with the change to user activity, tapers to near zero.
        database_reads=(
            *((0, 30), (15, 330), (90, 190), (240, 125), (820, 110), (900, 210), (1020, 170)),
            *((1080, 50), (1140, 8), (1200, 4), (1500, 2), (2100, 0.5), (DURATION_S, 0.3)),
        ),
        missed_percent=0.2,
        paging_reads=0.3,
        queue_ms=StudyLevel(1, 9, 5),
        sproc_ms=StudyLevel(1, 14, 8),
        holding_s=StudyLevel(0.01, 0.12, 0.05),
    ),
    StudySetup(
        memory="4GB",
        sql_memory_mb=4096,
        sql_system_mb=730,
        sql_private_mb=(3300, 3302),
        page_life_start_s=1000,
        evicting=True,
        # Figure 10: hovers near 50 in steady state.
        database_reads=(
            *((0, 30), (15, 320), (90, 170), (240, 95), (820, 85), (900, 150), (1020, 110)),
            *((1140, 44), (DURATION_S, 44)),
        ),
        missed_percent=2.4,
        paging_reads=3.5,
        queue_ms=StudyLevel(2, 54, 46),
        sproc_ms=StudyLevel(2, 64, 56),
        holding_s=StudyLevel(0.01, 1.1, 0.7),
    ),
)
