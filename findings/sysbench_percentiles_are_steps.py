"""sysbench prints a 100th percentile above or below the maximum: percentiles are steps of a grid 1.8 % apart.

sysbench 1.0.20. Guess: a percentile is one of the times, and the 100th is the maximum. Times are counted in 1,024 steps
from 0.001 to 100,000 ms, and the nearest step is printed. Two runs that differ by 1 % have the same percentiles, or
differ by 1.8 %, and `95th percentile` can be above `max`.

Seen: all of the 50th, 95th and 100th percentile are steps of the grid; the 100th is within 1.9 % of `max`
"""

import re
from pathlib import Path

from common import debian_libraries, expect, install_debian_package, output_of, run_finding

_LUA = "2.1.0~beta3+git20220320+dfsg-4.1+deb12u1"
_GRID_MS = {round(0.001 * 1e8 ** (step / 1023), 2) for step in range(1024)}


def probe(folder: Path) -> None:
    """Run events of some milliseconds, once for each percentile."""
    root = install_debian_package(
        folder,
        "sysbench=1.0.20+ds-5",
        "libaio1=0.3.113-4",
        "libmariadb3=1:10.11.19-0+deb12u1",
        f"libluajit-5.1-2={_LUA}",
        f"libluajit-5.1-common={_LUA}",
    )
    for percentile in (50, 95, 100):
        options = ["cpu", "--events=40", "--time=0", "--cpu-max-prime=60000", f"--percentile={percentile}", "run"]
        printed = output_of([root / "usr/bin/sysbench", *options], LD_LIBRARY_PATH=debian_libraries(root))
        value, longest = (float(re.findall(rf"{name}: +(\S+)", printed)[0]) for name in ("percentile", "max"))
        expect(value in _GRID_MS, True, f"whether {value} is a step")
    expect(abs(value / longest - 1) < 0.019, True, f"whether {value} is at most a step from {longest}")


if __name__ == "__main__":
    run_finding(probe)
