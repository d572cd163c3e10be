"""A log of Windows' Performance Monitor through Telegraf's csv parser: its first blank makes InfluxDB refuse the
counter for good.

Telegraf 1.37.2, InfluxDB 1.6.7. Guess: a blank cell is no field, as `win_perf_counters` writes none. The first row
of every rate is `" "`, which becomes a text field, with `csv_trim_space` an empty one; InfluxDB takes the type of a
field from its first value and refuses every number after it as "field type conflict". The zone in the first header
cell is not read: local times are UTC. `csv_skip_values` takes the blank away.

Seen: first row `..Time=" "`, second `..Time=12.5`; InfluxDB keeps the text alone; with `csv_skip_values = [" "]` it
keeps 12.5
"""

from pathlib import Path

from common import expect, run_finding
from programs import InfluxDB, convert_once, install_telegraf, run_influxdb

_ZONE = "(PDH-CSV 4.0) (W. Europe Standard Time)(-60)"
_LOG = f"""\
"{_ZONE}","busy"
"11/28/2025 10:40:00.000"," "
"11/28/2025 10:40:15.000","12.5"
"""


def probe(folder: Path) -> None:
    """Read a log of two rows and write it to InfluxDB."""
    telegraf = install_telegraf(folder)
    (folder / "log.csv").write_text(_LOG, "utf-8")
    plugin = (
        f'[[inputs.file]]\n  files = ["{folder}/log.csv"]\n  data_format = "csv"\n  csv_header_row_count = 1\n'
        f'  csv_timestamp_column = "{_ZONE}"\n  csv_timestamp_format = "01/02/2006 15:04:05.000"\n'
    )

    def rows(more: str, influx: InfluxDB, measurement: str) -> list[object]:
        lines = convert_once(telegraf, folder, plugin + more, '  data_format = "influx"')
        for line in lines:
            influx.write(line.replace("file", measurement, 1).replace("000000000", ""))
        return [row[1] for row in influx.ask(f"select busy from {measurement}")]

    with run_influxdb(folder) as influx:
        expect(rows("", influx, "plain"), [" "], "values in InfluxDB")
        expect(rows("  csv_trim_space = true", influx, "trimmed"), [""], "values where blanks are trimmed")
        expect(rows('  csv_skip_values = [" "]', influx, "skipped"), [12.5], "values where blanks are skipped")
        expect(influx.ask("select busy from skipped")[0][0], 3600 + 15, "seconds after 09:40 UTC, the true time")


if __name__ == "__main__":
    run_finding(probe)
