"""sockperf's latency is half of the round trip, and so are its percentiles and its maximum.

sockperf 3.7. Guess: the latency of `ping-pong` is the time from a message to its answer, as of ping. It is half of
that: a request that took 1.8 ms is a maximum of 0.9 ms. Only `--full-rtt` shows the whole time.

Seen: each `latency(usec)` of the full log is half of rxTime less txTime
"""

import csv
import subprocess
from pathlib import Path

from common import expect, free_port, install_debian_package, output_of, run_finding


def probe(folder: Path) -> None:
    """Compare each latency of a second of messages with their times, with and without --full-rtt."""
    sockperf = install_debian_package(folder, "sockperf=3.7-1") / "usr/bin/sockperf"
    for options, parts in (([], 2), (["--full-rtt"], 1)):
        address = ["-i", "127.0.0.1", "-p", str(free_port())]
        server = subprocess.Popen([sockperf, "server", *address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            log = folder / f"{parts}.csv"
            output_of([sockperf, "ping-pong", *address, "-t", "1", *options, f"--full-log={log}"])
        finally:
            server.terminate()
            server.wait(30)
        lines = log.read_text("utf-8").splitlines()
        start = next(position for position, line in enumerate(lines) if line.startswith("packet, "))
        rows = [row for row in csv.reader(lines[start + 1 :]) if len(row) == 4]
        expect(len(rows) > 10, True, "whether messages were answered")
        for _, sent, received, latency in rows:
            trip = (float(received) - float(sent)) * 1e6
            expect(abs(trip / parts - float(latency)) < 0.01, True, f"whether {latency} is 1/{parts} of {trip}")


if __name__ == "__main__":
    run_finding(probe)
