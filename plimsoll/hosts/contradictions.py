"""Facts of plimsoll.toml that the logs show to be wrong: limits would be scaled by them."""

from collections.abc import Iterator, Sequence

import numpy as np

from plimsoll.hosts.facts import GivenFacts, RecordedFacts
from plimsoll.model.log import Log
from plimsoll.model.names import measurement
from plimsoll.model.series import host_key
from plimsoll.rules.subjects import host_of

_MEMORY = measurement("Memory")
_AVAILABLE = {"Available_Bytes": 2**20, "Available_KBytes": 2**10, "Available_MBytes": 1}  # of each to a MB
_ABOUT = 0.1  # firmware and graphics keep some memory for themselves


def contradictions(given: GivenFacts, recorded: RecordedFacts, logs: Sequence[Log]) -> Iterator[str]:
    """Yield a line for each fact of a host that its logs contradict.

    Fewer recorded processors than are given are none: a log may have a selection of them.
    """
    for subject, facts in given.by_subject.items():
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
            size = _AVAILABLE.get(series.field) if series.measurement == _MEMORY else None
            if size and host_key(host_of(series)) == host_key(host):
                values = log.column(at)
                most = max(most, float(np.max(values[np.isfinite(values)], initial=0)) / size)
    return most
