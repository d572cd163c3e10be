"""What signals/*.yaml may say. Field names here are the names in the files.

docs/build.py copies the descriptions into docs/packs.md and into the JSON schemas that editors use.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rules.field_types import EACH, Fact, Operation, Path, SignalName, Strict


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


class Signals(Strict):
    """A file of rules/signals as a whole."""

    signals: dict[SignalName, Signal]
