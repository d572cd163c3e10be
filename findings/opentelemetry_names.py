"""Prometheus' names of OpenTelemetry's metrics: what moves, what is dropped and what is put in.

github.com/prometheus/otlptranslator 1.0.0, which Prometheus 3 and the collector use. Guess: dots become
underscores, the unit and `_total` are put at the end. But "total" in the middle of a name moves to the end, where a
unit in the middle stays and is not put at the end; "1" is `_ratio` for a gauge and nothing for a counter; a unit in
braces is nothing; "By/s" is `_bytes_per_second`; runs of underscores become one; a name that begins with a digit
gets an underscore. With UTF-8 names and suffixes dots and suffixes stand in one name.

Seen, of a name, its unit and kind: see `_NAMES`.
"""

from pathlib import Path

from common import build_go_program, expect, output_of, run_finding

_NAMES = (
    # name, unit, kind, UnderscoreEscapingWithSuffixes, NoUTF8EscapingWithSuffixes
    ("system.cpu.time", "s", "counter", "system_cpu_time_seconds_total", "system.cpu.time_seconds_total"),
    ("system.cpu.utilization", "1", "gauge", "system_cpu_utilization_ratio", "system.cpu.utilization_ratio"),
    ("system.cpu.share", "1", "counter", "system_cpu_share_total", "system.cpu.share_total"),
    ("jobs.total.failed", "{jobs}", "counter", "jobs_failed_total", "jobs.total.failed_total"),
    ("disk.bytes.free", "By", "gauge", "disk_bytes_free", "disk.bytes.free_bytes"),
    ("disk.rate", "By/s", "gauge", "disk_rate_bytes_per_second", "disk.rate_bytes_per_second"),
    ("queue..depth", "{messages}", "gauge", "queue_depth", "queue..depth"),
    ("9th.value", "", "gauge", "_9th_value", "9th.value"),
)

_SOURCE = """
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/otlptranslator"
)

func main() {
	kinds := map[string]otlptranslator.MetricType{
		"counter": otlptranslator.MetricTypeMonotonicCounter,
		"gauge":   otlptranslator.MetricTypeGauge,
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		cells := strings.Split(lines.Text(), ";")
		metric := otlptranslator.Metric{Name: cells[0], Unit: cells[1], Type: kinds[cells[2]]}
		for _, strategy := range []otlptranslator.TranslationStrategyOption{
			otlptranslator.UnderscoreEscapingWithSuffixes, otlptranslator.NoUTF8EscapingWithSuffixes,
		} {
			namer := otlptranslator.NewMetricNamer("", strategy)
			name, err := namer.Build(metric)
			if err != nil {
				panic(err)
			}
			fmt.Println(name)
		}
	}
}
"""


def probe(folder: Path) -> None:
    """Translate names by the two strategies that add suffixes."""
    program = build_go_program(folder, _SOURCE, "github.com/prometheus/otlptranslator@v1.0.0")
    names = output_of([program], text="\n".join(";".join(row[:3]) for row in _NAMES)).splitlines()
    for row, escaped, whole in zip(_NAMES, names[::2], names[1::2], strict=True):
        expect((escaped, whole), row[3:], f"names of {row[0]} in {row[1] or 'no unit'}, a {row[2]}")


if __name__ == "__main__":
    run_finding(probe)
