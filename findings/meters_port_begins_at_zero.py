"""measured-core's meter begins from zero, where the Dropwizard meter that it follows begins from the first rate.

measured-core 2.0.0. Guess: a steady 100/s has a 15-minute rate of about 100/s after five minutes, as in Dropwizard's
meter. measured-core averages it with a zero from before the start.

Seen: 28.3/s
"""

from pathlib import Path

from common import expect, install_npm_packages, output_of, run_finding

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
    """Count 100 events each second, and tick every 5 s as the meter does."""
    package = install_npm_packages(folder, "measured-core@2.0.0").parent / "measured-core"
    rate = output_of(["node", "-e", _SCRIPT.replace("PACKAGE", str(package))]).strip()
    expect(rate, "28.3", "the 15-minute rate of a steady 100/s after five minutes")


if __name__ == "__main__":
    run_finding(probe)
