"""tinybench's mean operations per second are not what a second has: a slow call hardly counts.

tinybench 6.2.5. Guess: with a mean latency of 2 ms mean throughput is 500/s. It is the mean of the calls' rates: nine
calls of 1 ms and one of 11 ms are 909/s, though ten calls take 20 ms. Its maximum and its percentiles are of such
rates too. The rarer and longer the pauses, the further it lies above what was done.

Seen: latency mean 2, throughput mean 909.09, 100 calls in 200 ms
"""

import json
from pathlib import Path

from common import expect, install_npm_packages, output_of, run_finding

_SCRIPT = """
import { Bench } from "tinybench";
let now = 0, calls = 0;
const bench = new Bench({ now: () => now, time: 0, iterations: 100, warmup: false });
bench.add("call", () => { now += calls++ % 10 < 9 ? 1 : 11; });
bench.runSync();
const { latency, throughput, totalTime } = bench.tasks[0].result;
console.log(JSON.stringify([latency.mean, throughput.mean, latency.samplesCount, totalTime]));
"""


def probe(folder: Path) -> None:
    """Time calls by a clock of which each tenth call takes 11 ms, the others 1 ms."""
    packages = install_npm_packages(folder, "tinybench@6.2.5").parent.parent
    script = folder / "script.mjs"
    script.write_text(_SCRIPT.replace('"tinybench"', f'"{packages}/node_modules/tinybench/dist/index.js"'), "utf-8")
    latency, throughput, calls, total = json.loads(output_of(["node", script]))
    expect([latency, round(throughput, 2)], [2, 909.09], "mean latency and mean throughput")
    expect([calls, total], [100, 200], "calls and their milliseconds")


if __name__ == "__main__":
    run_finding(probe)
