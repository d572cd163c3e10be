"""The maximum of a Dropwizard histogram is that of 1,028 samples: one long time among 100,000 is mostly lost.

metrics-core 4.2.30. Guess: a histogram's maximum is the longest time that was recorded. It keeps 1,028 samples, drawn
at random, so that the longest of 100,000 is kept about once in a hundred times.

Seen: the maximum of at least three of five histograms is 1, not 100,000
"""

from pathlib import Path

from common import expect, run_finding
from programs import run_java

_SOURCE = """
import com.codahale.metrics.*;

public class Probe {
    public static void main(String[] arguments) {
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


def probe(folder: Path) -> None:
    """Record one long time among 100,000 short ones, in five histograms."""
    packages = ("io.dropwizard.metrics:metrics-core:4.2.30", "org.slf4j:slf4j-nop:1.7.36")
    expect(run_java(folder, _SOURCE, *packages).strip(), "true", "whether most histograms lost the longest time")


if __name__ == "__main__":
    run_finding(probe)
