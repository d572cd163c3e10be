"""An OpenLDAP server recorded by sadf: processors, context switches and memory, but no latencies."""

from datetime import datetime

from plimsoll.demo.tables import Breach, Counter, Host, System, between
from plimsoll.demo.writers import ZONE, sadf

HOST = "ldap01"
SWITCHES = "task cswch/s"


def _processor(number: int, user: float, system: float) -> tuple[Counter, ...]:
    return (
        Counter(f"CPU {number} %user", user, "percent", 0.1),
        Counter(f"CPU {number} %nice", 0),
        Counter(f"CPU {number} %system", system, "percent", 0.1),
        Counter(f"CPU {number} %iowait", 0.2, spread=0.5),
        Counter(f"CPU {number} %steal", 0),
    )


OPENLDAP = System(
    folder="openldap",
    title="OpenLDAP",
    document="Measurement and Analysis of LDAP Performance",
    start=datetime(2026, 1, 15, 10, 0, tzinfo=ZONE),
    minutes=40,
    interval_s=15,
    steady_from_s=300,
    hosts=(
        Host(
            HOST,
            processors=2,  # Experimental Setup; the server is bound to one of them
            clock_mhz=200,
            memory_mb=256,
            counters=(
                # The front end uses 64 % of the processing time, the back end 36 %: Conclusion
                *_processor(0, user=26, system=12),
                *_processor(1, user=4, system=2),
                Counter("task proc/s", 0.4, spread=0.5),
                Counter(SWITCHES, 1400, spread=0.1),
                Counter("mem_util kbmemfree", 41_000, "gauge", 0.02),
                Counter("mem_util kbavail", 96_000, "gauge", 0.02),
            ),
        ),
    ),
    changes={
        # Each search opens its own connection, above the 105/s up to which latency stays at 8 ms: Conclusion
        (HOST, "CPU 0 %user"): between(600, 1800, 54, 26),
        (HOST, "CPU 0 %system"): between(600, 1800, 36, 12),
        (HOST, "CPU 1 %user"): between(600, 1800, 11, 4),
        (HOST, SWITCHES): between(900, 1500, 18_000, 1400),
    },
    breaches=(
        Breach("processor-busy", HOST, "cpu0", 840, 1860, "90 % of the processor slapd is bound to"),
        Breach("context-switches", HOST, None, 950, 1510, "18,000/s"),
    ),
    write=sadf,
)
