"""Telegraf drops a metric whose value is NaN or infinite on its way to line protocol, and a summary's quantile with
it.

Telegraf 1.37.2. Guess: the field is null or "NaN" in the output, or an error is logged. A gauge that is NaN makes
no line and no word in the log, an infinite one the same; of a summary without observations, whose quantiles are
NaN, sum and count alone arrive, so that the tag `quantile` never exists. "Not there" and "NaN" are one, and a rule
that looks for missing data sees an exporter without that metric.

Seen, of `ok 1`, `nan NaN`, `inf +Inf` and a summary: lines of `ok` and of the summary's sum and count
"""

from pathlib import Path

from common import expect, run_finding
from programs import convert_once, install_telegraf

_EXPOSITION = """\
ok 1
nan NaN
inf +Inf
# TYPE s summary
s{quantile="0.5"} NaN
s_sum 3
s_count 2
"""


def probe(folder: Path) -> None:
    """Read an exposition and write it as line protocol."""
    telegraf = install_telegraf(folder)
    (folder / "metrics").write_text(_EXPOSITION, "utf-8")
    plugin = f'[[inputs.file]]\n  files = ["{folder}/metrics"]\n  data_format = "prometheus"'
    lines = convert_once(telegraf, folder, plugin, '  data_format = "influx"')
    fields = sorted(field.partition("=")[0] for line in lines for field in line.split(" ")[1].split(","))
    expect(fields, ["ok", "s_count", "s_sum"], "fields that arrive")


if __name__ == "__main__":
    run_finding(probe)
