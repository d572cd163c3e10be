"""JMeter's CSV has more rows than its own total has requests, and nothing in a row says so.

JMeter 5.6.3, default columns, non-GUI. Guess: a row of the results is a request, and `summary = N` is their number. A
redirect that is followed writes its parent and a row for each hop, numbered `moved-0`, `moved-1`; a transaction
controller writes a row for the requests within it. Neither kind has a mark, all are `success` rows with an `elapsed`.
The summary counts samplers alone: neither hops nor transactions. A page with a redirect in a transaction is five rows
and two requests; the mean of `elapsed` over all rows is of nothing.

Seen: 10 rows of two passes, `summary = 4`
"""

import re
from collections import Counter
from pathlib import Path

from common import expect, run_finding
from jmeter import run_plan


def probe(folder: Path) -> None:
    """Run a page and a redirect in a transaction, twice."""
    results = run_plan(folder, {"page": "/", "moved": "/redirect"})
    labels = Counter(row["label"] for row in results.rows)
    expect(labels, {"page": 2, "moved": 2, "moved-0": 2, "moved-1": 2, "order": 2}, "rows by label")
    expect({row["success"] for row in results.rows}, {"true"}, "success of all rows")
    total = re.search(r"summary =\s+(\d+) in", results.printed)
    expect(total and total[1], "4", "requests in JMeter's own summary")


if __name__ == "__main__":
    run_finding(probe)
