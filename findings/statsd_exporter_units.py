"""statsd_exporter divides timers by a thousand, but neither histograms nor distributions of the same milliseconds.

statsd_exporter 0.28.0. Guess: `250|ms`, `250|h` and `250|d` of one client are one figure. A timer is taken for
milliseconds and becomes seconds, 0.25; the other two kinds stay 250. A timer with a sample rate of 0.1 is observed ten
times. A gauge that is sent as `-4` before it had a value is a step down from 0: no gauge below zero can be set.

Seen: sums 0.25, 250 and 250; a count of 10; -4, and -8 when it is sent again
"""

import socket
import time
from pathlib import Path

from common import expect, fetch, free_port, install_go_program, run_finding, serve

_LINES = ("timer:250|ms", "histogram:250|h", "distribution:250|d", "sampled:100|ms|@0.1", "gauge:-4|g", "gauge:-4|g")


def probe(folder: Path) -> None:
    """Send a line of each kind."""
    exporter = install_go_program(folder, "github.com/prometheus/statsd_exporter@v0.28.0")
    statsd, web = free_port(), f"127.0.0.1:{free_port()}"
    options = [f"--web.listen-address={web}", f"--statsd.listen-udp=127.0.0.1:{statsd}", "--statsd.listen-tcp="]
    url = f"http://{web}/metrics"
    with serve([exporter, *options], url, folder), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        for line in _LINES:
            client.sendto(line.encode(), ("127.0.0.1", statsd))
        series: dict[str, str] = {}
        for _ in range(100):
            series = dict(line.rsplit(" ", 1) for line in fetch(url).splitlines() if not line.startswith("#"))
            if series.get("gauge") == "-8":
                break
            time.sleep(0.1)
    expect([series[f"{kind}_sum"] for kind in ("timer", "histogram", "distribution")], ["0.25", "250", "250"], "sums")
    expect(series["sampled_count"], "10", "observations of a timer that was sent once")
    expect(series["gauge"], "-8", "a gauge that was set to -4 twice")


if __name__ == "__main__":
    run_finding(probe)
