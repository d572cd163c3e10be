"""A timer that is sampled at 0.1 lasts ten times as long in collectd, and is counted once.

collectd 5.12.0. Guess: `100|ms|@0.1` is one of ten timers of 100 ms: a mean of 0.1 s and a count of 10, as a counter
of that rate counts ten. The time is divided by the rate, and the timer counts once. Mean, bounds and sum are ten
times too long: a client that begins to sample seems to have slowed down.

Seen: means 0.1 and 1.0, upper bounds 0.1 and 1.0, counts 1 and 1; 10 of the sampled counter
"""

import socket
import subprocess
import time
from pathlib import Path

from common import Changed, expect, free_port, install_debian_package, run_finding

_LINES = ("plain:100|ms", "sampled:100|ms|@0.1", "counter:1|c|@0.1")


def probe(folder: Path) -> None:
    """Send a plain timer, a sampled one and a sampled counter."""
    root = install_debian_package(folder, "collectd-core=5.12.0-14")
    port = free_port()
    settings = folder / "collectd.conf"
    settings.write_text(
        f'Interval 1\nHostname "h"\nFQDNLookup false\nBaseDir "{folder}"\nPIDFile "{folder}/pid"\n'
        f'PluginDir "{root}/usr/lib/collectd"\nTypesDB "{root}/usr/share/collectd/types.db"\n'
        f'LoadPlugin csv\n<Plugin csv>\nDataDir "{folder}/csv"\n</Plugin>\nLoadPlugin statsd\n<Plugin statsd>\n'
        f'Host "127.0.0.1"\nPort "{port}"\nTimerUpper true\nTimerCount true\n</Plugin>\n',
        "utf-8",
    )
    values: dict[str, str] = {}
    collectd = subprocess.Popen([root / "usr/sbin/collectd", "-C", settings, "-f"], stderr=subprocess.DEVNULL)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect(("127.0.0.1", port))
            for _ in range(100):
                try:
                    client.send(b"ready:1|g")
                except ConnectionRefusedError:
                    continue
                finally:
                    time.sleep(0.1)
                if list(folder.glob("csv/h/statsd/gauge-ready-*")):
                    break
            for line in _LINES:
                client.send(line.encode())
        for _ in range(100):
            time.sleep(0.1)
            values = _first_values(folder)
            if "derive-counter" in values and "gauge-sampled-count" in values:
                break
        else:
            raise Changed("collectd shows nothing within 10 s")
    finally:
        collectd.terminate()
        collectd.wait(30)
    values = _first_values(folder)
    for kind, plain, sampled in (("average", 0.1, 1.0), ("upper", 0.1, 1.0)):
        seen = [float(values[f"latency-{name}-{kind}"]) for name in ("plain", "sampled")]
        expect(seen, [plain, sampled], f"{kind} of the plain and the sampled timer")
    counts = [float(values[f"gauge-{name}-count"]) for name in ("plain", "sampled")]
    expect(counts, [1.0, 1.0], "counts of the plain and the sampled timer")
    expect(values["derive-counter"], "10", "the sampled counter")


def _first_values(folder: Path) -> dict[str, str]:
    """Return the first value of each series, by its name without the day."""
    values: dict[str, str] = {}
    for file in folder.glob("csv/h/statsd/*"):
        rows = file.read_text("utf-8").splitlines()[1:]
        if present := [row.split(",")[1] for row in rows if not row.endswith("nan") and float(row.split(",")[1])]:
            values[file.name.rsplit("-", 3)[0]] = present[0]
    return values


if __name__ == "__main__":
    run_finding(probe)
