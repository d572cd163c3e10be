"""One bad line in a body of line protocol: VictoriaMetrics keeps nothing of it, InfluxDB the good lines; neither
says so alike.

VictoriaMetrics 1.150.0, InfluxDB 1.6.7. Guess: a store takes the good lines and names the bad one. VictoriaMetrics
refuses the whole body with status 400; with the header `Stream-Mode: 1` it keeps the good lines and answers 204,
without a word of the bad one. InfluxDB keeps the good lines and answers 400 "unable to parse". A sender that
repeats what was refused writes the good lines twice to the one and never to the other.

Seen, of three lines, the second without a value: VictoriaMetrics 0 samples, streamed 2; InfluxDB 2
"""

import urllib.request
from pathlib import Path

from common import expect, fetch, run_finding
from programs import START, run_influxdb, run_victoriametrics


def _body(name: str) -> str:
    return f"{name},host=a v=1 {START}\n{name},host=a v= {START + 10}\n{name},host=a v=3 {START + 20}\n"


def probe(folder: Path) -> None:
    """Write the same body in three ways and count what is stored."""
    with run_victoriametrics(folder) as metrics:
        address = f"{metrics.url}/write?precision=s"
        answer = fetch(address, _body("whole").encode())
        request = urllib.request.Request(address, _body("streamed").encode(), {"Stream-Mode": "1"})
        with urllib.request.urlopen(request, timeout=30) as streamed:
            expect(streamed.status, 204, "the status of a streamed body")
        metrics.flush()
        expect("incorrect influx line" in answer, True, "whether VictoriaMetrics names the line")
        expect(metrics.ask("count_over_time(whole_v[1m])", 30), [], "samples of a body")
        expect(metrics.ask("count_over_time(streamed_v[1m])", 30), [2], "samples of a streamed body")
    with run_influxdb(folder) as influx:
        expect("unable to parse" in influx.write(_body("m")), True, "whether InfluxDB names the line")
        expect(influx.ask("select count(v) from m"), [[None, 2]], "samples in InfluxDB")


if __name__ == "__main__":
    run_finding(probe)
