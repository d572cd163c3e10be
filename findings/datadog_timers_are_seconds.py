"""Datadog's client sends seconds and calls them milliseconds: another StatsD server shows a thousandth.

datadog 0.56.0, statsd 4.0.1. Guess: a timed block of 200 ms is `200|ms` from any client of StatsD, as `ms` says.
`timed` of datadog sends `0.2|ms` unless the client has `use_ms`; the client of statsd sends `200|ms`. What takes `ms`
for milliseconds, as statsd_exporter and collectd do, shows 0.2 ms for one service and 200 ms for the other.

Seen: datadog at least 0.2 and below 20, with `use_ms` and statsd at least 200, all of them `|ms`
"""

import socket
import time
from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Time a block of 0.2 s by each client."""
    use_python_packages(folder, "datadog==0.56.0", "statsd==4.0.1")
    from datadog.dogstatsd import DogStatsd
    from statsd import StatsClient

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(30)
        port = server.getsockname()[1]
        values: list[float] = []
        for use_ms in (False, True):
            client = DogStatsd(host="127.0.0.1", port=port, use_ms=use_ms, disable_telemetry=True)
            with client.timed("block"):
                time.sleep(0.2)
            client.flush()
            values.append(_milliseconds(server))
        with StatsClient("127.0.0.1", port).timer("block"):
            time.sleep(0.2)
        values.append(_milliseconds(server))
    expect(0.19 < values[0] < 20, True, f"whether {values[0]} of datadog are seconds")
    expect(values[1] > 190, True, f"whether {values[1]} of datadog with use_ms are milliseconds")
    expect(values[2] > 190, True, f"whether {values[2]} of statsd are milliseconds")


def _milliseconds(server: socket.socket) -> float:
    value, kind = server.recv(1000).decode().strip().partition(":")[2].split("|")[:2]
    expect(kind, "ms", "the unit")
    return float(value)


if __name__ == "__main__":
    run_finding(probe)
