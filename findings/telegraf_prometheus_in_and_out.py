"""Telegraf's `prometheus` input feeds its `prometheus_client` output unchanged only where both have one
`metric_version`.

Telegraf 1.37.2. Guess: in and out are the same format, so that what comes in goes out, at worst with another
prefix. Both options are 1 by default. Of version 1 in and 2 out counters get the ending `_counter`, gauges
`_gauge`, untyped ones `_value`, and histograms and summaries are lost; of 2 in and 1 out all names begin with
`prometheus_` and a histogram has the right names nowhere and 0 in every bucket.

Seen, of a gauge `up`, a counter `req_total`, an untyped `free` and a histogram `lat`: see `_SEEN`.
"""

import sys
from pathlib import Path

from common import expect, free_port, run_finding, serve
from programs import expose, install_telegraf

_EXPOSITION = """\
# TYPE up gauge
up 1
# TYPE req_total counter
req_total 7
free 3
# TYPE lat histogram
lat_bucket{le="0.1"} 1
lat_bucket{le="+Inf"} 2
lat_sum 3
lat_count 2
"""
_UNCHANGED = ["free", "lat_bucket", "lat_bucket", "lat_count", "lat_sum", "req_total", "up"]
_SEEN = {
    # version of the input, of the output: names
    (1, 1): _UNCHANGED,
    (2, 2): _UNCHANGED,
    (1, 2): ["free_value", "req_total_counter", "up_gauge"],
}


def probe(folder: Path) -> None:
    """Pass one exposition through the four combinations."""
    telegraf = install_telegraf(folder)
    pages = folder / "pages"
    pages.mkdir()
    (pages / "metrics").write_text(_EXPOSITION, "utf-8")
    port = free_port()
    address = f"http://127.0.0.1:{port}/metrics"
    with serve([sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"], address, pages):

        def lines(version_in: int, version_out: int) -> list[str]:
            plugin = f'[[inputs.prometheus]]\n  urls = ["{address}"]\n  metric_version = {version_in}\n  url_tag = ""'
            return expose(telegraf, folder, plugin, version_out)

        for (version_in, version_out), stated in _SEEN.items():
            names = [line.partition("{")[0].partition(" ")[0] for line in lines(version_in, version_out)]
            expect(names, stated, f"names of version {version_in} in and {version_out} out")
        crossed = lines(2, 1)
        expect(all(line.startswith("prometheus_") for line in crossed), True, "the prefix of version 2 in and 1 out")
        buckets = {line.rpartition(" ")[2] for line in crossed if line.startswith("prometheus_bucket")}
        expect(buckets, {"0"}, "its buckets")


if __name__ == "__main__":
    run_finding(probe)
