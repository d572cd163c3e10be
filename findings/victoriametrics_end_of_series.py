"""A series that has ended is there for five minutes to an alert, and for one interval on a panel.

VictoriaMetrics 1.150.0. Guess: a query over a range gives at each step what an instant query gives there, as in
Prometheus. A range query takes a sample to hold for about the distance of the samples, an instant query for five
minutes: the panel ends one interval after the last sample, while the alert on the same expression goes on firing on
it. Range queries also begin earlier than they were asked to: the start is moved back to a multiple of the step,
unless `nocache=1` is set.

Seen, of samples every 10 s until 90 s: instant query at 200 s has a value, the range's last is at 100 s; asked from
3 s on, the first value is stamped 0 s
"""

import json
from pathlib import Path

from common import expect, fetch, run_finding
from programs import START, run_victoriametrics


def probe(folder: Path) -> None:
    """Ask for a series after its end, as an alert and as a panel do."""
    with run_victoriametrics(folder) as server:
        server.store({"g": "1 2 3 4 5 6 7 8 9 9"})

        def seconds(start: int, cache: bool = True) -> list[int]:
            query = {"query": "g", "start": str(START + start), "end": str(START + 803), "step": "10"}
            query |= {} if cache else {"nocache": "1"}
            series = json.loads(fetch(f"{server.url}/api/v1/query_range", None, **query))["data"]["result"]
            return [instant - START for instant, _ in series[0]["values"]]

        expect([server.ask("g", second) for second in (100, 200, 380, 400)], [[9], [9], [9], []], "instant queries")
        expect(seconds(0, cache=False)[-1], 100, "the last second of a range")
        expect((seconds(3)[0], seconds(3, cache=False)[0]), (0, 3), "the first second of a range from 3 s on")


if __name__ == "__main__":
    run_finding(probe)
