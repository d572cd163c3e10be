"""One field has three names in Telegraf's `prometheus_client` and graphite, by `metric_version` and by its last
character.

Telegraf 1.37.2. Guess: `metric_version` is about types and histograms; a metric is MEASUREMENT_FIELD with
underscores for what Prometheus does not take. Version 1, the default, calls a field `value` by the measurement
alone and leaves a truth value out; version 2 keeps `_value` and the truth value, and cuts an underscore that stands
for a bad last character (`_(ms)`), but not one that the name has itself (`_ms_`). A text field becomes a label of
all fields beside it.

Seen: version 1 `sql`, `sql_time__ms_`, no `sql_up`; version 2 `sql_value`, `sql_time__ms`, `sql_up`; graphite
`a.sql`, `a.sql.time__ms_`
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, convert_once, expose, install_telegraf


def probe(folder: Path) -> None:
    """Show the fields of one line in three forms."""
    telegraf = install_telegraf(folder)
    lines = folder / "lines"
    lines.write_text(f'sql,host=a value=1,time_(ms)=3,wait_ms_=4,up=true,state="on" {START}000000000\n', "utf-8")
    plugin = f'[[inputs.file]]\n  files = ["{lines}"]\n  data_format = "influx"'

    def names(metric_version: int) -> list[str]:
        return sorted(line.partition("{")[0] for line in expose(telegraf, folder, plugin, metric_version))

    expect(names(1), ["sql", "sql_time__ms_", "sql_wait_ms_"], "names by version 1")
    expect(names(2), ["sql_time__ms", "sql_up", "sql_value", "sql_wait_ms_"], "names by version 2")
    expect('state="on"' in expose(telegraf, folder, plugin, 2)[0], True, "whether the text is a label")
    graphite = [line.split()[0] for line in convert_once(telegraf, folder, plugin, '  data_format = "graphite"')]
    expect(sorted(graphite), ["a.sql", "a.sql.time__ms_", "a.sql.up", "a.sql.wait_ms_"], "names in graphite")


if __name__ == "__main__":
    run_finding(probe)
