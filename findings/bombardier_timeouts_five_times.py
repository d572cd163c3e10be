"""bombardier sends a GET that times out five times, and its latency is that of all five.

bombardier 1.2.6, with its own client (fasthttp). Guess: with `-t 1s` a request without an answer is sent once and took
one second. A GET is repeated until five attempts timed out, one request of the result that took five seconds: the
service under load gets five times the requests that are counted. A POST, and a GET by `--http1`, is sent once.

Seen: 10 requests served for 2 counted, 5.0 s each; by `--http1` 2 for 2, 1.0 s each
"""

import json
from pathlib import Path

from common import expect, install_go_program, output_of, run_finding, serve_pages


def probe(folder: Path) -> None:
    """Send two requests to a page that hangs, with both clients."""
    bombardier = install_go_program(folder, "github.com/codesenberg/bombardier@v1.2.6")
    for client, attempts in ((), 5), (("--http1",), 1):
        served: list[str] = []
        with serve_pages(served=served) as address:
            options = ["-n", "2", "-c", "2", "-t", "1s", "-p", "r", "-o", "json", *client]
            result = json.loads(output_of([bombardier, *options, f"{address}/hang"]))["result"]
        expect(result["others"], 2, f"requests counted {client}")
        expect(len(served), 2 * attempts, f"requests served {client}")
        seconds = result["latency"]["mean"] / 1e6
        expect(attempts <= seconds < attempts + 1, True, f"whether {attempts} timeouts took {seconds} s {client}")


if __name__ == "__main__":
    run_finding(probe)
