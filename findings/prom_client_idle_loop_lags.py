"""The event loop of an idle Node.js process lags by 10 ms, as its lag includes the interval of the measurement.

prom-client 15.1.3, default metrics. Guess: `nodejs_eventloop_lag_p50_seconds` of an idle process is about 0, and
`nodejs_eventloop_lag_seconds` is the same figure at one moment. The percentiles, the mean and the minimum are times
between ticks of a timer of 10 ms (`eventLoopMonitoringPrecision`), so none is below about 0.009; the figure without a
suffix is a lag. A limit of 10 ms on the median is always passed.

Seen: minimum and median of 0.009 s and more of a process that does nothing; 0.018 and more with a precision of 20
"""

import json
from pathlib import Path

from common import expect, install_npm_packages, output_of, run_finding

_SCRIPT = """
const client = require('prom-client');
client.collectDefaultMetrics({eventLoopMonitoringPrecision: Number(process.argv[2])});
setTimeout(async () => {
  const metrics = await client.register.getMetricsAsJSON();
  const value = name => metrics.find(metric => metric.name === name).values[0].value;
  console.log(JSON.stringify(['min', 'p50', 'mean'].map(figure => value(`nodejs_eventloop_lag_${figure}_seconds`))));
}, 1500);
"""


def probe(folder: Path) -> None:
    """Measure an idle process with two precisions."""
    modules = install_npm_packages(folder, "prom-client@15.1.3").parent
    (folder / "idle.js").write_text(_SCRIPT, "utf-8")
    for precision_ms in (10, 20):
        lags = json.loads(output_of(["node", "idle.js", str(precision_ms)], folder, NODE_PATH=str(modules)))
        expect(min(lags) >= 0.9 * precision_ms / 1000, True, f"whether {lags} include {precision_ms} ms")


if __name__ == "__main__":
    run_finding(probe)
