"""ab's failed requests are answers of another length, not of a failed status, and its rows are in no order of time.

ab 2.3 (apache2-utils 2.4.71). Guess: a 500 is a failed request, and `-g` writes requests as they happened. Ten 500s of
equal length are `Failed requests: 0`; what counts is whether an answer is as long as the first, so that a page with a
counter in it fails. The rows of `-g` are sorted by their total time: drawn in the order of the file, a service that
becomes quicker is a climb.

Seen: `Failed requests: 0` and `Non-2xx responses: 10` of ten 500s; `Failed requests: 9` of ten 200s of which the first
is shorter; ttime 100, 200, 300, 400 ms and more of requests that took 400, 300, 200, 100
"""

import http.server
import itertools
import re
import threading
import time
from pathlib import Path

from common import debian_libraries, expect, install_debian_package, output_of, run_finding, serve_pages


class _QuickerAndLonger(http.server.BaseHTTPRequestHandler):
    """Answers after 400, 300, 200, 100 ms and then at once; the first answer is shorter than the rest."""

    delays_s = itertools.chain((0.4, 0.3, 0.2, 0.1), itertools.repeat(0))
    bodies = itertools.chain((b"1",), itertools.repeat(b"12"))

    def do_GET(self) -> None:
        time.sleep(next(self.delays_s))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(next(self.bodies))

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


def probe(folder: Path) -> None:
    """Request pages that fail, then pages that become quicker and longer."""
    root = install_debian_package(
        folder, "apache2-utils=2.4.71-1~deb12u1", "libapr1=1.7.2-3+deb12u1", "libaprutil1=1.6.3-1+deb12u1"
    )
    rows = folder / "rows.tsv"
    ab = [root / "usr/bin/ab", "-q", "-n", "10", "-g", rows]
    with serve_pages() as address:
        printed = output_of([*ab, f"{address}/error"], LD_LIBRARY_PATH=debian_libraries(root))
    expect(_failed(printed), ["0"], "failed requests of ten 500s")
    expect(re.findall(r"Non-2xx responses: +(\d+)", printed), ["10"], "answers that are no 2xx")
    server = http.server.HTTPServer(("127.0.0.1", 0), _QuickerAndLonger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    printed = output_of([*ab, f"http://127.0.0.1:{server.server_port}/"], LD_LIBRARY_PATH=debian_libraries(root))
    server.shutdown()
    expect(_failed(printed), ["9"], "failed requests of ten 200s")
    durations_ms = [int(line.split("\t")[4]) for line in rows.read_text("utf-8").splitlines()[1:]]
    expect(durations_ms, sorted(durations_ms), "total times in the order of the file")
    expect(durations_ms[-1] >= 400, True, "whether the first request is the last row")


def _failed(printed: str) -> list[str]:
    return re.findall(r"Failed requests: +(\d+)", printed)


if __name__ == "__main__":
    run_finding(probe)
