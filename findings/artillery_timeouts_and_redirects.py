"""artillery counts a redirect as a request and an answer, a time-out as a request alone, and writes one time in two
types.

artillery 2.0.21. Guess: `http.requests` is what the scenario sends. A page that redirects is two requests and two
response times; a request that times out is in `http.requests` and in no response time, so that a service that hangs
is quick. In its JSON `period`, the time of an interval in ms, is a text in `intermediate` and a number in
`aggregate`.

Seen, of 4 visitors with a redirect, an answer and a time-out each: requests 16, responses 12, response times 12,
ETIMEDOUT 4
"""

import json
from pathlib import Path

from common import expect, install_npm_packages, output_of, run_finding, serve_pages

_SCENARIO = """
config:
  target: "{url}"
  http: {{timeout: 1}}
  phases: [{{duration: 2, arrivalRate: 2}}]
scenarios:
  - flow:
      - get: {{url: "/redirect"}}
      - get: {{url: "/"}}
      - get: {{url: "/hang"}}
"""


def probe(folder: Path) -> None:
    """Send four visitors to a service with a page that hangs."""
    programs = install_npm_packages(folder, "artillery@2.0.21")
    with serve_pages() as url:
        (folder / "scenario.yml").write_text(_SCENARIO.format(url=url), "utf-8")
        report = folder / "report.json"
        output_of([programs / "artillery", "run", "--output", report, "scenario.yml"], folder)
    document = json.loads(report.read_text("utf-8"))
    total = document["aggregate"]
    names = ("http.requests", "http.responses", "http.codes.302", "errors.ETIMEDOUT")
    expect([total["counters"][name] for name in names], [16, 12, 4, 4], "requests, responses, redirects, time-outs")
    times = total["summaries"]["http.response_time"]
    expect(times["count"], 12, "response times")
    expect(times["max"] < 1000, True, f"whether the longest, {times['max']} ms, is below the time-out of 1 s")
    types = type(document["intermediate"][0]["period"]).__name__, type(total["period"]).__name__
    expect(types, ("str", "int"), "types of period in an interval and in the whole")


if __name__ == "__main__":
    run_finding(probe)
