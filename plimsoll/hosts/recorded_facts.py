"""Facts of hosts that their logs show, processors and installed memory, and given facts that they contradict."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from plimsoll.hosts.facts import GivenFacts, RecordedFacts
from plimsoll.model.log import Log, Values
from plimsoll.model.names import measurement
from plimsoll.model.perfmon import telegraf_name
from plimsoll.model.series import Series, host_key
from plimsoll.rules.schema.field_types import Fact
from plimsoll.rules.subjects import host_of, is_total

_MEMORY_OBJECT = measurement("Memory")
_AVAILABLE = {"Available_Bytes": 2**20, "Available_KBytes": 2**10, "Available_MBytes": 1}  # of each to a MB
_ABOUT = 0.1  # firmware and graphics keep some memory for themselves
# Performance Monitor objects, and measurements of Telegraf and sysstat, with one instance per processor.
_QUEUES = "Server Work Queues"  # its instances are one queue per processor, and the Blocking Queue
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
_IN_VALUES = {_COUNT, *_MEMORY, _USED, _USED_SHARE}

# Series, each with a function that reads its values.
Columns: TypeAlias = Sequence[tuple[Series, Callable[[], Values]]]


def recorded_facts(logs: Sequence[Log]) -> RecordedFacts:
    """Return the facts of each host that its logs show."""
    return facts_shown_by([(series, partial(log.column, at)) for log in logs for at, series in enumerate(log.series)])


def shows_in_values(series: Series) -> bool:
    """Return whether a series shows a fact of its host by its values, not only by its name."""
    return (series.measurement, series.field) in _IN_VALUES


def facts_shown_by(columns: Columns) -> RecordedFacts:
    """Return the facts of each host that some series show; values are read only where they show a fact."""
    recorded: dict[tuple[str, str | None], dict[str, float]] = {}
    for host, fact, value in (*_processors(columns), *_memory(columns)):
        facts = recorded.setdefault((host, None), {})
        facts[fact] = max(value, facts.get(fact, 0))
    return recorded


def _processors(columns: Columns) -> Iterator[tuple[str, Fact, float]]:
    """Yield the number of processors: the instances of each object that has them, and Telegraf's `n_cpus`."""
    instances_of: dict[tuple[str, str], set[str]] = {}
    for series, _ in columns:
        tag = _PROCESSOR_TAGS.get(series.measurement)
        shown_by = series.tag("objectname") or series.measurement
        if tag is None or shown_by not in _PROCESSORS:
            continue
        instance = series.tag(tag)
        if instance is not None and not is_total(instance) and (shown_by != _QUEUES or instance.isdecimal()):
            instances_of.setdefault((host_key(host_of(series)), shown_by), set()).add(instance)
    for (host, shown_by), instances in instances_of.items():
        if shown_by != _QUEUES or len(instances) > 1:  # a single queue may be one that was selected from several
            yield host, "processors", float(len(instances))
    for series, values in _of(columns, _COUNT):
        yield host_key(series.host), "processors", float(values.max())


def _memory(columns: Columns) -> Iterator[tuple[str, Fact, float]]:
    """Yield installed memory in MB: from Telegraf or Windows, or from sysstat's used memory in KB and in percent."""
    for field, size in _MEMORY.items():
        for series, values in _of(columns, field):
            if series.tag("instance") is None or is_total(series.tag("instance") or ""):
                yield host_key(host_of(series)), "memory_mb", float(np.round(values.max() / size))
    shares = {host_key(series.host): values for series, values in _of(columns, _USED_SHARE)}
    for series, used in _of(columns, _USED):
        share = shares.get(host_key(series.host))
        if share is not None and share.sum() > 0:
            # sysstat rounds the percentage to hundredths; the mean over all rows is more exact.
            yield host_key(series.host), "memory_mb", float(np.round(used.mean() / (share.mean() / 100) / 2**10))


def _of(columns: Columns, field: tuple[str, str]) -> Iterator[tuple[Series, Values]]:
    """Yield the series of a field that have a value above 0, with their finite values."""
    for series, read in columns:
        if (series.measurement, series.field) == field:
            values = read()
            present = values[np.isfinite(values)]
            if len(present) and present.max() > 0:
                yield series, present


def contradictions(configured: GivenFacts, recorded: RecordedFacts, logs: Sequence[Log]) -> Iterator[str]:
    """Yield a line for each fact of a host that its logs contradict.

    Fewer recorded processors than are given are none: a log may have a selection of them.
    """
    for subject, facts in configured.by_subject.items():
        shown = recorded.get(subject.key, {})
        processors, memory = facts.get("processors"), facts.get("memory_mb")
        place = f"hosts.{subject.host}"
        if processors is not None and shown.get("processors", 0) > processors:
            yield f"{place}.processors: {processors:g} processors, but {shown['processors']:g} were recorded"
        if memory is None or subject.instance is not None:
            continue
        installed, free = shown.get("memory_mb"), _most_available(logs, subject.host)
        if installed is not None and abs(installed - memory) > _ABOUT * max(installed, memory):
            yield f"{place}.memory_mb: {memory:g} MB of memory, but {installed:g} MB were recorded"
        elif free > memory:
            gigabytes = f"; did you mean {1024 * memory:g} (MB)?" if free <= 1024 * memory else ""
            yield f"{place}.memory_mb: {memory:g} MB of memory, but {free:.0f} MB were available{gigabytes}"


def _most_available(logs: Sequence[Log], host: str) -> float:
    """Return the highest available memory of a host, in MB; 0 if it was not recorded."""
    most = 0.0
    for log in logs:
        for at, series in enumerate(log.series):
            size = _AVAILABLE.get(series.field) if series.measurement == _MEMORY_OBJECT else None
            if size and host_key(host_of(series)) == host_key(host):
                values = log.column(at)
                most = max(most, float(np.max(values[np.isfinite(values)], initial=0)) / size)
    return most
