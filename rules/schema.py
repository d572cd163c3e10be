"""What signals/*.yaml and packs/*.yaml may say. Field names here are the names in the files.

The descriptions are those of docs/packs.md, and what editors show: docs/build.py writes both from them.
"""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from model.perfmon import CounterPath
from model.times import parse_duration
from rules import notation
from rules.healthy import Healthy
from rules.source import IDENTIFIER, SIGNAL_NAME

OFTEN = 0.1  # of the judged time; ours, docs/evaluation.md says why

Severity = Literal["info", "warning", "critical"]
Reduce = Literal["mean", "min", "max", "last", "sum", "count", "median", "increase"]
Fact = Literal["processors", "clock_mhz", "memory_mb", "spindles", "link_bits"]  # what a limit may scale by
Operation = Literal["sum", "difference", "ratio"]
Known = Fact | Literal["raid"]  # everything that may be known of a host or an instance

EACH = "*"  # in a path: each instance but the totals

Identifier = Annotated[str, Field(pattern=IDENTIFIER)]
SignalName = Annotated[str, Field(pattern=SIGNAL_NAME)]


def _limit(value: object) -> object:
    return Healthy.parse(value) if isinstance(value, str) else value


def _duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str | float | int) else value


def _path(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        path = CounterPath.parse(value)
    except ValueError as error:
        raise ValueError(rf"{error}; write it like '\PhysicalDisk(*)\Disk Reads/sec', in single quotes") from None
    if path.computer:
        any_computer = path._replace(computer=None)
        raise ValueError(f"\"{value}\" names a computer; a source is a path for any computer: '{any_computer}'")
    return path


def _samples(value: object) -> object:
    if not isinstance(value, str):
        # A number may have been 0x60: to YAML that is 96.
        raise ValueError('a series is text: put it in quotes, as in "0x60"')
    return notation.parse(value)


def _bare(limit: Healthy) -> Healthy:
    if limit.unit:
        raise ValueError(f'"{limit}": a fact has its unit in its name; write the number alone')
    return limit


_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%")


def _share(value: object) -> object:
    match = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    share = float(match[1]) / 100 if match else value
    if not isinstance(share, float) or not 0 < share <= 1:
        raise ValueError(f'"{value}" is not a share of the time; write it like "10 %", above 0 and up to 100')
    return share


def _text(kind: str, *examples: str, number: bool = False) -> WithJsonSchema:
    """What a field that is written as text is for an editor; `kind` is what the reference page calls it."""
    return WithJsonSchema(
        {"type": ["string", "number"] if number else "string", "format": kind, "examples": [*examples]}
    )


Limit = Annotated[Healthy, BeforeValidator(_limit), _text("limit", "< 80", "<= 25 ms", "> 3600 s", ">= 4 GB", "= 0")]
FactLimit = Annotated[Limit, AfterValidator(_bare), _text("limit", "<= 4", "= 1")]
Share = Annotated[float, BeforeValidator(_share), _text("share of time", "10 %")]
Duration = Annotated[  # ns
    int, BeforeValidator(_duration), Field(ge=0), _text("duration", "30s", "5m", "1h30m", number=True)
]
Path = Annotated[
    CounterPath,
    BeforeValidator(_path),
    _text("counter path", r"\Memory\Available Bytes", r"\PhysicalDisk(*)\% Disk Time"),
]
Samples = Annotated[tuple[float | None, ...], BeforeValidator(_samples), _text("series", "85x60", "65x12 95x12 _x6")]


class Strict(BaseModel):
    """Unknown fields are errors, and what was loaded does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Transform(Strict):
    """`scale * x + offset`, applied to samples: 100 - x is scale -1, offset 100."""

    scale: float = Field(default=1, description="What a sample is multiplied by.")
    offset: float = Field(default=0, description="What is then added.")


class Fields(Strict):
    """Several fields of one measurement as one value: what each sample gives, as rules/fields.py has it."""

    sum: Annotated[tuple[str, ...], Field(min_length=2)] | None = Field(default=None, description="All, added up.")
    difference: tuple[str, str] | None = Field(default=None, description="The first less the second.")
    ratio: tuple[str, str] | None = Field(default=None, description="The first divided by the second.")

    @model_validator(mode="after")
    def _one_operation(self) -> "Fields":
        if [self.sum, self.difference, self.ratio].count(None) != 2:
            raise ValueError("a field is a name, or one of sum, difference or ratio of several")
        if len(set(self.names)) != len(self.names):
            raise ValueError("a field is named twice")
        return self

    @property
    def operation(self) -> Operation:
        """What becomes of them."""
        return "sum" if self.sum else "difference" if self.difference else "ratio"

    @property
    def names(self) -> tuple[str, ...]:
        """The fields, in order."""
        return self.sum or self.difference or self.ratio or ()


class Source(Strict):
    """Where a signal can be taken from: a Perfmon path, or a measurement of Telegraf's and one of its fields.

    A path may stand alone in the place of a source.
    """

    path: Path | None = Field(
        default=None,
        description="A counter, in English and of no computer: `'\\Memory\\Available Bytes'`, in single quotes. The "
        "instance `*` is each instance but `_Total`. SQL Server objects are written for the default instance "
        "(`SQLServer:`) and are those of named ones (`MSSQL$NAME:`) as well.",
    )
    measurement: str | None = Field(default=None, description="A measurement of Telegraf's, where there is no path.")
    field: str | Fields | None = Field(
        default=None, description="The field of the measurement, or several of them taken together."
    )
    tags: dict[str, str] = Field(default={}, description="What tags of the measurement must be.")
    host: str | None = Field(default=None, description="The tag that holds the host where that is not the usual one.")
    instance: str | None = Field(default=None, description="The tag that tells the instances of a measurement apart.")
    but: tuple[str, ...] = Field(
        default=(), description="Instances that are left out beside the totals; `*` in them is any text."
    )
    rate: bool = Field(
        default=False,
        description="Whether the field, or each of several, is a growing count, of which the rate is taken.",
    )
    per: Fact | None = Field(
        default=None,
        description="A fact of the host it is divided by; where that is not known the source gives nothing.",
    )
    transform: Transform = Field(default=Transform(), description="What is made of each sample.")

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of its measurement that it takes."""
        return self.field.names if isinstance(self.field, Fields) else (self.field,) if self.field else ()

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
    """How much an operand of a sum counts, by a fact of the subject."""

    by: Literal["raid"] = Field(description="The fact, which plimsoll.toml gives.")
    values: dict[int, float] = Field(description="How often it counts, by the value of the fact.")
    unknown: float = Field(description="How often it counts with another value, or where nobody knows it.")

    def of(self, fact: float | None) -> float:
        """The weight where this is the fact; None where nobody knows it."""
        return self.unknown if fact is None else self.values.get(int(fact), self.unknown)


class Derivation(Strict):
    """A signal computed from others, each reduced over the window first; a divisor of zero or below is no data."""

    sum: tuple[SignalName, ...] | None = Field(default=None, description="The signals that are added up.")
    weights: dict[SignalName, Weight] = Field(default={}, description="Which of a sum count more than once.")
    partial: bool = Field(
        default=False,
        description="Whether the sum is of those that are recorded and have data: for limits that one can break alone.",
    )
    difference: tuple[SignalName, SignalName] | None = Field(default=None, description="The first less the second.")
    ratio: tuple[SignalName, SignalName] | None = Field(default=None, description="The first divided by the second.")

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
    """A quantity a person reasons about, and where it is taken from: one of `sources`, `derived` and `fact`."""

    title: str = Field(description="What charts and reports call it.")
    unit: str = Field(
        description="The unit of its values: `s`, `ms`, `bytes`, `bytes/s`, `%`, `/s`, `ratio`, or counted things."
    )
    meaning: str = Field(description="What it counts, and what a value tells.")
    worse: Literal["higher", "lower", "either"] = Field(
        default="higher", description="The direction in which values become bad."
    )
    instances: Literal["none", "each", "sum"] = Field(
        default="none",
        description="What becomes of sources with instances: each is judged on its own, or they are added up to one "
        "value of the host.",
    )
    sources: tuple[Source, ...] = Field(
        default=(), description="The best first: of a host the first that holds samples is taken."
    )
    derived: Derivation | None = Field(default=None, description="How it is computed from other signals.")
    fact: Fact | None = Field(default=None, description="The fact of the host that is its value throughout.")

    @model_validator(mode="after")
    def _has_origin(self) -> "Signal":
        if sum((bool(self.sources), self.derived is not None, self.fact is not None)) != 1:
            raise ValueError("a signal has either sources, is derived, or is a fact")
        if self.instances == "sum" and not all(source.each for source in self.sources):
            raise ValueError("a sum over instances needs sources that have instances")
        if self.instances == "none" and any(source.each for source in self.sources):
            raise ValueError("a source has instances: judge each (instances: each), or add them up (instances: sum)")
        if self.instances == "each" and not all(source.each for source in self.sources):
            raise ValueError("instances: each needs sources that have instances, as (*) in a path")
        return self


class Condition(Strict):
    """A signal reduced over a window and held against a limit."""

    signal: SignalName = Field(description="What is held against the limit: a shipped signal, or one of the pack.")
    healthy: Limit = Field(
        description="The healthy side of the limit, as the document puts it: `< 80` is crossed at 80 and above. With a "
        "unit where another could be meant: `< 25 ms`, `>= 4 GB`."
    )
    over: Duration = Field(default=parse_duration("1m"), description="The window that ends at each evaluation.")
    reduce: Reduce = Field(
        default="mean", description="How the samples of the window become one value; `increase` is last less first."
    )
    scale: Fact | None = Field(
        default=None,
        description="The fact of the host that the limit is multiplied by: the limit is for one processor, one MB.",
    )


class Citation(Strict):
    """Where a limit comes from: a document, or who agreed on it."""

    document: str = Field(description="The name by which it is found: title, author, year.")
    place: str = Field(description="Where in the document.")
    quote: str | None = Field(default=None, description="What stands there, word for word.")


class Case(Strict):
    """What a rule must make of some data; `plimsoll rules test` runs it. For a disk rule the disk is marked as its."""

    name: str = Field(description="What it shows: `fires`, `just below`, `data missing`.")
    series: dict[SignalName, Samples] = Field(
        description="Samples by signal, in the signal's unit: `85x60` is 85 and 60 more of it, `0+10x3` is 0 10 20 30, "
        "`_x5` is five times nothing. Of a derived signal those that it is computed from."
    )
    fires: bool | None = Field(description="Whether it is to fire at any time; null: to have no data throughout.")
    interval: Duration = Field(default=parse_duration("10s"), gt=0, description="How far samples lie apart.")
    phase: str | None = Field(default=None, description="The phase of the whole case; without it phases are not known.")
    facts: dict[Known, float] = Field(default={}, description="The facts of the host.")
    instance: str = Field(default="0", description="The instance of the samples, where the signal keeps instances.")


class Rule(Condition):
    """A documented threshold; what it means to the sample is in docs/evaluation.md."""

    id: Identifier = Field(description="Its name, once among all packs: `own-exceptions`.")
    for_: Duration = Field(default=0, alias="for", description="How long it must be crossed to fire; else at once.")
    often: Share = Field(
        default=OFTEN,
        description="The share of the judged time from which it counts as often crossed: where it was crossed for "
        "`for` in all, and never so long on end. As `10 %`.",
    )
    recover: Limit | None = Field(
        default=None, description="The limit that ends a crossing, further inside; else that is `healthy` itself."
    )
    phase: str | None = Field(default=None, description="The phase of a run it is judged in: `steady`.")
    when_phase_unknown: tuple[Condition, ...] = Field(
        default=(), description="Conditions that must be crossed as well where the phases of a run are not known."
    )
    and_: tuple[Condition, ...] = Field(
        default=(), alias="and", description="Conditions that must be crossed at the same time."
    )
    severity: Severity = Field(description="What a crossing is: warning and critical make a run not healthy.")
    summary: str = Field(description="What a crossing means, in a sentence.")
    look_at: tuple[SignalName, ...] = Field(default=(), description="Signals to look at next.")
    measured_on: str | None = Field(default=None, description="The machine that the limit was measured on.")
    why: str = Field(default="", description="The reason for the limit, and which part of the rule is ours.")
    superseded_by: tuple[Identifier, ...] = Field(
        default=(),
        description="Rules of today that judge the same thing: on a host where one of them was judged, this is a note.",
    )
    drive: Literal["database", "log"] | None = Field(
        default=None, description="Only for the disks that plimsoll.toml marks so."
    )
    where: dict[Fact, FactLimit] = Field(
        default={}, description='Only for hosts of which these facts hold: `{processors: "<= 4"}`.'
    )
    where_unknown: Literal["info", "judge", "skip"] | None = Field(
        default=None,
        description="What becomes of it where such a fact is not known: judged as a note, judged as it is, or taken "
        "not to apply; else it is not judged, and says so.",
    )
    where_outside: Literal["info", "skip"] = Field(
        default="skip", description="What becomes of it on other hosts: it does not apply, or is a note."
    )
    thresholds: tuple[str, ...] = Field(
        default=(), description="The rows of the studies' limits (tests/data/thresholds.csv) that it carries out."
    )
    limits: tuple[str, ...] = Field(
        default=(), description="The rows of today's limits (tests/data/limits-today.csv) that it carries out."
    )
    cases: tuple[Case, ...] = Field(default=(), description="What it must make of some data.")
    sources: tuple[Citation, ...] = Field(min_length=1, description="Where the limit comes from.")

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
    """Which hosts a pack is for: those that have any of these."""

    objects: tuple[str, ...] = Field(
        default=(),
        description="Perfmon objects, which may end in `*`; those of SQL Server are written for the default instance.",
    )
    measurements: tuple[str, ...] = Field(default=(), description="Measurements of Telegraf's.")


class Pack(Strict):
    """Rules for one kind of system."""

    pack: Identifier = Field(description="Its name, once among all packs: `own`.")
    title: str = Field(description="What reports call it.")
    about: str = Field(description="What it is for, and where its limits come from.")
    applies_to: AppliesTo | None = Field(default=None, description="The hosts it is for; else every host.")
    signals: dict[SignalName, Signal] = Field(
        default={}, description="Signals of its own, which its rules know beside the shipped ones."
    )
    rules: tuple[Rule, ...] = Field(description="Its limits.")


class Signals(Strict):
    """A file of rules/signals as a whole."""

    signals: dict[SignalName, Signal]
