"""A burst in the first five seconds is a rate of 145/s five minutes later; a port of the same meter begins from zero.

metrics-core 4.2.30, measured-core 2.0.0. Guess: the 15-minute rate of 1,000 events at the start is about 3/s after
five minutes, as the mean is, and ports of Dropwizard's meter agree. Dropwizard takes the first five seconds for the
rate that always was: 200/s, which fades over 15 minutes. measured-core begins from 0: of a steady 100/s it shows 28/s
after five minutes. A histogram's maximum is that of 1,028 samples that are kept: one long time among 100,000 is
mostly lost.

Seen: 144.9 and mean 3.3; 28.3 of 100; the maximum of at least three of five histograms is 1, not 100,000
"""

from pathlib import Path

from common import expect, install_npm_packages, output_of, run_finding
from programs import run_java

_SOURCE = """
import com.codahale.metrics.*;

public class Probe {
    static long now = 0;

    public static void main(String[] arguments) {
        Meter meter = new Meter(new Clock() { public long getTick() { return now; } });
        meter.mark(1000);
        for (int second = 1; second <= 300; second++) {
            now += 1_000_000_000L;
            meter.getFifteenMinuteRate();
        }
        System.out.printf(java.util.Locale.ROOT, "%.1f %.1f%n", meter.getFifteenMinuteRate(), meter.getMeanRate());
        int lost = 0;
        for (int run = 0; run < 5; run++) {
            Histogram histogram = new Histogram(new ExponentiallyDecayingReservoir());
            for (int call = 0; call < 100000; call++) histogram.update(call == 1000 ? 100000 : 1);
            if (histogram.getSnapshot().getMax() == 1) lost++;
        }
        System.out.println(lost >= 3);
    }
}
"""
_SCRIPT = """
const Average = require("PACKAGE/lib/util/ExponentiallyMovingWeightedAverage");
const average = new Average(15 * 60 * 1000, 5000);
for (let second = 1; second <= 300; second++) {
  average.update(100);
  if (second % 5 === 0) average.tick();
}
console.log(average.rate(1000).toFixed(1));
"""


def probe(folder: Path) -> None:
    """Mark a burst in the one, a steady rate in the other, by clocks that are moved by hand."""
    packages = ("io.dropwizard.metrics:metrics-core:4.2.30", "org.slf4j:slf4j-nop:1.7.36")
    rate, mean, lost = run_java(folder, _SOURCE, *packages).split()
    expect([rate, mean], ["144.9", "3.3"], "the 15-minute rate and the mean of a burst, five minutes later")
    expect(lost, "true", "whether most histograms lost the longest time")
    package = install_npm_packages(folder, "measured-core@2.0.0").parent / "measured-core"
    script = _SCRIPT.replace("PACKAGE", str(package))
    expect(output_of(["node", "-e", script]).strip(), "28.3", "the 15-minute rate of a steady 100/s in measured-core")


if __name__ == "__main__":
    run_finding(probe)
