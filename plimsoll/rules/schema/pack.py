"""The content of packs/*.yaml. Field names here are the names in the files.

docs/build.py copies the descriptions into docs/packs.md and into the JSON schemas that editors use.
"""

from typing import Literal

from plimsoll.model.lazy_pydantic import Field, StrictModel, model_validator
from plimsoll.model.times import parse_duration
from plimsoll.rules.schema.field_types import (
    AnyFact,
    Duration,
    Fact,
    FactLimit,
    Identifier,
    Limit,
    Reduce,
    Samples,
    Sentence,
    Severity,
    Share,
    SignalName,
)
from plimsoll.rules.schema.signal import Signal

OFTEN = 0.1  # share of the judged time; our choice, explained in docs/evaluation.md


class Condition(StrictModel):
    """A signal reduced over a window and compared with a limit."""

    signal: SignalName = Field(description="The signal to compare with the limit: a shipped one, or one of the pack.")
    healthy: Limit = Field(
        description="The limit with the operator of its healthy side: `< 80` is crossed at 80 and above. Times, "
        "bytes and bytes/s need a unit: `< 25 ms`, `>= 4 GB`."
    )
    over: Duration = Field(default=parse_duration("1m"), description="The window that ends at each evaluation.")
    reduce: Reduce = Field(
        default="mean",
        description="How the samples in the window are reduced to one value; `increase` is the last minus the first.",
    )
    scale: Fact | None = Field(
        default=None,
        description="The fact of the host by which the limit is multiplied; the limit is then per processor or per MB.",
    )


class Further(Condition):
    """A further condition of a rule."""

    if_not_recorded: Literal["crossed"] | None = Field(
        default=None,
        description="`crossed`: the condition counts as crossed on hosts (or for instances) without its signal. By "
        "default it has no data there, and the rule is not judged.",
    )


class Citation(StrictModel):
    """The source of a limit: a document, or the people who agreed on it."""

    document: Sentence = Field(description="Title, author, year: enough to find the document.")
    place: Sentence = Field(description="Where in the document.")
    quote: str | None = Field(default=None, description="The wording there.")


class Case(StrictModel):
    """A test case of a rule, run by `plimsoll rules test`. For a rule with `drive`, the instance has that drive."""

    name: str = Field(description="What the case shows: `fires`, `just below`, `data missing`.")
    series: dict[SignalName, Samples] = Field(
        description="Samples by signal, in the signal's unit: `85x60` is 85 and then 60 more, `0+10x3` is 0 10 20 "
        "30, `_x5` is five missing samples. For a derived signal, give its operands."
    )
    fires: bool | None = Field(
        description="Whether the rule must fire at some time; null: the rule must never have data."
    )
    interval: Duration = Field(default=parse_duration("10s"), gt=0, description="The time between samples.")
    phase: str | None = Field(default=None, description="The phase of the whole case; by default phases are not known.")
    facts: dict[AnyFact, float] = Field(default={}, description="The facts of the host.")
    instance: str = Field(default="0", description="The instance of the samples, if the signal has instances.")


class Rule(Condition):
    """A documented threshold. docs/evaluation.md says exactly how it is judged."""

    id: Identifier = Field(description="Its name, unique among all packs: `own-exceptions`.")
    for_: Duration = Field(
        default=0, alias="for", description="How long the limit must be crossed before the rule fires; 0 fires at once."
    )
    often: Share = Field(
        default=OFTEN,
        description="A rule that never fired counts as often crossed from this share of the judged time on, such as "
        "`10 %`, if it was crossed for at least `for` in total.",
    )
    recover: Limit | None = Field(
        default=None, description="The limit at which an alert ends, further on the healthy side; by default `healthy`."
    )
    phase: str | None = Field(default=None, description="The phase of a run in which it is judged: `steady`.")
    when_phase_unknown: tuple[Condition, ...] = Field(
        default=(), description="Further conditions that must be crossed if the phases of a run are unknown."
    )
    and_: tuple[Further, ...] = Field(
        default=(), alias="and", description="Conditions that must be crossed at the same time."
    )
    severity: Severity = Field(description="How severe a crossing is: `warning` and `critical` make a run not healthy.")
    summary: Sentence = Field(description="What a crossing means, in a sentence.")
    look_at: tuple[SignalName, ...] = Field(default=(), description="Signals to look at next.")
    measured_on: str | None = Field(default=None, description="The machine that the limit was measured on.")
    why: str = Field(default="", description="The reason for the limit, and which parts of the rule are our own.")
    superseded_by: tuple[Identifier, ...] = Field(
        default=(),
        description="Current rules for the same quantity: on a host where one of them was judged, this rule has "
        "severity info.",
    )
    stands_in_for: tuple[Identifier, ...] = Field(
        default=(),
        description="Better rules for the same problem: if one of them was judged for the same instance, a part "
        "of it (`1:vm:2:vcpu` of `1:vm`) or the whole host, this rule does not apply.",
    )
    drive: Literal["database", "log"] | None = Field(
        default=None, description="Only for disks that plimsoll.toml marks with this drive."
    )
    where: dict[Fact, FactLimit] = Field(
        default={}, description='Only for hosts with these facts: `{processors: "<= 4"}`.'
    )
    where_unknown: Literal["info", "judge", "skip"] | None = Field(
        default=None,
        description="What happens if such a fact is unknown: `info` (judged with that severity), `judge` (judged as "
        "it is), or `skip` (does not apply). By default the rule is reported as not judged.",
    )
    where_outside: Literal["info", "skip"] = Field(
        default="skip",
        description="What happens on other hosts: `skip` (does not apply), or `info` (judged with that severity).",
    )
    thresholds: tuple[str, ...] = Field(
        default=(), description="The rows of the studies' limits (tests/data/thresholds.csv) that the rule implements."
    )
    limits: tuple[str, ...] = Field(
        default=(),
        description="The rows of the current limits (tests/data/limits-today.csv, limits-roles.csv) that the rule "
        "implements.",
    )
    cases: tuple[Case, ...] = Field(default=(), description="Its test cases.")
    sources: tuple[Citation, ...] = Field(min_length=1, description="The sources of the limit.")

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
        """All conditions of the rule: its own, then `and`, then `when_phase_unknown`."""
        return (self, *self.and_, *self.when_phase_unknown)


class AppliesTo(StrictModel):
    """The hosts that a pack is for: hosts that record any of these objects or measurements."""

    objects: tuple[str, ...] = Field(
        default=(),
        description="Perfmon objects; `*` at the end matches any text. Those of SQL Server are written for the default "
        "instance.",
    )
    measurements: tuple[str, ...] = Field(default=(), description="Telegraf measurements.")


class Pack(StrictModel):
    """Rules for one kind of system."""

    pack: Identifier = Field(description="Its name, unique among all packs: `own`.")
    title: Sentence = Field(description="Its name in reports.")
    about: str = Field(description="What it covers, and where its limits come from.")
    applies_to: AppliesTo | None = Field(default=None, description="The hosts it is for; by default every host.")
    signals: dict[SignalName, Signal] = Field(
        default={}, description="Signals of its own, which its rules can use besides the shipped ones."
    )
    rules: tuple[Rule, ...] = Field(description="The rules of the pack.")
