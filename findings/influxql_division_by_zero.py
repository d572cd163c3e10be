"""InfluxQL divides by zero and gets 0.

InfluxDB 1.6.7. Guess: null, or infinity, as the division of two floats gives in SQL and in PromQL. A ratio whose
divisor is 0 (errors per request while there are no requests, free space of a size that is not known) is 0: below
every upper limit, and not told from a true 0. PromQL gives NaN or infinity, which compare otherwise.

Seen: 5.0 / 0 -> 0; 5.0 / (1.0 - 1.0) of fields -> 0; 0 / 0 -> 0
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, run_influxdb


def probe(folder: Path) -> None:
    """Divide fields by zero."""
    with run_influxdb(folder) as server:
        server.write(f"m errors=5.0,requests=0.0 {START}")
        ask = server.ask("select errors / 0, errors / requests, requests / requests from m")
        expect(ask[0][1:], [0, 0, 0], "5 / 0 by a literal, by a field, and 0 / 0")
        expect(server.ask("select max(errors) / max(requests) from m")[0][1], 0, "the same of aggregates")


if __name__ == "__main__":
    run_finding(probe)
