"""The content of signals/*.yaml. Field names here are the names in the files.

docs/build.py copies the descriptions into docs/packs.md and into the JSON schemas that editors use.
"""

from typing import Annotated, Literal

from plimsoll.model.file_models import FieldBounds, FieldParser, entry, file_model
from plimsoll.model.perfmon import EACH_INSTANCE
from plimsoll.rules.schema.field_types import (
    Fact,
    Load,
    Operation,
    Path,
    Resource,
    Sentence,
    SignalName,
    Trend,
)


@file_model
class Transform:
    """`scale * x + offset`, applied to samples: 100 - x is scale -1, offset 100."""

    unknown: tuple[float, ...] = entry(
        default=(),
        description="The recorded values that stand for an unknown value, such as -1 for the speed of a link; they are "
        "no samples.",
    )
    scale: float = entry(default=1, description="The factor by which a sample is multiplied.")
    offset: float = entry(default=0, description="The number that is then added.")
    most: float | None = entry(default=None, description="The highest result; higher values are reduced to it.")

    @property
    def needs_samples(self) -> bool:
        """Whether it must be applied before samples are reduced: the result is not that of the reduced samples."""
        return self.most is not None or bool(self.unknown)


_Several = Annotated[tuple[str, ...], FieldBounds(min_length=2)]


@file_model
class Fields:
    """Several fields of one measurement, combined sample by sample (plimsoll/rules/window.py)."""

    sum: _Several | None = entry(default=None, description="The sum of all.")
    difference: tuple[str, str] | None = entry(default=None, description="The first less the second.")
    ratio: tuple[str, str] | None = entry(default=None, description="The first divided by the second.")

    def __post_init__(self) -> None:
        if [self.sum, self.difference, self.ratio].count(None) != 2:
            raise ValueError("a field is a name, or one of sum, difference or ratio of several")
        if len(set(self.names)) != len(self.names):
            raise ValueError("a field is named twice")

    @property
    def operation(self) -> Operation:
        """The operation that combines the fields."""
        return "sum" if self.sum else "difference" if self.difference else "ratio"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in the order of the operation."""
        return self.sum or self.difference or self.ratio or ()


@file_model
class Source:
    """The place where a signal is recorded: a Perfmon counter path, or a field of a Telegraf measurement.

    In a list of sources, a path may be given alone.
    """

    path: Path | None = entry(
        default=None,
        description="A counter path, in English and without a computer, in single quotes: "
        "`'\\Memory\\Available Bytes'`. The instance `*` is every instance except `_Total`. Objects of SQL Server are "
        "written for the default instance (`SQLServer:`), and include those of named instances (`MSSQL$NAME:`).",
    )
    measurement: str | None = entry(default=None, description="A Telegraf measurement, if there is no path.")
    field: str | Fields | None = entry(
        default=None, description="The field of the measurement, or an operation on several fields."
    )
    tags: dict[str, str] = entry(default_factory=dict, description="Tags that the series must have, with their values.")
    host: str | None = entry(default=None, description="The tag that names the host, if other than `host`.")
    instance: str | None = entry(default=None, description="The tag that names the instance.")
    but: tuple[str, ...] = entry(
        default=(), description="Instances to leave out, besides totals; `*` matches any text."
    )
    rate: bool = entry(
        default=False,
        description="Whether the fields are growing counters, of which the signal is the rate.",
    )
    per: Fact | None = entry(
        default=None,
        description="A fact of the host by which samples are divided; if it is unknown, the source gives no data.",
    )
    transform: Transform = entry(default_factory=Transform, description="A linear transform of each sample.")
    across: Literal["mean", "max", "min"] | None = entry(
        default=None,
        description="How the values of instances are combined: into one value for a signal without instances, or "
        "with `part_after` into one for each whole.",
    )
    part_after: str | None = entry(
        default=None,
        description="For `across`: the text that separates the name of a whole from that of its part. With `:`, the "
        "instances `APP01:Hv VP 0` and `APP01:Hv VP 1` are parts of `APP01`.",
    )
    fallback: bool = entry(
        default=False,
        description="Use this source only for hosts or instances without any of the sources above. If the signal has"
        " instances, a fallback without instances (`_Total`) is for hosts without a recorded instance. "
        "Grafana cannot tell those hosts from others, so its export leaves the fallback out and says so.",
    )

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the measurement that the source reads; empty for a counter path."""
        return self.field.names if isinstance(self.field, Fields) else (self.field,) if self.field else ()

    @property
    def has_instances(self) -> bool:
        """Whether the source gives a value for each instance."""
        return self.path.instance == EACH_INSTANCE if self.path else self.instance is not None

    def __post_init__(self) -> None:
        if (self.path is None) == (self.measurement is None) or (self.measurement is None) != (self.field is None):
            raise ValueError("a source is either a counter path, or a measurement and a field")
        if self.but and not self.has_instances:
            raise ValueError("a source without instances has none to leave out")
        if self.transform.unknown and (self.rate or isinstance(self.field, Fields)):
            raise ValueError("unknown values are for a source that is a single field, and no rate")
        if self.across and not self.has_instances:
            raise ValueError("across needs a source that has instances")
        if self.part_after and not self.across:
            raise ValueError("part_after needs across: how the parts become one value")
        if self.across and not self.fallback:
            raise ValueError("across is for a fallback: Grafana cannot express it")


