"""The row of a JMeter transaction begins before its pauses, leaves them out of `elapsed`, and comes after its parts.

JMeter 5.6.3, default columns, a transaction as its editor makes it. Guess: `timeStamp` + `elapsed` is when a row
ended, and rows are in order of time. A transaction's `timeStamp` is before the first pause, its `elapsed` is without
the pauses, which stand in `IdleTime`: it ended at `timeStamp` + `elapsed` + `IdleTime`. Read as other rows, requests
in flight are counted while the user thought. The row comes after those of its parts, with an earlier time and the URL
`null`.

Seen: two requests of some 50 ms after 300 ms of pause each: `elapsed` below 600, `IdleTime` 600 and more; the end of
the last part within 50 ms of `timeStamp` + `elapsed` + `IdleTime`
"""

from pathlib import Path

from common import expect, run_finding
from jmeter import run_plan


def probe(folder: Path) -> None:
    """Run a transaction of two pages with pauses, twice; look at the second."""
    rows = run_plan(folder, {"page": "/", "second": "/second"}).rows[3:]
    expect([row["label"] for row in rows], ["page", "second", "order"], "the order of rows")
    begin, elapsed, idle = (int(rows[2][name]) for name in ("timeStamp", "elapsed", "IdleTime"))
    parts = [(int(row["timeStamp"]), int(row["elapsed"])) for row in rows[:2]]
    expect(begin < parts[0][0] - 250, True, "whether the transaction begins before its first pause")
    expect(abs(elapsed - sum(part[1] for part in parts)) < 50, True, f"whether {elapsed} ms are the parts alone")
    expect(idle >= 600, True, f"whether IdleTime, {idle} ms, has both pauses")
    last = sum(parts[1])
    expect(abs(begin + elapsed + idle - last) < 50, True, "whether it ends with its last part")
    expect(rows[2]["URL"], "null", "the transaction's URL")


if __name__ == "__main__":
    run_finding(probe)
