"""HAProxy's response time is that of requests that may be hours old, and of none that still waits.

HAProxy 2.6.12. Guess: `rtime` is the average of the last seconds, as `rate` is, and 0 without requests. It is an
average over the last 1,024 requests that were answered: without requests it stays, and while the only request hangs
it says what the ones before took. A server that stopped answering looks as quick as it was.

Seen: `rate` 5 and then 0, `rtime` the same before and after, and also while `scur` is 1 for a request that hangs
"""

import csv
import threading
import time
from contextlib import suppress
from pathlib import Path

from common import debian_libraries, expect, fetch, free_port, install_debian_package, run_finding, serve, serve_pages


def probe(folder: Path) -> None:
    """Send five requests, wait, and send one that hangs."""
    root = install_debian_package(
        folder,
        "haproxy=2.6.12-1+deb12u4",
        "liblua5.3-0=5.3.6-2",
        "libopentracing-c-wrapper0=1.1.3-3+b1",
        "libopentracing1=1.6.0-4",
    )
    front, statistics = (f"127.0.0.1:{free_port()}" for _ in range(2))
    settings = folder / "haproxy.cfg"
    with serve_pages(delay_s=0.2) as address:
        settings.write_text(
            "defaults\n mode http\n timeout connect 9s\n timeout client 30s\n timeout server 30s\n"
            f"listen pages\n bind {front}\n server s {address.removeprefix('http://')}\n"
            f"frontend statistics\n bind {statistics}\n stats enable\n stats uri /\n",
            "utf-8",
        )
        url = f"http://{statistics}/;csv"
        with serve(
            [root / "usr/sbin/haproxy", "-db", "-f", settings], url, folder, LD_LIBRARY_PATH=debian_libraries(root)
        ):
            for _ in range(5):
                fetch(f"http://{front}/")
            busy = _server(url)
            time.sleep(3)
            idle = _server(url)
            threading.Thread(target=_hang, args=(front,), daemon=True).start()
            time.sleep(2)
            waiting = _server(url)
    expect(int(busy["rtime"]) > 150, True, "whether requests of 200 ms took about that long")
    expect((idle["rate"], idle["rtime"]), ("0", busy["rtime"]), "rate and response time without requests")
    expect((waiting["scur"], waiting["rtime"]), ("1", busy["rtime"]), "sessions and response time of one that hangs")


def _hang(front: str) -> None:
    with suppress(OSError):
        fetch(f"http://{front}/hang")


def _server(url: str) -> dict[str, str]:
    """Return the row of the only server."""
    rows = csv.DictReader(fetch(url).removeprefix("# ").splitlines())
    return next(row for row in rows if row["svname"] == "s")


if __name__ == "__main__":
    run_finding(probe)
