"""The parser of prometheus_client renames a counter that does not end in `_total`, and empties one that does.

prometheus_client 0.26.0 for Python. Guess: samples keep the names of the exposition. `# TYPE http_requests counter`
with `http_requests 3` is a sample `http_requests_total`, which no server that scrapes the page has. `# TYPE z counter`
with `z_total 1`, as in OpenMetrics, is a counter without samples and a sample of unknown type. Times, milliseconds in
the text, are seconds.

Seen: http_requests_total; z without samples, z_total unknown; 1764322800.5
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages

_EXPOSITION = """\
# TYPE http_requests counter
http_requests 3
# TYPE z counter
z_total 1
# TYPE up gauge
up 1 1764322800500
"""


def probe(folder: Path) -> None:
    """Parse an exposition of two counters and a gauge."""
    use_python_packages(folder, "prometheus_client==0.26.0")
    from prometheus_client.parser import text_string_to_metric_families

    families = {
        family.name: (family.type, [(sample.name, sample.timestamp) for sample in family.samples])
        for family in text_string_to_metric_families(_EXPOSITION)
    }
    expect(families["http_requests"], ("counter", [("http_requests_total", None)]), "a counter without the suffix")
    expect(families["z"], ("counter", []), "a counter whose samples have the suffix")
    expect(families["z_total"], ("unknown", [("z_total", None)]), "its samples")
    expect(families["up"], ("gauge", [("up", 1764322800.5)]), "a sample with a time")


if __name__ == "__main__":
    run_finding(probe)
