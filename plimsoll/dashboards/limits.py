"""The limits that a panel draws or describes.

A limit is drawn as a line only if it is a fixed value of the panel's signal. A limit that scales with a fact of the
host is drawn for the value that the reader chooses (`Scaled`). A limit on an increase is only described.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from plimsoll.dashboards.areas import PanelSpec, load_areas
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.hosts.site import Judged, SiteSettings
from plimsoll.rules.host_filter import as_notes, is_note
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.field_types import Fact, Healthy, Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.wording import gravity, limit_text


@dataclass(frozen=True, slots=True)
class Scaled:
    """A limit per spindle or processor; a dashboard variable named like the fact multiplies it."""

    fact: Fact
    healthy: Healthy
    severity: Severity


@dataclass(frozen=True)
class PanelLimits:
    """The rules of panels, as they apply to hosts without settings of their own."""

    site: SiteSettings = field(default_factory=SiteSettings)

    def judged_rules(self, spec: PanelSpec) -> tuple[Judged, ...]:
        """Return the rules of a panel's signal, for its `drive` if it has one, including rules that are off."""
        rules = rules_by_signal().get(spec.signal, ())
        return tuple(self.site.applied(rule, "") for rule in rules if rule.drive == spec.drive)

    def rules_of(self, spec: PanelSpec) -> tuple[Rule, ...]:
        """Return the rules of a panel that are judged on every host, without superseded rules of severity info."""
        judged = [judged.rule for judged in self.judged_rules(spec) if not judged.off and not judged.unknown]
        return tuple(rule for rule in judged if not is_note(rule))

    def exceptions(self, general: Judged) -> Iterator[tuple[str, Judged]]:
        """Yield the hosts on which a rule differs from the general case, with the rule as it applies there."""
        documented = next(rule for rule in rules_by_signal()[general.rule.signal] if rule.id == general.rule.id)
        for host in self.site.hosts:
            judged = self.site.applied(documented, host)
            if (judged.rule, judged.off, bool(judged.unknown)) != (general.rule, general.off, bool(general.unknown)):
                yield host, judged


@cache
def rules_by_signal() -> dict[str, tuple[Rule, ...]]:
    """Return the documented rules of each signal, in the order of the packs."""
    by_signal: dict[str, list[Rule]] = {}
    for pack in as_notes(load().packs):
        for rule in pack.rules:
            by_signal.setdefault(rule.signal, []).append(rule)
    return {signal: tuple(rules) for signal, rules in by_signal.items()}


def drawn(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return one rule for each limit drawn as a line: preferably without further conditions, then the most severe."""
    best: dict[tuple[bool, float], Rule] = {}
    for rule in rules:
        if rule.reduce == "increase" or rule.scale:
            continue
        limit = (rule.healthy.worse == "lower", rule.healthy.limit)
        if limit not in best or _weight(rule) > _weight(best[limit]):
            best[limit] = rule
    return tuple(best.values())


def scaled(rules: Sequence[Rule]) -> tuple[Scaled, ...]:
    """Return the limits that scale with a fact, if that fact has a default."""
    return tuple(
        Scaled(rule.scale, rule.healthy, rule.severity) for rule in rules if rule.scale and rule.scale in DEFAULTS
    )


def in_view(rules: Sequence[Rule]) -> float | None:
    """Return where an axis must end to show the lowest upper limit, every lower limit, and a tenth of room."""
    floors = [rule.healthy.limit for rule in drawn(rules) if rule.healthy.worse == "lower"]
    ceilings = [rule.healthy.limit for rule in drawn(rules) if rule.healthy.worse != "lower"]
    lowest = [min(ceilings)] if ceilings else []
    reach: float = max(floors + lowest, default=0.0)
    return reach * 1.1 if reach > 0 else None


def strictest(rules: Sequence[Rule]) -> Iterator[Healthy]:
    """Yield the limits between which a value is healthy: the highest lower limit, the lowest upper limit.

    Limits of rules with further conditions are used only if there are no other limits.
    """
    alone = [rule for rule in drawn(rules) if not rule.and_]
    lines = alone if alone or scaled(rules) else drawn(rules)
    floors = [rule.healthy for rule in lines if rule.healthy.worse == "lower"]
    ceilings = [rule.healthy for rule in lines if rule.healthy.worse != "lower"]
    if floors:
        yield max(floors, key=lambda healthy: healthy.limit)
    if ceilings:
        yield min(ceilings, key=lambda healthy: healthy.limit)


def title(spec: PanelSpec, limits: PanelLimits) -> str:
    """Return a panel's title, with the healthy range of its signal: `Processor time · < 80 %`."""
    signal = load_signals()[spec.signal]
    name = f"{signal.title}, disks of the {spec.drive}" if spec.drive else signal.title
    rules = limits.rules_of(spec)
    kept = [shortly(healthy, signal.unit) for healthy in strictest(rules)]
    kept += [f"{shortly(scaled.healthy, signal.unit)} × ${scaled.fact} {scaled.fact}" for scaled in scaled(rules)[:1]]
    return f"{name} · {', '.join(kept)}" if kept else name


def shortly(healthy: Healthy, unit: str) -> str:
    """Return a limit with three digits, or with all digits before the decimal point: `≤ 217 /s`, `none`."""
    if healthy.operator in ("=", "<=") and not healthy.limit:
        return "none"
    decimals = max(0, 2 - math.floor(math.log10(abs(healthy.limit)))) if healthy.limit else 0
    return limit_text(replace(healthy, limit=round(healthy.limit, decimals)), unit)


def _weight(rule: Rule) -> tuple[bool, int]:
    return not rule.and_, gravity(rule.severity)


def home_of(signal: str) -> tuple[str, PanelSpec] | None:
    """Return dashboard uid and panel that draw the rules of a signal; else the first panel that shows the signal."""
    shown = panels_of(signal)
    drawing = [(uid, spec) for uid, spec in shown if PanelLimits().judged_rules(spec)]
    return next(iter([*drawing, *shown]), None)


def panels_of(signal: str) -> Sequence[tuple[str, PanelSpec]]:
    """Return every panel that shows a signal, with the uid of its dashboard."""
    return _panels().get(signal, ())


@cache
def _panels() -> Mapping[str, Sequence[tuple[str, PanelSpec]]]:
    panels: dict[str, list[tuple[str, PanelSpec]]] = defaultdict(list)
    for area in load_areas().areas:
        for spec in area.panels:
            panels[spec.signal].append((area.uid, spec))
    return panels


def panel_of(signal: str) -> tuple[str, int]:
    """Return the area and the panel id that draw a signal; an empty area if there is none."""
    home = home_of(signal)
    if home is None:
        return "", 0
    uid, panel = home
    return next(area.area for area in load_areas().areas if area.uid == uid), panel.id
