"""All times are 100 ms, and Micrometer's median, 99th and 100th percentile are 96.5 ms.

micrometer-core 1.15.0. Guess: percentiles of equal times are that time, or the border above it. `publishPercentiles`
keeps one significant digit unless `percentilePrecision` is set, and the value is below the step's border: all
percentiles lie up to 4 % below the shortest time, while mean and maximum are exact. With two digits it is 99.6 ms.

Seen: 96.5, 96.5, 96.5, maximum 100.0, mean 100.0; with precision 2 99.6
"""

from pathlib import Path

from common import expect, run_finding
from programs import run_java

_SOURCE = """
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.TimeUnit;

public class Probe {
    public static void main(String[] arguments) {
        var registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, new MockClock());
        for (Integer digits : new Integer[] {null, 2}) {
            Timer timer = Timer.builder("t" + digits).publishPercentiles(0.5, 0.99, 1.0).percentilePrecision(digits)
                .register(registry);
            for (int call = 0; call < 100; call++) timer.record(100, TimeUnit.MILLISECONDS);
            for (var value : timer.takeSnapshot().percentileValues()) print(value.value(TimeUnit.MILLISECONDS));
            print(timer.max(TimeUnit.MILLISECONDS));
            print(timer.mean(TimeUnit.MILLISECONDS));
        }
    }

    static void print(double milliseconds) {
        System.out.printf(java.util.Locale.ROOT, "%.1f%n", milliseconds);
    }
}
"""


def probe(folder: Path) -> None:
    """Record 100 times of 100 ms with each precision."""
    seen = run_java(folder, _SOURCE, "io.micrometer:micrometer-core:1.15.0").split()
    expect(seen[:5], ["96.5", "96.5", "96.5", "100.0", "100.0"], "percentiles, maximum and mean")
    expect(seen[5:], ["99.6", "99.6", "99.6", "100.0", "100.0"], "percentiles, maximum and mean with two digits")


if __name__ == "__main__":
    run_finding(probe)
