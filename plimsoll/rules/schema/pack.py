"""The content of packs/*.yaml. Field names here are the names in the files.

docs/build.py copies the descriptions into docs/packs.md and into the JSON schemas that editors use.
"""

from typing import Literal

from plimsoll.model.file_models import entry, file_model
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


@file_model
class Condition:
    """A signal reduced over a window and compared with a limit."""

    signal: SignalName = entry(description="The signal to compare with the limit: a shipped one, or one of the pack.")
    healthy: Limit = entry(
        description="The limit with the operator of its healthy side: `< 80` is crossed at 80 and above. Times, "
        "bytes and bytes/s need a unit: `< 25 ms`, `>= 4 GB`."
    )
    over: Duration = entry(default=parse_duration("1m"), description="The window that ends at each evaluation.")
    reduce: Reduce = entry(
        default="mean",
        description="How the samples in the window are reduced to one value; `increase` is the last minus the first.",
    )
    scale: Fact | None = entry(
        default=None,
        description="The fact of the host by which the limit is multiplied; the limit is then per processor or per MB.",
    )


@file_model
class Further(Condition):
    """A further condition of a rule."""

    if_not_recorded: Literal["crossed"] | None = entry(
        default=None,
        description="`crossed`: the condition counts as crossed on hosts (or for instances) without its signal. By "
        "default it has no data there, and the rule is not judged.",
    )


@file_model
class Citation:
    """The source of a limit: a document, or the people who agreed on it."""

    document: Sentence = entry(description="Title, author, year: enough to find the document.")
    place: Sentence = entry(description="Where in the document.")
    quote: str | None = entry(default=None, description="The wording there.")


@file_model
class Case:
    """A test case of a rule, run by `plimsoll rules test`. For a rule with `drive`, the instance has that drive."""

    name: str = entry(description="What the case shows: `fires`, `just below`, `data missing`.")
    series: dict[SignalName, Samples] = entry(
        description="Samples by signal, in the signal's unit: `85x60` is 85 and then 60 more, `0+10x3` is 0 10 20 "
        "30, `_x5` is five missing samples. For a derived signal, give its operands."
    )
    fires: bool | None = entry(
        description="Whether the rule must fire at some time; null: the rule must never have data."
    )
    interval: Duration = entry(default=parse_duration("10s"), gt=0, description="The time between samples.")
    phase: str | None = entry(default=None, description="The phase of the whole case; by default phases are not known.")
    facts: dict[AnyFact, float] = entry(default_factory=dict, description="The facts of the host.")
    instance: str = entry(default="0", description="The instance of the samples, if the signal has instances.")


@file_model
class Rule(Condition):
    """A documented threshold. docs/evaluation.md says exactly how it is judged."""

    id: Identifier = entry(description="Its name, unique among all packs: `own-exceptions`.")
    for_: Duration = entry(
        default=0, alias="for", description="How long the limit must be crossed before the rule fires; 0 fires at once."
    )
    often: Share = entry(
        default=OFTEN,
        description="A rule that never fired counts as often crossed from this share of the judged time on, such as "
        "`10 %`, if it was crossed for at least `for` in total.",
    )
    recover: Limit | None = entry(
        default=None, description="The limit at which an alert ends, further on the healthy side; by default `healthy`."
    )
    phase: str | None = entry(default=None, description="The phase of a run in which it is judged: `steady`.")
    when_phase_unknown: tuple[Condition, ...] = entry(
        default=(), description="Further conditions that must be crossed if the phases of a run are unknown."
    )
    and_: tuple[Further, ...] = entry(
        default=(), alias="and", description="Conditions that must be crossed at the same time."
    )
    severity: Severity = entry(description="How severe a crossing is: `warning` and `critical` make a run not healthy.")
    summary: Sentence = entry(description="What a crossing means, in a sentence.")
    look_at: tuple[SignalName, ...] = entry(default=(), description="Signals to look at next.")
    measured_on: str | None = entry(default=None, description="The machine that the limit was measured on.")
    why: str = entry(default="", description="The reason for the limit, and which parts of the rule are our own.")
    superseded_by: tuple[Identifier, ...] = entry(
        default=(),
        description="Current rules for the same quantity: on a host where one of them was judged, this rule has "
        "severity info.",
    )
    stands_in_for: tuple[Identifier, ...] = entry(
        default=(),
        description="Better rules for the same problem: if one of them was judged for the same instance, a part "
        "of it (`1:vm:2:vcpu` of `1:vm`) or the whole host, this rule does not apply.",
    )
    drive: Literal["database", "log"] | None = entry(
        default=None, description="Only for disks that plimsoll.toml marks with this drive."
    )
    where: dict[Fact, FactLimit] = entry(
        default_factory=dict, description='Only for hosts with these facts: `{processors: "<= 4"}`.'
    )
    where_unknown: Literal["info", "judge", "skip"] | None = entry(
        default=None,
        description="What happens if such a fact is unknown: `info` (judged with that severity), `judge` (judged as "
        "it is), or `skip` (does not apply). By default the rule is reported as not judged.",
    )
    where_outside: Literal["info", "skip"] = entry(
        default="skip",
        description="What happens on other hosts: `skip` (does not apply), or `info` (judged with that severity).",
    )
    thresholds: tuple[str, ...] = entry(
        default=(), description="The rows of the studies' limits (tests/data/thresholds.csv) that the rule implements."
    )
    limits: tuple[str, ...] = entry(
        default=(),
        description="The rows of the current limits (tests/data/limits-today.csv, limits-roles.csv) that the rule "
        "implements.",
    )
    cases: tuple[Case, ...] = entry(default=(), description="Its test cases.")
    sources: tuple[Citation, ...] = entry(min_length=1, description="The sources of the limit.")

    def __post_init__(self) -> None:
        if self.recover and self.recover.worse != self.healthy.worse:
            raise ValueError(f'recover "{self.recover}" lies on the other side than healthy "{self.healthy}"')
        if self.when_phase_unknown and not self.phase:
            raise ValueError("when_phase_unknown needs a phase")
        if self.where_unknown and not self.where:
            raise ValueError("where_unknown needs a where")
        if self.where_outside != "skip" and not self.where:
            raise ValueError("where_outside needs a where")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions of the rule: its own, then `and`, then `when_phase_unknown`."""
        return (self, *self.and_, *self.when_phase_unknown)


@file_model
class AppliesTo:
    """The hosts that a pack is for: hosts that record any of these objects or measurements."""

    objects: tuple[str, ...] = entry(
        default=(),
        description="Perfmon objects; `*` at the end matches any text. Those of SQL Server are written for the default "
        "instance.",
    )
    measurements: tuple[str, ...] = entry(default=(), description="Telegraf measurements.")


@file_model
class Pack:
    """Rules for one kind of system."""

    pack: Identifier = entry(description="Its name, unique among all packs: `own`.")
    title: Sentence = entry(description="Its name in reports.")
    about: str = entry(description="What it covers, and where its limits come from.")
    applies_to: AppliesTo | None = entry(default=None, description="The hosts it is for; by default every host.")
    signals: dict[SignalName, Signal] = entry(
        default_factory=dict, description="Signals of its own, which its rules can use besides the shipped ones."
    )
    rules: tuple[Rule, ...] = entry(description="The rules of the pack.")
