"""What signals/*.yaml and packs/*.yaml may say. Field names here are the names in the files."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from model.perfmon import CounterPath
from model.times import parse_duration
from rules import notation
from rules.healthy import Healthy

OFTEN = 0.1  # of the judged time; ours, docs/evaluation.md says why

Severity = Literal["info", "warning", "critical"]
Reduce = Literal["mean", "min", "max", "last", "sum", "count", "median", "increase"]
Fact = Literal["processors", "clock_mhz", "memory_mb", "spindles", "link_bits"]  # what a limit may scale by
Known = Fact | Literal["raid"]  # everything that may be known of a host or an instance

EACH = "*"  # in a path: each instance but the totals

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
SignalName = Annotated[str, Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")]


def _limit(value: object) -> object:
    return Healthy.parse(value) if isinstance(value, str) else value


def _duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str | float | int) else value


def _path(value: object) -> object:
    if not isinstance(value, str):
        return value
    path = CounterPath.parse(value)
    if path.computer:
        raise ValueError(f'"{value}" names a computer; a source is a path for any computer')
    return path


def _samples(value: object) -> object:
    if not isinstance(value, str):
        # A number may have been 0x60: to YAML that is 96.
        raise ValueError('a series is text: put it in quotes, as in "0x60"')
    return notation.parse(value)


_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%")


def _share(value: object) -> object:
    match = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    share = float(match[1]) / 100 if match else value
    if not isinstance(share, float) or not 0 < share <= 1:
        raise ValueError(f'"{value}" is not a share of the time; write it like "10 %", above 0 and up to 100')
    return share


Limit = Annotated[Healthy, BeforeValidator(_limit)]
Share = Annotated[float, BeforeValidator(_share)]
Duration = Annotated[int, BeforeValidator(_duration), Field(ge=0)]  # ns
Path = Annotated[CounterPath, BeforeValidator(_path)]
Samples = Annotated[tuple[float | None, ...], BeforeValidator(_samples)]


class Strict(BaseModel):
    """Unknown fields are errors, and what was loaded does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Transform(Strict):
    """`scale * x + offset`, applied to samples: 100 - x is scale -1, offset 100."""

    scale: float = 1.0
    offset: float = 0.0


class Source(Strict):
    """Where a signal can be taken from: a Perfmon path, or a measurement, field and tag equalities.

    In a path the instance `*` stands for each instance but `_Total`; SQL Server objects are written
    for the default instance (`SQLServer:`) and match named ones (`MSSQL$NAME:`) too.
    `instance` names the tag that tells the instances of a measurement apart, `host` the tag that
    holds the host where that is not the usual one. `but` are instances that are left out beside the
    totals; `*` in them is any text. `rate` says the field is a growing count.
    """

    path: Path | None = None
    measurement: str | None = None
    field: str | None = None
    tags: dict[str, str] = {}
    host: str | None = None
    instance: str | None = None
    but: tuple[str, ...] = ()
    rate: bool = False
    transform: Transform = Transform()

    @property
    def each(self) -> bool:
        """Whether it gives a value for each instance."""
        return self.path.instance == EACH if self.path else self.instance is not None

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, value: object) -> object:
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_kind(self) -> "Source":
        if (self.path is None) == (self.measurement is None) or (self.measurement is None) != (self.field is None):
            raise ValueError("a source is either a counter path, or a measurement and a field")
        if self.but and not self.each:
            raise ValueError("a source without instances has none to leave out")
        return self


class Weight(Strict):
    """How much an operand of a sum counts, by a fact of the subject: `values` by its value, else `unknown`."""

    by: Literal["raid"]
    values: dict[int, float]
    unknown: float

    def of(self, fact: float | None) -> float:
        """The weight where this is the fact; None where nobody knows it."""
        return self.unknown if fact is None else self.values.get(int(fact), self.unknown)


class Derivation(Strict):
    """A signal computed from others, each reduced over the window first; a zero divisor is no data.

    In a sum an operand may count more than once (`weights`). A `partial` sum is of the operands that are recorded and
    have data: for limits that a single operand can already break.
    """

    sum: tuple[SignalName, ...] | None = None
    weights: dict[SignalName, Weight] = {}
    partial: bool = False
    difference: tuple[SignalName, SignalName] | None = None
    ratio: tuple[SignalName, SignalName] | None = None

    @model_validator(mode="after")
    def _one_operation(self) -> "Derivation":
        if sum(x is not None for x in (self.sum, self.difference, self.ratio)) != 1:
            raise ValueError("a derived signal is one of sum, difference or ratio")
        if self.partial and (self.weights or not self.sum):
            raise ValueError("partial is for a sum without weights")
        if strange := set(self.weights) - set(self.sum or ()):
            raise ValueError(f'weights name "{min(strange)}", which is no operand of a sum')
        return self

    @property
    def operands(self) -> tuple[str, ...]:
        """The signals it is computed from."""
        return self.sum or self.difference or self.ratio or ()


