"""Turns superseded rules into notes, for Grafana, which cannot see which of two rules was judged on a host."""

from collections.abc import Collection, Sequence

from plimsoll.rules.schema.pack import Pack, Rule


def as_notes(packs: Sequence[Pack], by_hand: Collection[str] = ()) -> tuple[Pack, ...]:
    """The packs, with severity info for rules that others of them supersede. Packs the user named are unchanged."""
    ids = {rule.id for pack in packs for rule in pack.rules}

    def noted(rule: Rule) -> Rule:
        return rule.model_copy(update={"severity": "info"}) if ids & set(rule.superseded_by) else rule

    return tuple(
        pack if pack.pack in by_hand else pack.model_copy(update={"rules": tuple(map(noted, pack.rules))})
        for pack in packs
    )


def is_note(rule: Rule) -> bool:
    """Whether a rule from `as_notes` is a note because it is superseded."""
    return bool(rule.superseded_by) and rule.severity == "info"
