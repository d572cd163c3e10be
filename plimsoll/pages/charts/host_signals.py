"""The signals of one host, where their samples come from, and the rules that apply to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from plimsoll.alerting.rule_targets import RuleTarget, Site, is_for, plan
from plimsoll.hosts.facts import Facts, UnknownFact
from plimsoll.model.series import Series
from plimsoll.rules.load import Catalogue
from plimsoll.rules.origins import Origin, Origins
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.subjects import Subject

_Instances = Mapping[str | None, list[Rule]]


@dataclass(frozen=True, eq=False)
class Found:
    """A subject that has a signal, where the samples come from, and the rules as they apply to it."""

    subject: Subject
    origin: Origin
    rules: Sequence[Rule]


class HostSignals:
    """Finds the signals of a host among its series; what was found is kept.

    `everywhere` are the packs that the user named and that are for no kind of host there is: they are for all.
    """

    def __init__(self, site: Site, series: Sequence[Series], facts: Facts, everywhere: Sequence[Pack]) -> None:
        packs = [pack for pack in site.catalogue.packs if pack in everywhere or is_for(pack, series)]
        self._site = _with(site, packs)
        self._series = series
        self.facts = facts
        self._rules: dict[str, _Instances] = {}

    def origins(self, signal: str) -> Origins:
        """The subjects of a signal, and the origins of their samples."""
        return self._finder.find(signal)

    def find(self, signal: str, drive: str | None) -> list[Found]:
        """The subjects of a signal in order of their names; those of disks that are marked as such a `drive`."""
        origins = self.origins(signal)
        rules = self._rules_of(signal) if origins else {}
        return [
            Found(subject, origin, [rule for rule in rules.get(subject.key[1], ()) if rule.drive == drive])
            for subject, origin in sorted(origins.values(), key=lambda one: one[0].key[1] or "")
        ]

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self._site.catalogue.signals, self._series, lambda _: True, self.facts.known)

    def _rules_of(self, signal: str) -> _Instances:
        """The rules on a signal as they apply to each instance, their limits scaled by its facts."""
        if signal not in self._rules:
            applied: dict[str | None, list[Rule]] = {}
            site = _with(self._site, _on(self._site.catalogue, signal))
            for one in plan(site, self._series, self.facts)[0]:
                rule = self._scaled(one)
                if rule is not None and rule.signal == signal:
                    applied.setdefault(one.subject.key[1], []).append(rule)
            self._rules[signal] = applied
        return self._rules[signal]

    def _scaled(self, planned: RuleTarget) -> Rule | None:
        rule = planned.rule
        if rule.scale is None:
            return rule
        try:
            factor = self.facts(planned.subject, rule.scale)
        except UnknownFact:
            return None
        return rule.model_copy(update={"healthy": rule.healthy.scaled(factor), "scale": None})


def _with(site: Site, packs: Sequence[Pack]) -> Site:
    return replace(site, catalogue=replace(site.catalogue, packs=tuple(packs)))


def _on(catalogue: Catalogue, signal: str) -> list[Pack]:
    """The packs with their rules on one signal, and those that supersede these."""
    wanted = {rule.id for rule in catalogue.rules.values() if rule.signal == signal}
    wanted |= {name for rule in catalogue.rules.values() if rule.id in wanted for name in rule.superseded_by}
    return [
        pack.model_copy(update={"rules": kept})
        for pack in catalogue.packs
        if (kept := tuple(rule for rule in pack.rules if rule.id in wanted))
    ]
