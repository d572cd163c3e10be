"""Old limits where rules of today are at hand: as notes, for what cannot tell which of the two a host is judged by."""

from collections.abc import Collection, Sequence

from rules.pack_schema import Pack, Rule


def as_notes(packs: Sequence[Pack], by_hand: Collection[str] = ()) -> tuple[Pack, ...]:
    """The packs, with rules as notes (info) that others of them supersede; those of packs chosen by name stay."""
    ids = {rule.id for pack in packs for rule in pack.rules}

    def noted(rule: Rule) -> Rule:
        return rule.model_copy(update={"severity": "info"}) if ids & set(rule.superseded_by) else rule

    return tuple(
        pack if pack.pack in by_hand else pack.model_copy(update={"rules": tuple(map(noted, pack.rules))})
        for pack in packs
    )


def is_note(rule: Rule) -> bool:
    """Whether a rule of `as_notes` is one because others supersede it."""
    return bool(rule.superseded_by) and rule.severity == "info"
