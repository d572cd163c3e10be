"""Counters of hosts among JMeter's results: the rows of jmeter-plugins' PerfMon Metrics Collector.

In these rows `elapsed` is the counter's value times 1,000. The label has the host, the metric and its parameters
(https://jmeter-plugins.org/wiki/PerfMonMetrics/): `web01 Disks I/O fs=/data:unit=kb:available`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from plimsoll.model.log import Times, Values
from plimsoll.model.remark import Kind, Remarks, format_count, join_names
from plimsoll.model.series import Series
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.model.times import SECOND

LABEL = re.compile(r"^(\S+) (CPU|Memory|Swap|Disks I/O|Network I/O|TCP|JMX|EXEC|TAIL)(?: (.*))?$")
_SEPARATOR = re.compile(r"(?<!\\):")
SCHEMA = {"label": pl.String, "time": pl.Int64, "value": pl.Float64, "good": pl.Boolean}
_UNITS = {"b": 1, "kb": 1024, "mb": 1024**2}


@dataclass(frozen=True)
class _Metric:
    """A metric of perfmon_agent.yaml: its default type, the unit of each type, and the parameter for an instance."""

    default: str
    types: Mapping[str, str]
    parameter: str = ""


@dataclass(frozen=True)
class _AgentCounter:
    """The counter that a label names: its series, and a factor for its values.

    `counts` means that each value is a count since the previous row.
    """

    series: Series
    scale: float
    counts: bool


@dataclass(frozen=True, eq=False)
class AgentCounters:
    """Rows of counters: `time` (UTC ns, ascending), `label`, and `value` as the plugin's agent sent it."""

    rows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCHEMA))

    @property
    def times(self) -> Times:
        """The times of the rows (UTC ns)."""
        return self.rows["time"].to_numpy()

    def columns(self, edges: Times) -> dict[Series, Values]:
        """Return the mean of each counter in each step between `edges` (UTC ns); NaN in steps without a value.

        A value that is a count since the previous row is divided by the seconds since that row.
        """
        columns: dict[Series, Values] = {}
        for (label,), rows in self.rows.group_by("label", maintain_order=True):
            counter = _find_counter(str(label))
            if counter is None:
                continue
            times, values = rows["time"].to_numpy(), rows["value"].to_numpy() * counter.scale
            if counter.counts:
                seconds = np.diff(times) / SECOND
                values = np.divide(values[1:], seconds, out=np.full(len(seconds), np.nan), where=seconds > 0)
                times = times[1:]
            inside = (times >= edges[0]) & (times <= edges[-1]) & np.isfinite(values)
            at = np.maximum(np.searchsorted(edges, times[inside]), 1) - 1
            sums, counts = (np.bincount(at, weights, len(edges) - 1) for weights in (values[inside], None))
            columns[counter.series] = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
        return columns


def select_counters(rows: pl.DataFrame, remarks: Remarks) -> AgentCounters:
    """Return the valid rows of counters, in order of time; add remarks on rows and labels that are left out.

    `rows` has the columns of `SCHEMA`, in which `good` is False where the agent had no value.
    """
    labels = rows["label"].unique().sort().to_list()
    unread = [label for label in labels if _find_counter(label) is None]
    if labels:
        hosts = join_names(sorted({label.partition(" ")[0] for label in labels}), 3)
        text = (
            f"{format_count(len(rows), 'row')} of JMeter's PerfMon Metrics Collector: counters of {hosts}, no requests"
        )
        remarks.add(Kind.NOTED, text, count=len(rows))
    if unread:
        count = int(rows["label"].is_in(unread).sum())
        text = f"{format_count(count, 'row')} of metrics that no signal has left out: {join_names(unread, 3)}"
        remarks.add(Kind.SKIPPED, text, count=count)
    whole = rows.filter(pl.col("good") & pl.col("time").is_not_null() & (pl.col("value") >= 0))
    if lost := len(rows) - len(whole):
        remarks.add(Kind.SKIPPED, f"{format_count(lost, 'row')} in which its agent gave no value left out", count=lost)
    return AgentCounters(whole.sort("time"))


def _find_counter(label: str) -> _AgentCounter | None:
    """Return the counter that a label names; None if Plimsoll does not use it (processes, sockets, commands)."""
    match = LABEL.match(label)
    table = load_shipped_table("plimsoll.ingest.formats.load_results", "perfmon_agent.yaml", dict[str, _Metric])
    metric = table.get(match[2]) if match else None
    if match is None or metric is None:
        return None
    words = [word.replace("\\:", ":") for word in _SEPARATOR.split(match[3] or "") if word]
    parameters = dict(word.split("=", 1) for word in words if "=" in word)
    types = [word for word in words if "=" not in word] or [metric.default]
    kind = metric.types.get(types[0])
    if kind is None or len(types) > 1 or set(parameters) - {"unit", metric.parameter}:
        return None
    scale = (1024 if kind == "kilobytes" else 1) * (_UNITS.get(parameters.get("unit", "b"), 1) if "byte" in kind else 1)
    instance = parameters.get(metric.parameter)
    name = f"server_agent_{metric.parameter}" if instance else "server_agent"
    tags = ((metric.parameter, instance),) if instance else ()
    start = match[2].partition(" ")[0].lower()
    return _AgentCounter(Series(match[1], name, tags, f"{start}_{types[0]}", label), scale, kind.endswith("counts"))
