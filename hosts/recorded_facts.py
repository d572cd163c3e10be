"""What the logs themselves show of their hosts: how many processors they have, and how much memory."""

from collections.abc import Iterator, Sequence

import numpy as np

from hosts.facts import RecordedFacts
from model.log import Log, Values
from model.names import measurement
from model.perfmon import telegraf_name
from model.series import Series
from rules.field_types import Fact
from rules.subjects import host_of, is_total

# What shows processors one by one: an object of Performance Monitor, or a measurement of Telegraf or sysstat.
_QUEUES = "Server Work Queues"  # one for each processor, and the Blocking Queue
_PROCESSORS = ("Processor", "Processor Information", _QUEUES, "cpu", "per_cpu")
_PROCESSOR_TAGS = {
    **{measurement(name): "instance" for name in _PROCESSORS[:3]},
    "cpu": "cpu",
    "per_cpu": "device",
}
_COUNT = ("system", "n_cpus")
_MEMORY = {("mem", "total"): 2**20, (measurement("NUMA Node Memory"), telegraf_name("Total MBytes")): 1}  # to MB
_USED = ("mem_util", "kbmemused")
_USED_SHARE = ("mem_util", "pct_memused")


def recorded_facts(logs: Sequence[Log]) -> RecordedFacts:
    """The facts of each host that its logs show."""
    seen: dict[tuple[str, str | None], dict[str, float]] = {}
    for host, fact, value in (*_processors(logs), *_memory(logs)):
        facts = seen.setdefault((host, None), {})
        facts[fact] = max(value, facts.get(fact, 0))
    return seen


def _processors(logs: Sequence[Log]) -> Iterator[tuple[str, Fact, float]]:
    """How many there are by each object that shows them, or their number as Telegraf tells it."""
    found: dict[tuple[str, str], set[str]] = {}
    for log in logs:
        for series in log.series:
            tag = _PROCESSOR_TAGS.get(series.measurement)
            shown_by = series.tag("objectname") or series.measurement
            if tag is None or shown_by not in _PROCESSORS:
                continue
            instance = series.tag(tag)
            if instance is not None and not is_total(instance) and (shown_by != _QUEUES or instance.isdecimal()):
                found.setdefault((host_of(series).casefold(), shown_by), set()).add(instance)
    for (host, shown_by), instances in found.items():
        if shown_by != _QUEUES or len(instances) > 1:  # one queue may have been chosen among many
            yield host, "processors", float(len(instances))
    for series, values in _of(logs, _COUNT):
        yield series.host.casefold(), "processors", float(values.max())


def _memory(logs: Sequence[Log]) -> Iterator[tuple[str, Fact, float]]:
    """Installed memory in MB: as Telegraf or Windows gives it, or from what sysstat says is used, in KB and in %."""
    for field, size in _MEMORY.items():
        for series, values in _of(logs, field):
            if series.tag("instance") is None or is_total(series.tag("instance") or ""):
                yield host_of(series).casefold(), "memory_mb", float(np.round(values.max() / size))
    shares = {series.host.casefold(): values for series, values in _of(logs, _USED_SHARE)}
    for series, used in _of(logs, _USED):
        share = shares.get(series.host.casefold())
        if share is not None and share.sum() > 0:
            # Rounded to hundredths in each row: all rows together tell it better.
            yield series.host.casefold(), "memory_mb", float(np.round(used.mean() / (share.mean() / 100) / 2**10))


def _of(logs: Sequence[Log], field: tuple[str, str]) -> Iterator[tuple[Series, Values]]:
    """The series of a field that have values, with these."""
    for log in logs:
        for at, series in enumerate(log.series):
            if (series.measurement, series.field) == field:
                values = log.column(at)
                present = values[np.isfinite(values)]
                if len(present) and present.max() > 0:
                    yield series, present
