"""A rate of Kafka's clients begins at a thirtieth, and after a minute still counts what ended half a minute ago.

kafka-clients 4.0.0. Guess: 100 records a second are a rate of about 100/s from the first seconds on. A rate is the
count of the last 30 to 60 s, divided by at least 30 s, also where the client has run for one: 100 records in the
first second are 3.3/s, 30 s later 103. A client that is started for each short job is never seen at its rate. After
the last record the rate sinks for a minute.

Seen: 3.3 at once, 27.5 after 10 s, 103.3 after 30 s; 51.7 half a minute after the end, 0.0 after a minute
"""

from pathlib import Path

from common import expect, run_finding
from programs import run_java

_SOURCE = """
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.stats.Rate;

public class Probe {
    public static void main(String[] arguments) {
        Rate rate = new Rate();
        MetricConfig config = new MetricConfig();
        long start = 1764322800000L;
        for (int second = 0; second <= 180; second++) {
            long now = start + second * 1000L;
            if (second <= 120) rate.record(config, 100, now);
            if (java.util.List.of(0, 10, 30, 150, 180).contains(second))
                System.out.printf(java.util.Locale.ROOT, "%.1f%n", rate.measure(config, now + (second > 120 ? 0 : 1)));
        }
    }
}
"""


def probe(folder: Path) -> None:
    """Record 100 a second for two minutes, then nothing for one."""
    rates = run_java(folder, _SOURCE, "org.apache.kafka:kafka-clients:4.0.0").split()
    expect(rates, ["3.3", "27.5", "103.3", "51.7", "0.0"], "rates after 0, 10, 30, 150 and 180 s")


if __name__ == "__main__":
    run_finding(probe)
