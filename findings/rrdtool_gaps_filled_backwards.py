"""RRDtool gives the time that was missed the value of the sample after it, up to the heartbeat.

RRDtool 1.7.2. Guess: steps without a sample have no value, or that of the sample before. With a heartbeat of three
steps, two missed samples of a gauge get the value of the next: 1, 1, -, -, 9, 1 every 10 s is 1, 1, 9, 9, 9, 1, and
its mean over the minute is 5, where the samples that were written have 3. A pause longer than the heartbeat has no
value until the sample after next: the first sample after it ends the unknown time.

Seen: 1, 1, 9, 9, 9, 1, then four steps without a value before the next; 5 for the minute
"""

import math
from pathlib import Path

from common import expect, run_finding
from programs import START, install_rrdtool


def probe(folder: Path) -> None:
    """Leave out two samples, then three."""
    rrdtool = install_rrdtool(folder)
    rrdtool("create", "gauge.rrd", "DS:v:GAUGE:30:U:U", "RRA:AVERAGE:0.5:1:100", "RRA:AVERAGE:0.5:6:100")
    written = {10: 1, 20: 1, 50: 9, 60: 1, 100: 5, 110: 5, 120: 5}
    rrdtool("update", "gauge.rrd", *(f"{START + second}:{value}" for second, value in written.items()))
    steps = [None if math.isnan(row[0]) else row[0] for row in rrdtool.fetch("gauge.rrd", "AVERAGE", 10, 110)]
    expect(steps, [1.0, 1.0, 9.0, 9.0, 9.0, 1.0, None, None, None, None, 5.0, 5.0], "the steps of two minutes")
    expect(rrdtool.fetch("gauge.rrd", "AVERAGE", 60, 10)[0], [5.0], "the mean of the first minute")


if __name__ == "__main__":
    run_finding(probe)
