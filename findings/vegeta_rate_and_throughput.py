"""vegeta reports a higher rate than its `-rate` option, and failed requests make its response times shorter.

vegeta 12.13.0. Guess: 10 requests at 10/s are a rate of 10.0, and response times are those of answers. The rate is
the number of requests by the time between the first and the last beginning, nine intervals: 11.1 per second. A
refused connection is a request with code 0 whose time counts in every percentile: half a millisecond against an
answer of 100 ms. `throughput` divides the successes alone, by the time until the last answer. Of a redirect there
is one row, that of the page it leads to.

Seen, of 10 requests in 1 s, every second one refused: rate 11.1, code 0 5 times, median below 100 ms, all answers
above
"""

import json
from pathlib import Path

from common import expect, install_go_program, output_of, run_finding, serve_pages


def probe(folder: Path) -> None:
    """Attack a slow page and a port where nothing listens, in turn."""
    vegeta = install_go_program(folder, "github.com/tsenart/vegeta/v12@v12.13.0")
    results = str(folder / "results")
    with serve_pages(delay_s=0.1) as url:
        targets = f"GET {url}/redirect\nGET http://127.0.0.1:1/\n"
        output_of([vegeta, "attack", "-rate=10", "-duration=1s", f"-output={results}"], text=targets)
    report = json.loads(output_of([vegeta, "report", "-type=json", results]))
    expect(report["status_codes"], {"0": 5, "200": 5}, "codes")
    expect(10.5 < report["rate"] < 11.5, True, f"whether the rate {report['rate']} is about 11.1")
    expect(report["latencies"]["min"] < 100_000_000, True, "whether the shortest time is that of a refused request")
    rows = [line.split(",") for line in output_of([vegeta, "encode", "-to=csv", results]).splitlines()]
    answered = [int(row[2]) for row in rows if row[1] == "200"]
    expect(len(answered), 5, "rows of answers, one for each redirect")
    expect(min(answered) > 200_000_000, True, "whether each answer has the time of two pages")


if __name__ == "__main__":
    run_finding(probe)
