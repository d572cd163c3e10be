"""Telegraf's prometheus_client shows a sample of last year as one of now.

Telegraf 1.37.2. Guess: a sample keeps its time, or is not shown once it is older than `expiration_interval`, 60 s. The
exposition has no times unless `export_timestamp` is set, and the age of a sample is counted from its arrival: a log
that is read today is scraped as today's values.

Seen: `cpu_busy 7` for a sample of November 2025
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, expose, install_telegraf


def probe(folder: Path) -> None:
    """Expose a sample of last year."""
    telegraf = install_telegraf(folder)
    (folder / "samples.lp").write_text(f"cpu busy=7 {START * 10**9}\n", "utf-8")
    plugin = f'[[inputs.file]]\n  files = ["{folder}/samples.lp"]\n  data_format = "influx"\n'
    expect(expose(telegraf, folder, plugin, metric_version=2), ["cpu_busy 7"], "the exposition")


if __name__ == "__main__":
    run_finding(probe)
