"""How long the planning takes as hosts are added: the processor time of `plan` for 1,000, 2,000 and 4,000 hosts.

    python bench/hostile/plan.py [--hosts 1000 2000 4000]

Each host has the series of a Linux host that Telegraf watches. The time per host must not grow with their number.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fleet import Host, series_of

from plimsoll.alerting.rule_targets import Site, plan
from plimsoll.hosts.facts import Facts
from plimsoll.model.series import Series
from plimsoll.rules.load import load


def main() -> None:
    """Print a line for each number of hosts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", default=[1000, 2000, 4000])
    asked: Sequence[int] = parser.parse_args().hosts
    site = Site(load())
    one_host = [series for series, _ in series_of(Host("lnx", "telegraf"))]
    for count in asked:
        series: list[Series] = [replace(one, host=f"h{at}") for at in range(count) for one in one_host]
        begun = time.process_time()
        planned, _ = plan(site, series, Facts())
        took = time.process_time() - begun
        print(
            f"{count:,} hosts, {len(series):,} series: {len(planned):,} rules planned in {took:.1f} CPU s, "
            f"{took / count * 1000:.2f} ms for each host"
        )


if __name__ == "__main__":
    main()
