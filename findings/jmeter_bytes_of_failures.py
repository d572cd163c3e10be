"""JMeter's `bytes` of a request without an answer is the length of a Java stack trace.

JMeter 5.6.3, default columns. Guess: 0 bytes, or nothing. A read timeout "received" some 2,700 bytes, the text of the
exception, while `sentBytes` is 0 although the request was sent; a page of the same server has 111 bytes. A server
that answers nothing has more throughput in KB/s than one that does. The row has `Latency` 0: the mean latency falls
when requests time out.

Seen: over 1,000 bytes received, 0 sent, latency 0 for the timeout, under 200 bytes for the page
"""

from pathlib import Path

from common import expect, run_finding
from jmeter import run_plan


def probe(folder: Path) -> None:
    """Run a page and one that hangs."""
    page, hanging = run_plan(folder, {"page": "/", "hanging": "/hang"}).rows[:2]
    expect(int(page["bytes"]) < 200, True, f"whether the page has few bytes: {page['bytes']}")
    expect(hanging["responseCode"].startswith("Non HTTP response code"), True, "whether the other timed out")
    expect(int(hanging["bytes"]) > 1000, True, f"whether the timeout has many bytes: {hanging['bytes']}")
    expect((hanging["sentBytes"], hanging["Latency"]), ("0", "0"), "bytes sent, latency")
    expect(int(hanging["elapsed"]) >= 500, True, f"whether it waited: {hanging['elapsed']} ms")


if __name__ == "__main__":
    run_finding(probe)
