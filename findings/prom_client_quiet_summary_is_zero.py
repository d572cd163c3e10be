"""A quantile of prom-client is 0 where there is nothing to compute it from: a quiet service answers in 0 s.

prom-client 15.1.3 for Node.js. Guess: a quantile without observations is NaN, as the client for Go writes it, or is
left out. It is 0, before the first observation and once all of them are older than `maxAgeSeconds`: an average or a
minimum over services counts the quiet ones as the quickest.

Seen: 2.5 at first, 0 after the window, with a count of 4
"""

import json
from pathlib import Path

from common import expect, install_npm_packages, output_of, run_finding

_SCRIPT = """
const client = require('prom-client');
const summary = new client.Summary({name: 's', help: 's', percentiles: [0.5], maxAgeSeconds: 1, ageBuckets: 2});
const values = async () => (await summary.get()).values.map(value => value.value);
(async () => {
  const seen = [await values()];
  [1, 2, 3, 4].forEach(value => summary.observe(value));
  seen.push(await values());
  await new Promise(resolve => setTimeout(resolve, 2500));
  seen.push(await values());
  console.log(JSON.stringify(seen));
})();
"""


def probe(folder: Path) -> None:
    """Observe four values, and wait until they are too old."""
    modules = install_npm_packages(folder, "prom-client@15.1.3").parent
    (folder / "summary.js").write_text(_SCRIPT, "utf-8")
    before, full, after = json.loads(output_of(["node", "summary.js"], folder, NODE_PATH=str(modules)))
    expect(before, [0, 0, 0], "median, sum and count before the first observation")
    expect(full, [2.5, 10, 4], "median, sum and count of four")
    expect(after, [0, 10, 4], "median, sum and count after the window")


if __name__ == "__main__":
    run_finding(probe)
