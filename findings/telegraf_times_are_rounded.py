"""Telegraf rounds the times that it reads from a file to seconds, so that two samples of a second become one.

Telegraf 1.37.2. Guess: a line with a time of its own keeps it, to the nanosecond. Times are rounded to the unit of the
agent's interval, a second by default, also times that were in the data: 0.6 s and 1.4 s are both 1 s, and a store keeps
the later of the two. `precision = "1ns"` of the input keeps them.

Seen: ...801000000000 twice; with the option ...800600000000 and ...801400000000
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, convert_once, install_telegraf


def probe(folder: Path) -> None:
    """Read two samples that are 0.8 s apart."""
    telegraf = install_telegraf(folder)
    stamps = [f"{START}600000000", f"{START + 1}400000000"]
    (folder / "samples.lp").write_text("".join(f"cpu busy=1 {stamp}\n" for stamp in stamps), "utf-8")
    plugin = f'[[inputs.file]]\n  files = ["{folder}/samples.lp"]\n  data_format = "influx"\n'
    for option, stated in (("", [f"{START + 1}000000000"] * 2), ('  precision = "1ns"\n', stamps)):
        lines = convert_once(telegraf, folder, plugin + option, '  data_format = "influx"\n')
        expect([line.split(" ")[-1] for line in lines], stated, f"times with {option.strip() or 'no option'}")


if __name__ == "__main__":
    run_finding(probe)
