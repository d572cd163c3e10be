"""autocannon reports a shortest response time that is longer than the median.

autocannon 8.0.0. Guess: percentiles grow from `min` to `max`. Times are whole milliseconds, and those below one are
0; the percentiles count them, but `min` is the shortest that is not 0. Against a quick server `p50` is 0 and `min`
1. A redirect is not followed: it counts under `3xx` and `non2xx`, and is not an error.

Seen, of a page that redirects, answered in less than a millisecond: p50 0, min above it, 3xx = non2xx, errors 0
"""

import json
from pathlib import Path

from common import expect, install_npm_packages, output_of, run_finding

_SERVER = """
const server = require("http").createServer((request, response) => {
  response.writeHead(302, { Location: "/" });
  if (request.url === "/" || Math.random() > 0.02) response.end();
  else setTimeout(() => response.end(), 5);
});
server.listen(0, "127.0.0.1", () => {
  require("autocannon")({
    url: "http://127.0.0.1:" + server.address().port + "/page", connections: 1, amount: 2000,
  }, (error, result) => { console.log(JSON.stringify(result)); server.close(); process.exit(error ? 1 : 0); });
});
"""


def probe(folder: Path) -> None:
    """Send 2000 requests, one after another, to a server that is quick but for one in fifty."""
    modules = install_npm_packages(folder, "autocannon@8.0.0").parent
    result = json.loads(output_of(["node", "-e", _SERVER], folder, NODE_PATH=str(modules)))
    latency = result["latency"]
    expect(latency["p50"], 0, "the median")
    expect(latency["min"] > latency["p50"], True, f"whether the shortest, {latency['min']}, is above the median")
    expect((result["3xx"], result["non2xx"], result["errors"]), (2000, 2000, 0), "redirects, non2xx and errors")


if __name__ == "__main__":
    run_finding(probe)