_AnySource = Annotated[Source, FieldParser(lambda value: {"path": value} if isinstance(value, str) else value)]


@file_model
class Weight:
    """The weight of an operand in a sum, by a fact of the host or instance."""

    by: Literal["raid"] = entry(description="The fact; plimsoll.toml gives it.")
    values: dict[int, float] = entry(description="The weight for each value of the fact.")
    unknown: float = entry(description="The weight for any other value, or if the fact is unknown.")

    def of(self, fact: float | None) -> float:
        """Return the weight for a value of the fact; None is an unknown value."""
        return self.unknown if fact is None else self.values.get(int(fact), self.unknown)


@file_model
class Derivation:
    """A signal computed from operands that are first reduced over the window. A divisor of 0 or less gives no data."""

    sum: tuple[SignalName, ...] | None = entry(default=None, description="The signals that are added up.")
    weights: dict[SignalName, Weight] = entry(
        default_factory=dict, description="Weights of operands of a sum; by default 1."
    )
    partial: bool = entry(
        default=False,
        description="Whether to add up only the operands with data: for limits that a single operand can cross.",
    )
    difference: tuple[SignalName, SignalName] | None = entry(default=None, description="The first less the second.")
    ratio: tuple[SignalName, SignalName] | None = entry(default=None, description="The first divided by the second.")
    times: SignalName | None = entry(default=None, description="The signal by which the sum is multiplied.")

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.sum, self.difference, self.ratio)) != 1:
            raise ValueError("a derived signal is one of sum, difference or ratio")
        if self.times and (self.weights or self.partial or not self.sum):
            raise ValueError("times is for a sum that is neither partial nor weighted")
        if self.partial and (self.weights or not self.sum):
            raise ValueError("partial is for a sum without weights")
        if strange := set(self.weights) - set(self.sum or ()):
            raise ValueError(f'weights name "{min(strange)}", which is no operand of a sum')

    @property
    def operands(self) -> tuple[str, ...]:
        """The signals that the derived signal is computed from."""
        times = (self.times,) if self.times else ()
        return (*(self.sum or self.difference or self.ratio or ()), *times)

    @property
    def operation(self) -> Operation:
        """The operation on the operands. `product` multiplies the sum of all operands but the last by the last."""
        if self.times:
            return "product"
        return "sum" if self.sum else "difference" if self.difference else "ratio"


Level = float | str  # a value, or the rule whose documented limit it is


