"""Telegraf's aggregators drop samples that are not of now, without a word.

Telegraf 1.37.2. Guess: `basicstats` aggregates samples by their times, so that a log is aggregated as live data are. An
aggregator has one window, the present one: samples of last year are outside it and are dropped; with
`drop_original` nothing is left, and no warning is written. Samples of now give a mean.

Seen: no line of last year's samples, none of `W!` or `E!` about them; `busy_mean=3` of now's
"""

import re
import time
from pathlib import Path

from common import expect, output_of, run_finding
from programs import START, install_telegraf

_SETTINGS = """[agent]
  omit_hostname = true
  logfile = "{folder}/telegraf.log"
[[inputs.file]]
  files = ["{folder}/samples.lp"]
  data_format = "influx"
  precision = "1ns"
[[aggregators.basicstats]]
  period = "60s"
  stats = ["mean"]
  drop_original = true
[[outputs.file]]
  files = ["stdout"]
"""


def probe(folder: Path) -> None:
    """Aggregate samples of last year, then of now."""
    telegraf = install_telegraf(folder)
    settings = folder / "telegraf.conf"
    settings.write_text(_SETTINGS.format(folder=folder), "utf-8")
    means = []
    for start_ns in (START * 10**9, time.time_ns()):
        lines = (f"cpu busy={value} {start_ns + value}\n" for value in (1, 3, 5))
        (folder / "samples.lp").write_text("".join(lines), "utf-8")
        means.append(re.findall(r"busy_mean=(\S+)", output_of([telegraf, "--config", settings, "--once"], folder)))
    expect(means, [[], ["3"]], "means of last year and of now")
    log = (folder / "telegraf.log").read_text("utf-8").splitlines()
    expect([line for line in log if re.search("[WE]! .*(basicstats|outside)", line)], [], "warnings about the samples")


if __name__ == "__main__":
    run_finding(probe)
