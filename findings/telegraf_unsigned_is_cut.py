"""Telegraf writes an unsigned integer above 2^63 as 9223372036854775807, in line protocol alone.

Telegraf 1.37.2. Guess: `18446744073709551615u` goes out as it came in, or is refused. Unless `influx_uint_support`
is set, the influx serializer makes integers of unsigned ones and cuts them at the largest, without a word; the
graphite serializer beside it writes all digits. A counter of 64 bits that has passed half its range stands still
from then on.

Seen: influx `big=9223372036854775807i`, with influx_uint_support `big=18446744073709551615u`, graphite
18446744073709551615
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, convert_once, install_telegraf


def probe(folder: Path) -> None:
    """Write the largest unsigned integer in three forms."""
    telegraf = install_telegraf(folder)
    (folder / "lines").write_text(f"m big=18446744073709551615u {START}000000000\n", "utf-8")
    plugin = f'[[inputs.file]]\n  files = ["{folder}/lines"]\n  data_format = "influx"'

    def value(serializer: str) -> str:
        return convert_once(telegraf, folder, plugin, serializer)[0].split(" ")[1]

    expect(value('  data_format = "influx"'), "big=9223372036854775807i", "line protocol")
    expect(value('  data_format = "influx"\n  influx_uint_support = true'), "big=18446744073709551615u", "with support")
    expect(value('  data_format = "graphite"'), "18446744073709551615", "graphite")


if __name__ == "__main__":
    run_finding(probe)
