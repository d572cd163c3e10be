"""The common counters of a current Windows host in a healthy run."""

from plimsoll.demo.tables import Combined, Counter

INTERVAL_S = 30
MINUTES = 60
CORES = 8
EACH = tuple(f"\\Processor({number})\\% Processor Time" for number in range(CORES))
NIC = "Intel[R] Ethernet Controller X710"
_ADAPTER = f"\\Network Interface({NIC})\\"


def volume(letter: str, *, free_percent: float, free_mb: float) -> tuple[Counter, ...]:
    """A volume that answers in a few milliseconds."""
    path = f"\\LogicalDisk({letter}:)\\"
    return (
        Counter(path + "Avg. Disk sec/Read", 0.003, spread=0.2),
        Counter(path + "Avg. Disk sec/Write", 0.002, spread=0.2),
        Counter(path + "% Free Space", free_percent, "fraction", 0),
        Counter(path + "Free Megabytes", free_mb, "gauge", 0),
    )


def windows(*, busy: float, available_mb: float) -> tuple[Counter | Combined, ...]:
    """Processors (percent busy), memory and network."""
    return (
        *(Counter(path, busy, "percent", 0.15) for path in EACH),
        Combined("\\Processor(_Total)\\% Processor Time", EACH, mean=True),
        Counter("\\Processor(_Total)\\% Privileged Time", 0.2 * busy, "percent", 0.15),
        Counter("\\System\\Processor Queue Length", 1, "gauge", 1),
        Counter("\\System\\Context Switches/sec", 9000, spread=0.1),
        Counter("\\Memory\\Available MBytes", available_mb, "gauge", 0.01),
        Counter("\\Memory\\% Committed Bytes In Use", 58, "percent", 0.01),
        Counter("\\Memory\\Pages/sec", 12, spread=0.5),
        Counter(_ADAPTER + "Bytes Total/sec", 9e6, spread=0.1),
        Counter(_ADAPTER + "Current Bandwidth", 1e10, "gauge", 0),
        Counter(_ADAPTER + "Output Queue Length", 0, "gauge"),
        Counter(_ADAPTER + "Packets Outbound Errors", 0, "gauge"),
        Counter(_ADAPTER + "Packets Received Errors", 0, "gauge"),
    )