class Signal(Strict):
    """A quantity a person reasons about, and where it can be taken from, the best source first.

    `instances` says what becomes of sources with instances: each is kept, or they are added up to one value of
    the host. A signal of a `fact` has that value of the host throughout.
    """

    title: str
    unit: str
    meaning: str
    worse: Literal["higher", "lower", "either"] = "higher"
    instances: Literal["none", "each", "sum"] = "none"
    sources: tuple[Source, ...] = ()
    derived: Derivation | None = None
    fact: Fact | None = None

    @model_validator(mode="after")
    def _has_origin(self) -> "Signal":
        if sum((bool(self.sources), self.derived is not None, self.fact is not None)) != 1:
            raise ValueError("a signal has either sources, is derived, or is a fact")
        if self.instances == "sum" and not all(source.each for source in self.sources):
            raise ValueError("a sum over instances needs sources that have instances")
        return self


class Condition(Strict):
    """A signal reduced over a window and held against a limit; `healthy` is as the document puts it."""

    signal: SignalName
    healthy: Limit
    over: Duration = parse_duration("1m")
    reduce: Reduce = "mean"
    scale: Fact | None = None


class Citation(Strict):
    """Where a limit comes from."""

    document: str
    place: str
    quote: str | None = None


class Case(Strict):
    """What a rule must make of some data: its `series` by signal, in the notation of rules/notation.py.

    A sample every `interval`. `fires` tells whether the rule is to fire at any time, None that it is to
    have no data throughout. `phase` is that of the whole case (None: phases are not known); `facts` are
    the host's, and `instance` the one the samples are of where the signal keeps instances.
    """

    name: str
    series: dict[SignalName, Samples]
    fires: bool | None
    interval: Annotated[Duration, Field(gt=0)] = parse_duration("10s")
    phase: str | None = None
    facts: dict[Known, float] = {}
    instance: str = "0"


class Rule(Condition):
    """A documented threshold; what it means to the sample is in docs/evaluation.md.

    A run in which it never fired has crossed it often where the condition was true for `for` in total, and for
    the share `often` of the judged time. `why` gives the reason for the limit, `thresholds` which rows of the
    studies' limits (tests/data/thresholds.csv) it carries out, `limits` which of today's (tests/data/limits-today.csv).

    `superseded_by` are the rules of today that judge the same thing: on a host where one of them was judged, this one
    is a note.

    A rule with `drive` is for the disks that plimsoll.toml marks so; one with `where` for the hosts of which these
    facts hold. On other hosts it does not apply (`where_outside: skip`) or is a note (info). Where such a fact is not
    known it is not judged, unless `where_unknown` says otherwise: judged as it is (judge) or as a note (info), or
    taken not to apply (skip).
    """

    id: Identifier
    for_: Duration = Field(default=0, alias="for")
    often: Share = OFTEN
    recover: Limit | None = None
    phase: str | None = None
    when_phase_unknown: tuple[Condition, ...] = ()
    and_: tuple[Condition, ...] = Field(default=(), alias="and")
    severity: Severity
    summary: str
    look_at: tuple[SignalName, ...] = ()
    measured_on: str | None = None
    why: str = ""
    superseded_by: tuple[Identifier, ...] = ()
    drive: Literal["database", "log"] | None = None
    where: dict[Fact, Limit] = {}
    where_unknown: Literal["info", "judge", "skip"] | None = None
    where_outside: Literal["info", "skip"] = "skip"
    thresholds: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    sources: tuple[Citation, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> "Rule":
        if self.recover and self.recover.worse != self.healthy.worse:
            raise ValueError(f'recover "{self.recover}" lies on the other side than healthy "{self.healthy}"')
        if self.when_phase_unknown and not self.phase:
            raise ValueError("when_phase_unknown needs a phase")
        if self.where_unknown and not self.where:
            raise ValueError("where_unknown needs a where")
        if self.where_outside != "skip" and not self.where:
            raise ValueError("where_outside needs a where")
        return self

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Every condition of the rule, its own first."""
        return (self, *self.and_, *self.when_phase_unknown)


class AppliesTo(Strict):
    """Which hosts a pack is for: those that have any of these Perfmon objects or measurements.

    Objects are written for the default SQL Server instance and may end in `*`.
    """

    objects: tuple[str, ...] = ()
    measurements: tuple[str, ...] = ()


class Pack(Strict):
    """Rules for one kind of system. Without `applies_to` they are for every host."""

    pack: Identifier
    title: str
    about: str
    applies_to: AppliesTo | None = None
    rules: tuple[Rule, ...]


class Signals(Strict):
    """A file of signals/ as a whole."""

    signals: dict[SignalName, Signal]
