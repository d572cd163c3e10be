"""A burst in the first five seconds of a meter is a rate of 145/s five minutes later.

metrics-core 4.2.30. Guess: the 15-minute rate of 1,000 events at the start is about 3/s after five minutes, as the mean
is. Dropwizard takes the first five seconds for the rate that always was: 200/s, which fades over 15 minutes.

Seen: a 15-minute rate of 144.9/s, and a mean of 3.3/s
"""

from pathlib import Path

from common import expect, run_finding
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
    }
}
"""


def probe(folder: Path) -> None:
    """Mark a burst at the start; read the meter every second by a clock that is moved by hand."""
    packages = ("io.dropwizard.metrics:metrics-core:4.2.30", "org.slf4j:slf4j-nop:1.7.36")
    rates = run_java(folder, _SOURCE, *packages).split()
    expect(rates, ["144.9", "3.3"], "the 15-minute rate and the mean of a burst, five minutes later")


if __name__ == "__main__":
    run_finding(probe)
