"""The lists of rules that were not judged, by pack."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.model.value_text import number
from plimsoll.report.wording import reason
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.review import Review
from plimsoll.review.sentences import place

_SHOWN_PLACES = 40


@dataclass(frozen=True)
class UnjudgedPack:
    """The rules of one pack with one outcome; each as id, title, the places where it was not judged, and why."""

    pack: str
    why: str
    rules: tuple[tuple[str, str, str, str], ...]


def unjudged(review: Review, found: Iterable[Finding]) -> tuple[UnjudgedPack, ...]:
    """Findings of one outcome, by pack and rule."""
    why = {applied.pack.pack: applied.why for applied in review.applied}
    packs: dict[str, list[Finding]] = {}
    for finding in found:
        packs.setdefault(finding.pack.pack, []).append(finding)
    return tuple(
        UnjudgedPack(
            findings[0].pack.title,
            why.get(name, "") if findings[0].outcome == Outcome.DOES_NOT_APPLY else "",
            tuple(
                (group[0].rule.id, group[0].signal.title, _places(group), why_not)
                for why_not, group in _by_reason(findings)
            ),
        )
        for name, findings in packs.items()
    )


def _by_reason(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """The findings grouped by rule and by the reason why it was not judged."""
    groups: dict[str, dict[str, list[Finding]]] = {}
    for finding in findings:
        groups.setdefault(finding.rule.id, {}).setdefault(reason(finding), []).append(finding)
    return [(why, group) for by_reason in groups.values() for why, group in by_reason.items()]


def _places(group: Sequence[Finding]) -> str:
    names = [name for name in map(place, group) if name]
    more = f" and {number(len(names) - _SHOWN_PLACES)} more" if len(names) > _SHOWN_PLACES else ""
    return ", ".join(names[:_SHOWN_PLACES]) + more
