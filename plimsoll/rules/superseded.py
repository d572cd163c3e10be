"""Old limits that documents of today supersede: on which hosts they count all the same, and as notes for Grafana."""

from collections.abc import Callable, Collection, Sequence

from plimsoll.rules.host_filter import matches
from plimsoll.rules.schema.field_types import Fact
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


def is_for_such(rule: Rule, known: Callable[[Fact], float | None]) -> bool:
    """Whether the known facts of a host or an instance are those of the systems that an old limit was measured on.

    All facts in `where` hold, and the fact that the limit is multiplied by is known: a disk of which the spindles are
    told has spindles. A rule that names no fact was measured on systems that facts cannot tell.
    """
    if not rule.where and not rule.scale:
        return False
    return matches(rule, known) is True and (rule.scale is None or known(rule.scale) is not None)


def says_nothing(rule: Rule, known: Callable[[Fact], float | None]) -> bool:
    """Whether an old limit that is a note anyway is multiplied by a fact that nobody gives: most hosts would get it."""
    is_old_note = rule.severity == "info" and bool(rule.superseded_by)
    return is_old_note and rule.scale is not None and known(rule.scale) is None


def is_note(rule: Rule) -> bool:
    """Whether a rule from `as_notes` is a note because it is superseded."""
    return bool(rule.superseded_by) and rule.severity == "info"