@file_model
class Pressure:
    """The values from which a resource is short, or requests wait inside the software; used to find bottlenecks."""

    resource: Literal["cpu", "disk", "memory", "network", "software"] = entry(
        description="The resource that is short; `software` means that requests wait inside it."
    )
    rules: tuple[str, ...] = entry(
        default=(),
        description="The rules whose limit marks the resource as near its capacity; the first rule that was applied "
        "to the host is used.",
    )
    at: Level | None = entry(
        default=None,
        description="The value that does so if none of these rules was applied; by default the limit of the first "
        "rule.",
    )
    low: Level | None = entry(default=None, description="Below this value, hardly anything is used, or nobody waits.")
    high: Level | None = entry(
        default=None, description="From this value on, the resource is no longer far from its capacity."
    )
    full: Level | None = entry(default=None, description="From this value on, the resource is exhausted.")
    alone: bool = entry(
        default=True,
        description="Whether crossing one of these limits, or a critical one, for a part of the run alone shows that"
        " the resource was short.",
    )
    source: str = entry(default="", description="The source of the values given here.")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The levels `at`, `low`, `high` and `full` that are numbers, not names of rules."""
        return tuple(level for level in (self.at, self.low, self.high, self.full) if isinstance(level, float))

    @property
    def named(self) -> tuple[str, ...]:
        """The ids of `rules`, and of the rules that the levels `at`, `low`, `high` and `full` name."""
        return (*self.rules, *(level for level in (self.at, self.low, self.high, self.full) if isinstance(level, str)))

    def __post_init__(self) -> None:
        if bool(self.numbers) != bool(self.source):
            raise ValueError("`source` says where the numbers of at, low, high and full are from")


@file_model
class RequestRate:
    """The rate of requests, for a signal that is the time per request."""

    rate: SignalName = entry(description="The signal that counts requests per second, with the same instances.")
    minimum_rate: float = entry(
        default=0,
        alias="least",
        ge=0,
        description="The lowest rate (requests per second) at which limits are judged. In a window with fewer "
        "requests no limit is crossed, unless they were so slow that on average at least half a request "
        "was outstanding.",
    )


@file_model
class Signal:
    """A quantity that rules, charts and reports use. It has exactly one origin: `sources`, `derived` or `fact`."""

    title: Sentence = entry(description="Its name in charts and reports.")
    unit: str = entry(
        description="The unit of its values: `s`, `ms`, `bytes`, `bytes/s`, `%`, `share` (0 to 1, shown as %), `/s`, "
        "`ratio`, or what is counted (`requests`)."
    )
    meaning: str = entry(description="What it measures, and how to read its values.")
    worse: Literal["higher", "lower", "either"] = entry(
        default="higher", description="The direction in which values become bad."
    )
    negative: bool = entry(
        default=False,
        description="Whether its values can be below zero. By default values in `%`, times, bytes and rates cannot: "
        "values of -1 or less (times of -0.01 ms, ratios of -0.01) are then not judged.",
    )
    highest: float | None = entry(
        default=None,
        description="The highest possible value: 100 for a share of a whole, 3600 s for a disk's latency. Values "
        "more than a tenth above it are not judged.",
    )
    instances: Literal["none", "each", "sum"] = entry(
        default="none",
        description="How instances are treated: with `each` every instance is judged, `sum` adds them up to one "
        "value of the host, `none` is for signals without instances.",
    )
    resource: Resource | None = entry(
        default=None,
        description="The resource of the host that its limits judge: `cpu`, `memory`, `disk` (latency or use) or "
        "`space`. A run is healthy only if a warning or critical limit judged each of these.",
    )
    silent_at: float | None = entry(
        default=None,
        description="A value that proves nothing if the signal always has it, such as a queue of 0.",
    )
    constant: bool = entry(
        default=False,
        description="Whether its value is constant, like the size of a volume: if a further condition of a rule has "
        "no data for it, its last value is used, or else its next.",
    )
    moves: bool = entry(
        default=False,
        description="Whether it always changes on a running host. If none of these signals changes, the recorder "
        "stood still.",
    )
    weight: RequestRate | None = entry(
        default=None,
        description="For a time per request: the rate of the requests. Means are weighted by it, and an interval "
        "without requests has no value. If the rate was not recorded, an interval with a time of exactly"
        " 0 has none.",
    )
    load: Load | None = entry(
        default=None,
        description="The kind of load it measures, if any: `operations` done, `connections` or users, or `bytes` "
        "moved. Phases and load steps are found from the load, best from operations.",
    )
    trend: Trend | None = entry(
        default=None,
        description="What a trend means under constant load: the signal `must_not_rise` (memory of a leaking process"
        " does), `must_not_fall`, or `should_rise` (while a cache fills).",
    )
    response_time: bool = entry(default=False, description="Whether it measures how long clients wait.")
    pressure: Pressure | None = entry(
        default=None,
        description="The values from which a resource is short, or requests wait inside the software. Each limit is "
        "written once: in a rule, or here if no rule has it.",
    )
    sources: tuple[_AnySource, ...] = entry(
        default=(), description="The sources, the best first: for each instance, the first one with samples is used."
    )
    derived: Derivation | None = entry(default=None, description="How the signal is computed from other signals.")
    fact: Fact | None = entry(default=None, description="A fact of the host, which is its constant value.")

    def __post_init__(self) -> None:
        if sum((bool(self.sources), self.derived is not None, self.fact is not None)) != 1:
            raise ValueError("a signal has either sources, is derived, or is a fact")
        if self.weight and (not self.sources or self.instances == "sum"):
            raise ValueError("weight is for a signal that is recorded, and not a sum over instances")
        if self.instances == "sum" and not all(source.has_instances for source in self.sources):
            raise ValueError("a sum over instances needs sources that have instances")
        if self.instances == "none" and any(source.has_instances and not source.across for source in self.sources):
            raise ValueError("a source has instances: judge each (instances: each), or add them up (instances: sum)")
        if any(source.across and (self.instances == "each") != bool(source.part_after) for source in self.sources):
            raise ValueError("across is for a signal without instances, or with part_after for the wholes of one")
        if self.instances == "sum" and any(source.across for source in self.sources):
            raise ValueError("a sum over instances needs no across")
        if self.instances == "each" and not all(source.has_instances or source.fallback for source in self.sources):
            raise ValueError("instances: each needs sources that have instances, as (*) in a path")


@file_model
class Signals:
    """The content of a file in rules/signals."""

    signals: dict[SignalName, Signal]
