"""The limits that belong on a panel.

A limit is a line only where it is a fixed value of the signal as the panel shows it. A limit that scales with a host
fact is drawn for the number that the reader chooses (`Scaled`). A limit on an increase is given in words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from dashboards.areas import PanelSpec
from hosts.facts import DEFAULTS
from hosts.site import Judged, Site
from rules.field_types import Fact, Severity
from rules.healthy import Healthy
from rules.load import load_packs, load_signals
from rules.pack_schema import Rule
from rules.superseded import as_notes, is_note
from rules.wording import limit_text

_RANK: dict[Severity, int] = {"info": 0, "warning": 1, "critical": 2}


@dataclass(frozen=True, slots=True)
class Scaled:
    """A limit for one spindle or processor, to be multiplied by a dashboard variable of that name."""

    fact: Fact
    healthy: Healthy
    severity: Severity


@dataclass(frozen=True)
class Limits:
    """The rules of panels, as they hold for every host that a site says nothing of."""

    site: Site = field(default_factory=Site)

    def held(self, spec: PanelSpec) -> tuple[Judged, ...]:
        """What a panel is about: the rules of its signal, and of the disks it is for; those that are off included."""
        known = rules_by_signal().get(spec.signal, ())
        return tuple(self.site.held(rule, "") for rule in known if rule.drive == spec.drive)

    def rules_of(self, spec: PanelSpec) -> tuple[Rule, ...]:
        """The rules of a panel that are judged whatever is known of a host, but those of old limits that are notes."""
        known = (one.rule for one in self.held(spec) if not one.off and not one.unknown)
        return tuple(rule for rule in known if not is_note(rule))

    def apart(self, general: Judged) -> Iterator[tuple[str, Judged]]:
        """The hosts on which a rule holds otherwise than in general."""
        documented = next(one for one in rules_by_signal()[general.rule.signal] if one.id == general.rule.id)
        for host in self.site.hosts:
            own = self.site.held(documented, host)
            if (own.rule, own.off, bool(own.unknown)) != (general.rule, general.off, bool(general.unknown)):
                yield host, own


@cache
def rules_by_signal() -> dict[str, tuple[Rule, ...]]:
    """The documented rules of each signal, in the order of the packs."""
    found: dict[str, list[Rule]] = {}
    for pack in as_notes(load_packs()):
        for rule in pack.rules:
            found.setdefault(rule.signal, []).append(rule)
    return {signal: tuple(rules) for signal, rules in found.items()}


def drawn(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Of each limit that is a line the rule that stands for it: one without further conditions, the most severe."""
    best: dict[tuple[bool, float], Rule] = {}
    for rule in rules:
        if rule.reduce == "increase" or rule.scale:
            continue
        limit = (rule.healthy.worse == "lower", rule.healthy.limit)
        if limit not in best or _weight(rule) > _weight(best[limit]):
            best[limit] = rule
    return tuple(best.values())


def scaled(rules: Sequence[Rule]) -> tuple[Scaled, ...]:
    """The limits that are multiplied by a fact of the host of which one is assumed where nobody knows it."""
    return tuple(
        Scaled(rule.scale, rule.healthy, rule.severity) for rule in rules if rule.scale and rule.scale in DEFAULTS
    )


def in_view(rules: Sequence[Rule]) -> float | None:
    """How far an axis has to reach for the lowest ceiling, or the highest floor, to be on it; a tenth of room above."""
    floors = [rule.healthy.limit for rule in drawn(rules) if rule.healthy.worse == "lower"]
    ceilings = [rule.healthy.limit for rule in drawn(rules) if rule.healthy.worse != "lower"]
    lowest = [min(ceilings)] if ceilings else []
    reach: float = max(floors + lowest, default=0.0)
    return reach * 1.1 if reach > 0 else None


def strictest(rules: Sequence[Rule]) -> Iterator[Healthy]:
    """The limits a healthy value keeps: the highest floor, the lowest ceiling.

    Those of rules with further conditions are among them where there are no others.
    """
    alone = [rule for rule in drawn(rules) if not rule.and_]
    lines = alone if alone or scaled(rules) else drawn(rules)
    floors = [rule.healthy for rule in lines if rule.healthy.worse == "lower"]
    ceilings = [rule.healthy for rule in lines if rule.healthy.worse != "lower"]
    if floors:
        yield max(floors, key=lambda healthy: healthy.limit)
    if ceilings:
        yield min(ceilings, key=lambda healthy: healthy.limit)


def title(spec: PanelSpec, limits: Limits) -> str:
    """The signal, and between which limits it is healthy: `Processor time · < 80 %`."""
    signal = load_signals()[spec.signal]
    name = f"{signal.title}, disks of the {spec.drive}" if spec.drive else signal.title
    rules = limits.rules_of(spec)
    kept = [limit_text(healthy, signal.unit) for healthy in strictest(rules)]
    kept += [limit_text(one.healthy, signal.unit, one.fact) for one in scaled(rules)]
    return f"{name} · {', '.join(kept)}" if kept else name


def _weight(rule: Rule) -> tuple[bool, int]:
    return not rule.and_, _RANK[rule.severity]
