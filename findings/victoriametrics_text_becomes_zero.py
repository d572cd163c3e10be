"""VictoriaMetrics stores a text field of line protocol as the number 0, and an integer of 19 digits as another one.

VictoriaMetrics 1.150.0. Guess: a field that is no number is left out, or refused, as a type conflict is in
InfluxDB. A quoted text is stored as a series of zeros, `true` as 1: `state="running"` and `state="failed"` are one
series, 0, which no rule tells apart. Integers are floating-point: 9007199254740993 comes back as ...992. Brackets
in a field's name stay in the metric's name, where Prometheus' form of the name has underscores.

Seen: m_state 0, m_ok 1, m_bytes 9007199254740992, a metric named `m_time_(ms)`
"""

from pathlib import Path

from common import expect, fetch, run_finding
from programs import START, run_victoriametrics


def probe(folder: Path) -> None:
    """Write a line with fields of four types."""
    with run_victoriametrics(folder) as server:
        line = f'm,host=a state="running",ok=true,bytes=9007199254740993i,time_(ms)=4 {START}\n'
        expect(fetch(f"{server.url}/write?precision=s", line.encode()), "", "what the server says to the line")
        server.flush()
        expect(server.ask("m_state", 0), [0], "the text")
        expect(server.ask("m_ok", 0), [1], "the truth value")
        expect(server.ask("m_bytes", 0), [9007199254740992], "the integer")
        expect(server.ask('{__name__="m_time_(ms)"}', 0), [4], "the field with brackets")
        expect(server.ask("m_time__ms_", 0), [], "the same by its name in Prometheus")


if __name__ == "__main__":
    run_finding(probe)
