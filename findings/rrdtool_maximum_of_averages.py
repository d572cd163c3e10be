"""RRDtool's MAX keeps the highest mean of a step, not the highest sample, and a restarted COUNTER becomes its peak.

RRDtool 1.7.2. Guess: an archive of MAX keeps the highest value that was written. A sample first becomes a mean over
the step in which it lies, and one written in the middle of a step counts half in that step and half in the next. MAX
is the highest of these means: one sample of 100 among zeros, every 10 s as the step is, has the maximum 50.
A COUNTER that becomes smaller has wrapped at 2^32: a restart that takes it from 1,004,000 to 100 is a rate of
429,396,340 /s for one step. DERIVE with a minimum of 0 has no value there.

Seen: 50 for the maximum of 0, 100, 0 written 5 s off the step; 429396339.5 (COUNTER), not a number (DERIVE)
"""

import math
from pathlib import Path

from common import expect, run_finding
from programs import START, install_rrdtool


def probe(folder: Path) -> None:
    """Write a peak off the step, and a counter that is restarted."""
    rrdtool = install_rrdtool(folder)
    rrdtool("create", "gauge.rrd", "DS:v:GAUGE:20:U:U", "RRA:MAX:0.5:1:100", "RRA:MAX:0.5:6:100")
    samples = [f"{START + 10 * position + 5}:{100 if position == 4 else 0}" for position in range(1, 13)]
    rrdtool("update", "gauge.rrd", *samples)
    for resolution in (10, 60):
        highest = max(value for row in rrdtool.fetch("gauge.rrd", "MAX", resolution, 110) for value in row)
        expect(highest, 50.0, f"the maximum at steps of {resolution} s")
    rrdtool("create", "counter.rrd", "DS:c:COUNTER:20:U:U", "DS:d:DERIVE:20:0:U", "RRA:AVERAGE:0.5:1:100")
    counts = [1_001_000, 1_002_000, 1_003_000, 1_004_000, 100, 1_100]
    rrdtool("update", "counter.rrd", *(f"{START + 10 * (i + 1)}:{count}:{count}" for i, count in enumerate(counts)))
    rates = rrdtool.fetch("counter.rrd", "AVERAGE", 10, 50)
    expect([row[0] for row in rates[1:4]], [100.0, 100.0, 100.0], "the rate before the restart")
    expect(rates[4][0], 429396339.5, "the COUNTER's rate over the restart")
    expect(math.isnan(rates[4][1]), True, "whether DERIVE has no value there")


if __name__ == "__main__":
    run_finding(probe)
