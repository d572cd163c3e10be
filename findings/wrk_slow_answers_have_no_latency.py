"""wrk leaves answers that come after its timeout out of the latencies, and counts them as requests.

wrk 4.1.0. Guess: a request that times out is aborted, or its latency is at least the timeout. It is not aborted: its
answer is awaited, counted among the requests and in `Requests/sec`, but its latency is in no figure. The timeout is
2 s if none is given: a service that answers in 3 s has a latency of 0.00us.

Seen, answers after 1.5 s with a timeout of 1 s: `2 requests`, `timeout 2`, `99%    0.00us`
"""

import re
from pathlib import Path

from common import debian_libraries, expect, install_debian_package, output_of, run_finding, serve_pages

_LUA = "2.1.0~beta3+git20220320+dfsg-4.1+deb12u1"


def probe(folder: Path) -> None:
    """Request a page that answers after the timeout, on two connections for less than two answers."""
    root = install_debian_package(folder, "wrk=4.1.0-3+b2", f"libluajit-5.1-2={_LUA}", f"libluajit-5.1-common={_LUA}")
    with serve_pages(delay_s=1.5) as address:
        options = ["-t", "1", "-c", "2", "-d", "2s", "--timeout", "1s", "--latency"]
        printed = output_of([root / "usr/bin/wrk", *options, f"{address}/"], LD_LIBRARY_PATH=debian_libraries(root))
    expect(re.findall(r"(\d+) requests in", printed), ["2"], "requests")
    expect(re.findall(r"timeout (\d+)", printed), ["2"], "timeouts")
    expect(re.findall(r"99% +(\S+)", printed), ["0.00us"], "99th percentile of the latency")


if __name__ == "__main__":
    run_finding(probe)
