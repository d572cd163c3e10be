"""How long a comparison of two large logs takes, in reviews of one: python bench/compare.py [rows columns].

Both are run as programs of their own, in turn, and the shortest times are compared; the bar is 2.5 reviews.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from big_log import write_big_log

_TURNS = 3
_BAR = 2.5


def main():
    rows, columns = (int(given) for given in sys.argv[1:3]) if len(sys.argv) > 2 else (5000, 1000)
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / name for name in ("first.csv", "second.csv")]
        for log in logs:
            write_big_log(log, rows, columns)
        print(f"{rows:,} rows of {columns:,} counters, {logs[0].stat().st_size / 1e6:.0f} MB each")
        commands = {"review": ["review", logs[0]], "compare": ["compare", *logs]}
        taken = {name: min(_seconds(command) for _ in range(_TURNS)) for name, command in commands.items()}
    for name, seconds in taken.items():
        print(f"{name:8} {seconds:6.2f} s")
    ratio = taken["compare"] / taken["review"]
    print(f"{ratio:.2f} reviews (at most {_BAR})")
    sys.exit(ratio > _BAR)


def _seconds(arguments):
    program = Path(sys.executable).with_name("plimsoll")
    start = time.perf_counter()
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
