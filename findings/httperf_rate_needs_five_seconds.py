"""httperf's reply rate is 0.0 for a test of less than five seconds.

httperf 0.9.0. Guess: `Reply rate ... avg` is replies per second of the test. It is the mean of rates of whole periods
of five seconds: a shorter test has none, and shows 0.0 beside its replies; of a longer test the rest is left out.

Seen: `replies 20`, `Reply rate [replies/s]: min 0.0 avg 0.0 max 0.0 stddev 0.0 (0 samples)`
"""

import re
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding, serve_pages


def probe(folder: Path) -> None:
    """Make twenty connections in about a second."""
    httperf = install_debian_package(folder, "httperf=0.9.0-9+b2") / "usr/bin/httperf"
    with serve_pages() as address:
        port = address.rpartition(":")[2]
        printed = output_of([httperf, "--server", "127.0.0.1", "--port", port, "--num-conns", "20", "--rate", "20"])
    expect(re.findall(r"Total: .* replies (\d+)", printed), ["20"], "replies")
    rate = re.findall(r"Reply rate \[replies/s\]: (.*)", printed)
    expect(rate, ["min 0.0 avg 0.0 max 0.0 stddev 0.0 (0 samples)"], "reply rate")


if __name__ == "__main__":
    run_finding(probe)
