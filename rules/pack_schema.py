"""What packs/*.yaml may say. Field names here are the names in the files.

docs/build.py copies the descriptions into docs/packs.md and into the JSON schemas that editors use.
"""

from typing import Literal

from pydantic import Field, model_validator

from model.times import parse_duration
from rules.field_types import (
    AnyFact,
    Duration,
    Fact,
    FactLimit,
    Identifier,
    Limit,
    Reduce,
    Samples,
    Severity,
    Share,
    SignalName,
    Strict,
)
from rules.signal_schema import Signal

OFTEN = 0.1  # of the judged time; ours, docs/evaluation.md says why


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
    facts: dict[AnyFact, float] = Field(default={}, description="The facts of the host.")
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
