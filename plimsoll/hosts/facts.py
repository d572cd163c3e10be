"""Facts of hosts by which limits scale, from plimsoll.toml, else from the log, else the documented default.

A fact in plimsoll.toml that the log contradicts is an error.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, Values
from plimsoll.model.names import find_measurement
from plimsoll.model.perfmon import make_telegraf_name
from plimsoll.model.series import Series, make_host_key
from plimsoll.rules.schema.field_types import AnyFact, Fact
from plimsoll.rules.subjects import Subject, find_host, is_total

_MEMORY_OBJECT = find_measurement("Memory")
_AVAILABLE = {"Available_Bytes": 2**20, "Available_KBytes": 2**10, "Available_MBytes": 1}  # of each to a MB
_ABOUT = 0.1  # firmware and graphics keep some memory for themselves
# Performance Monitor objects, and measurements of Telegraf and sysstat, with one instance per processor.
_QUEUES = "Server Work Queues"  # its instances are one queue per processor, and the Blocking Queue
_PROCESSORS = ("Processor", "Processor Information", _QUEUES, "cpu", "per_cpu")
_PROCESSOR_TAGS = {
    **{find_measurement(name): "instance" for name in _PROCESSORS[:3]},
    "cpu": "cpu",
    "per_cpu": "device",
}
_COUNT = ("system", "n_cpus")
_MEMORY = {
    ("mem", "total"): 2**20,
    (find_measurement("NUMA Node Memory"), make_telegraf_name("Total MBytes")): 1,
}  # to MB
_USED = ("mem_util", "kbmemused")
_USED_SHARE = ("mem_util", "pct_memused")
_IN_VALUES = {_COUNT, *_MEMORY, _USED, _USED_SHARE}
# Series, each with a function that reads its values.
Columns: TypeAlias = Sequence[tuple[Series, Callable[[], Values]]]
# The documented limits assume one processor and one spindle if the number is unknown.
DEFAULTS: Mapping[Fact, float] = {"processors": 1, "spindles": 1}
_NAMES = {
    "processors": "processors",
    "spindles": "spindles",
    "clock_mhz": "MHz",
    "memory_mb": "MB of memory",
    "link_bits": "bit/s",
}
Drives = Mapping[Subject, str]  # what each marked disk holds: `database` or `log`
Place = tuple[str, str | None]  # Subject.key: host and instance, case-folded; the instance is None for the host itself
RecordedFacts = Mapping[Place, Mapping[str, float]]
# The facts in plimsoll.toml: every host and instance named there has an entry, even without facts.
ConfiguredFacts = Mapping[Subject, Mapping[str, float]]


class UnknownFact(LookupError):
    """A needed fact that is neither in plimsoll.toml nor in the log, and has no documented default."""

    def __init__(self, fact: str, host: str) -> None:
        self.fact = fact
        super().__init__(f"{fact} of {host} is not known: give it in plimsoll.toml")


@dataclass(frozen=True)
class Facts:
    """The facts of hosts and instances.

    Facts that are `configured` in plimsoll.toml precede facts `recorded` in logs; facts of an instance precede facts
    of its host.
    """

    configured: ConfiguredFacts = field(default_factory=dict[Subject, Mapping[str, float]])
    recorded: RecordedFacts = field(default_factory=dict[Place, Mapping[str, float]])

    @cached_property
    def _by_place(self) -> RecordedFacts:
        """The configured facts by case-folded host and instance."""
        return {subject.key: facts for subject, facts in self.configured.items()}

    def __call__(self, subject: Subject, fact: Fact) -> float:
        """Return the value of a fact, or its documented default. Raise UnknownFact if there is neither."""
        return self._find_value(subject, fact)[0]

    def find(self, subject: Subject, fact: AnyFact) -> float | None:
        """Return the value of a fact from plimsoll.toml or the log; None without either, as defaults are not used."""
        match = self._find(subject, fact)
        return match[0] if match else None

    def explain(self, subject: Subject, fact: Fact) -> str:
        """Return a fact as text, with its origin: `4 spindles (plimsoll.toml)`."""
        value, origin = self._find_value(subject, fact)
        return f"{_format_fact(fact, value)} ({origin})"

    def of_host(self, host: str) -> tuple[str, ...]:
        """Return a text for each fact of a host and its instances: `E: 6 spindles (plimsoll.toml)`."""
        texts: dict[tuple[str, str], str] = {}
        for facts in (self._by_place, self.recorded):
            for (name, instance), values in facts.items():
                if name == make_host_key(host):
                    for fact, value in values.items():
                        place = f"{instance.upper()} " if instance else ""
                        text = (
                            f"{place}{_format_fact(fact, value)} "
                            f"({self._describe_origin(facts, (name, instance), fact)})"
                        )
                        texts.setdefault((instance or "", fact), text)
        return tuple(texts.values())

    def _find_value(self, subject: Subject, fact: Fact) -> tuple[float, str]:
        if match := self._find(subject, fact):
            return match
        if fact not in DEFAULTS:
            raise UnknownFact(fact, subject.host)
        return DEFAULTS[fact], "documented default"

    def _find(self, subject: Subject, fact: AnyFact) -> tuple[float, str] | None:
        host, instance = subject.key
        for facts in (self._by_place, self.recorded):
            for place in ((host, instance), (host, None)):
                if fact in facts.get(place, {}):
                    return facts[place][fact], self._describe_origin(facts, place, fact)
        return None

    def _describe_origin(self, facts: RecordedFacts, place: Place, fact: str) -> str:
        """Return the origin of a fact as text; if plimsoll.toml and the log differ, with the value in the log."""
        if facts is self.recorded:
            return "from the log"
        recorded = self.recorded.get(place, {}).get(fact)
        differs = recorded not in (None, facts[place][fact])
        return f"plimsoll.toml; the log shows {recorded:g}" if differs else "plimsoll.toml"


def _format_fact(fact: str, value: float) -> str:
    """Return a fact as text: `4 processors`, `1 spindle`, `4,096 MB of memory`, `RAID 5`."""
    if fact == "raid":
        return f"RAID {value:g}"
    name = _NAMES.get(fact, fact)
    if fact == "memory_mb":
        return f"{value:,.0f} {name}"
    return f"{value:g} {name.removesuffix('s') if fact in DEFAULTS and value == 1 else name}"


def find_recorded_facts(logs: Sequence[Log]) -> RecordedFacts:
    """Return the facts that logs show, by case-folded host."""
    return find_facts([(series, partial(log.column, at)) for log in logs for at, series in enumerate(log.series)])


def is_fact_in_values(series: Series) -> bool:
    """Return whether the values of a series, not only its name, show a fact of the host."""
    return (series.measurement, series.field) in _IN_VALUES


def is_fact_in_maximum(series: Series) -> bool:
    """Return whether the largest value of a series shows a fact of the host."""
    return (series.measurement, series.field) in (_COUNT, *_MEMORY)


def find_facts(columns: Columns) -> RecordedFacts:
    """Return the facts that series show, by case-folded host; only the necessary values are read."""
    recorded: dict[tuple[str, str | None], dict[str, float]] = {}
    for host, fact, value in (*_find_processors(columns), *_find_memory(columns)):
        facts = recorded.setdefault((host, None), {})
        facts[fact] = max(value, facts.get(fact, 0))
    return recorded


def _find_processors(columns: Columns) -> Iterator[tuple[str, Fact, float]]:
    """Yield a host and its number of processors for each source that shows it.

    The sources are objects that have an instance per processor, and Telegraf's `n_cpus`.
    """
    instances_of: dict[tuple[str, str], set[str]] = {}
    for series, _ in columns:
        tag = _PROCESSOR_TAGS.get(series.measurement)
        shown_by = series.tag("objectname") or series.measurement
        if tag is None or shown_by not in _PROCESSORS:
            continue
        instance = series.tag(tag)
        if instance is not None and not is_total(instance) and (shown_by != _QUEUES or instance.isdecimal()):
            instances_of.setdefault((make_host_key(find_host(series)), shown_by), set()).add(instance)
    for (host, shown_by), instances in instances_of.items():
        if shown_by != _QUEUES or len(instances) > 1:  # a single queue may be one that was selected from several
            yield host, "processors", float(len(instances))
    for series, values in _select_positive(columns, _COUNT):
        yield make_host_key(series.host), "processors", float(values.max())


def _find_memory(columns: Columns) -> Iterator[tuple[str, Fact, float]]:
    """Yield a host and its installed memory (MB) for each source that shows it.

    The sources are Telegraf, Windows, and sysstat (used memory in KB divided by its percentage). On Windows the memory
    is the total of the NUMA nodes; without a total, the sum of the nodes if these are numbered from 0 without a gap.
    """
    nodes: dict[str, dict[str, float]] = {}
    for name, size in _MEMORY.items():
        for series, values in _select_positive(columns, name):
            instance, installed = series.tag("instance"), float(np.round(values.max() / size))
            if instance is None or is_total(instance):
                yield make_host_key(find_host(series)), "memory_mb", installed
            else:
                nodes.setdefault(make_host_key(find_host(series)), {})[instance] = installed
    for host, of_nodes in nodes.items():
        if {*of_nodes} == {str(node) for node in range(len(of_nodes))}:
            yield host, "memory_mb", sum(of_nodes.values())
    shares = {make_host_key(series.host): values for series, values in _select_positive(columns, _USED_SHARE)}
    for series, used in _select_positive(columns, _USED):
        share = shares.get(make_host_key(series.host))
        if share is not None and share.sum() > 0:
            # sysstat rounds the percentage to hundredths; the mean over all rows is more exact.
            yield make_host_key(series.host), "memory_mb", float(np.round(used.mean() / (share.mean() / 100) / 2**10))


def _select_positive(columns: Columns, field: tuple[str, str]) -> Iterator[tuple[Series, Values]]:
    """Yield the series of a field that have any value above 0, with their finite values."""
    for series, read in columns:
        if (series.measurement, series.field) == field:
            values = read()
            present = values[np.isfinite(values)]
            if len(present) and present.max() > 0:
                yield series, present


def list_contradictions(configured: ConfiguredFacts, recorded: RecordedFacts, logs: Sequence[Log]) -> Iterator[str]:
    """Yield a message for each fact in plimsoll.toml that the host's logs contradict.

    Fewer processors in the logs than configured are no contradiction, as a log may lack some processors.
    """
    for subject, facts in configured.items():
        shown = recorded.get(subject.key, {})
        processors, memory = facts.get("processors"), facts.get("memory_mb")
        place = f"hosts.{subject.host}"
        if processors is not None and shown.get("processors", 0) > processors:
            yield f"{place}.processors: {processors:g} processors, but {shown['processors']:g} were recorded"
        if memory is None or subject.instance is not None:
            continue
        available = (
            float(np.nanmax(log.column(at), initial=0)) / _AVAILABLE[series.field]
            for log in logs
            for at, series in enumerate(log.series)
            if (series.measurement, make_host_key(find_host(series))) == (_MEMORY_OBJECT, make_host_key(subject.host))
            and series.field in _AVAILABLE
        )
        installed, free = shown.get("memory_mb"), max(available, default=0.0)
        if installed is not None and abs(installed - memory) > _ABOUT * max(installed, memory):
            yield f"{place}.memory_mb: {memory:g} MB of memory, but {installed:g} MB were recorded"
        elif free > memory:
            gigabytes = f"; did you mean {1024 * memory:g} (MB)?" if free <= 1024 * memory else ""
            yield f"{place}.memory_mb: {memory:g} MB of memory, but {free:.0f} MB were available{gigabytes}"
