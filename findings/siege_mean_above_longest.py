"""siege's mean response time can be longer than its longest, and a page that is missing is in no count of failures.

siege 4.0.7. Guess: the mean is over all requests, and requests are successful or failed. The time of all is divided by
the number of those that did not fail: where half fail, the mean is twice what a request takes, and where all fail it
is 0. A 404 is a transaction, but neither a successful nor a failed one, and the availability is 100 %. A redirect is
two transactions.

Seen, each page in 0.2 s: 0.4 s on average and 0.2 at most; 404: 10 transactions, 0 successful, 0 failed, 100 %; 500:
0 transactions and 0.00 s; 20 transactions of 10 redirects
"""

import json
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding, serve_pages

_SETTINGS = "json_output = true\nparser = false\nlogging = false\nprotocol = HTTP/1.1\nconnection = keep-alive\n"


def probe(folder: Path) -> None:
    """Request ten of each kind of page with two users."""
    siege = install_debian_package(folder, "siege=4.0.7-1+b1") / "usr/bin/siege"
    settings = folder / "siegerc"
    settings.write_text(_SETTINGS, "utf-8")
    results = {}
    with serve_pages(delay_s=0.2) as address:
        for page in ("half", "missing", "error", "redirect"):
            command = [siege, "-R", settings, "-q", "-b", "-c", "2", "-r", "5", f"{address}/{page}"]
            results[page] = json.loads(output_of(command, folder, HOME=str(folder)))
    half = results["half"]
    spent_s = half["concurrency"] * half["elapsed_time"]  # by all 10 requests
    expect(round(half["response_time"] / (spent_s / 10)), 2, "the mean in multiples of the time of a request")
    names = ("transactions", "successful_transactions", "failed_transactions", "availability")
    expect([results["missing"][name] for name in names], [10, 0, 0, 100.0], "counts of pages that are missing")
    expect([results["error"][name] for name in names], [0, 0, 10, 0.0], "counts of pages that fail")
    expect(results["error"]["response_time"], 0.0, "response time of pages that fail")
    expect(results["redirect"]["transactions"], 20, "transactions of 10 redirects")


if __name__ == "__main__":
    run_finding(probe)
