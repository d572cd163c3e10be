"""The rules as JSON for other programs: schema plimsoll.rules/1. docs/rules-json.md describes every field.

Fields are added within a version, never changed or removed.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Condition, Pack, Rule
from plimsoll.rules.schema.signal import Signal


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class CitationPart(_Part):
    """Where a limit comes from."""

    document: str
    place: str
    quote: str | None


class ConditionPart(_Part):
    """A signal compared with a limit."""

    signal: str
    title: str = Field(description="The signal's title.")
    unit: str
    healthy: str = Field(description='Operator and limit, such as "< 80"; crossed where it does not hold.')
    limit: float
    reduce: str = Field(description="How the samples of the window become one value.")
    over_s: float = Field(description="The window.")
    scale: str | None = Field(description="The host fact that the limit is multiplied by.")


class RulePart(_Part):
    """One rule."""

    pack: str
    rule: str
    severity: str
    summary: str
    condition: ConditionPart
    for_s: float = Field(description="How long it must be crossed before it fires.")
    often: float = Field(description="The share of the judged time from which a run that never fired is often crossed.")
    recover: str | None = Field(description="The limit that ends an alert, if it is not that of the condition.")
    where: dict[str, str] = Field(description='The host facts it requires, such as {"memory_mb": "<= 4096"}.')
    where_unknown: str | None = Field(
        description="What happens if such a fact is not known: info (judged at that severity), judge, or skip (does "
        "not apply); null: it is not judged."
    )
    where_outside: str = Field(
        description="What happens on other hosts: skip (does not apply), or info (judged at that severity)."
    )
    phase: str | None = Field(description="The phase in which it is judged; null for all.")
    and_: list[ConditionPart] = Field(serialization_alias="and", description="Conditions that must also be crossed.")
    when_phase_unknown: list[ConditionPart] = Field(description="Further conditions if phases are not known.")
    look_at: list[str] = Field(description="Signals to look at next.")
    sources: list[CitationPart]
    thresholds: list[str] = Field(description="Rows of tests/data/thresholds.csv that it implements.")


class RulesDocument(_Part):
    """Every rule, in the order of the packs."""

    schema_: Literal["plimsoll.rules/1"] = Field(default="plimsoll.rules/1", serialization_alias="schema")
    rules: list[RulePart]


def document(packs: Sequence[Pack], signals: Mapping[str, Signal]) -> RulesDocument:
    """The document for some packs."""
    return RulesDocument(rules=[_rule(pack, rule, signals) for pack in packs for rule in pack.rules])


def _rule(pack: Pack, rule: Rule, signals: Mapping[str, Signal]) -> RulePart:
    return RulePart(
        pack=pack.pack,
        rule=rule.id,
        severity=rule.severity,
        summary=rule.summary,
        condition=_condition(rule, signals),
        for_s=rule.for_ / SECOND,
        often=rule.often,
        recover=str(rule.recover) if rule.recover else None,
        where={fact: str(limit) for fact, limit in rule.where.items()},
        where_unknown=rule.where_unknown,
        where_outside=rule.where_outside,
        phase=rule.phase,
        and_=[_condition(one, signals) for one in rule.and_],
        when_phase_unknown=[_condition(one, signals) for one in rule.when_phase_unknown],
        look_at=list(rule.look_at),
        sources=[CitationPart(document=one.document, place=one.place, quote=one.quote) for one in rule.sources],
        thresholds=list(rule.thresholds),
    )


def _condition(condition: Condition, signals: Mapping[str, Signal]) -> ConditionPart:
    signal = signals[condition.signal]
    return ConditionPart(
        signal=condition.signal,
        title=signal.title,
        unit=signal.unit,
        healthy=str(condition.healthy),
        limit=condition.healthy.limit,
        reduce=condition.reduce,
        over_s=condition.over / SECOND,
        scale=condition.scale,
    )
