"""The limits that a panel draws or describes.

A limit is drawn as a line only if it is a fixed value of the panel's signal. A limit that scales with a fact of the
host is drawn for the value of the fact that the reader chooses (`Scaled`). A limit on an increase is only described.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from plimsoll.dashboards.areas import PanelSpec, load_areas
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.hosts.site import Judged, SiteSettings
from plimsoll.rules.host_filter import downgrade_superseded, is_note
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.field_types import Fact, Healthy, Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.wording import limit_text, rank_severity


@dataclass(frozen=True, slots=True)
class Scaled:
    """A limit per spindle or processor, drawn as multiplied by the dashboard variable that is named like the fact."""

    fact: Fact
    healthy: Healthy
    severity: Severity


@dataclass(frozen=True)
class PanelLimits:
    """The rules of panels, as they apply to hosts that plimsoll.toml does not name."""

    site: SiteSettings = field(default_factory=SiteSettings)

    def judged_rules(self, spec: PanelSpec) -> tuple[Judged, ...]:
        """Return the rules on a panel's signal and for its `drive` (None: any disk), including rules that are off."""
        rules = group_rules_by_signal().get(spec.signal, ())
        return tuple(self.site.applied(rule, "") for rule in rules if rule.drive == spec.drive)

    def rules_of(self, spec: PanelSpec) -> tuple[Rule, ...]:
        """Return the rules of a panel that are judged, without superseded limits, which are only notes."""
        judged = [judged.rule for judged in self.judged_rules(spec) if not judged.off and not judged.unknown]
        return tuple(rule for rule in judged if not is_note(rule))

    def exceptions(self, general: Judged) -> Iterator[tuple[str, Judged]]:
        """Yield each named host on which a rule differs from `general`, with the rule as it applies there."""
        documented = next(rule for rule in group_rules_by_signal()[general.rule.signal] if rule.id == general.rule.id)
        for host in self.site.hosts:
            judged = self.site.applied(documented, host)
            if (judged.rule, judged.off, bool(judged.unknown)) != (general.rule, general.off, bool(general.unknown)):
                yield host, judged


@cache
def group_rules_by_signal() -> dict[str, tuple[Rule, ...]]:
    """Return the rules of the shipped packs by signal, in the order of the packs."""
    by_signal: dict[str, list[Rule]] = {}
    for pack in downgrade_superseded(load().packs):
        for rule in pack.rules:
            by_signal.setdefault(rule.signal, []).append(rule)
    return {signal: tuple(rules) for signal, rules in by_signal.items()}


def select_drawn(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return one rule for each limit that is drawn as a line.

    Of rules with the same limit, the rule with the fewest further conditions is preferred, then the most severe.
    """
    best: dict[tuple[bool, float], Rule] = {}
    for rule in rules:
        if rule.reduce == "increase" or rule.scale:
            continue
        limit = (rule.healthy.worse == "lower", rule.healthy.limit)
        if limit not in best or _weigh_rule(rule) > _weigh_rule(best[limit]):
            best[limit] = rule
    return tuple(best.values())


def list_scaled(rules: Sequence[Rule]) -> tuple[Scaled, ...]:
    """Return the limits that scale with a fact of the host, if the fact has a default."""
    return tuple(
        Scaled(rule.scale, rule.healthy, rule.severity) for rule in rules if rule.scale and rule.scale in DEFAULTS
    )


def compute_axis_end(rules: Sequence[Rule]) -> float | None:
    """Return the end of a value axis that shows the lowest upper limit and every lower limit; None without limits.

    The end is a tenth higher than these limits.
    """
    floors = [rule.healthy.limit for rule in select_drawn(rules) if rule.healthy.worse == "lower"]
    ceilings = [rule.healthy.limit for rule in select_drawn(rules) if rule.healthy.worse != "lower"]
    lowest = [min(ceilings)] if ceilings else []
    reach: float = max(floors + lowest, default=0.0)
    return reach * 1.1 if reach > 0 else None


def select_strictest(rules: Sequence[Rule]) -> Iterator[Healthy]:
    """Yield the limits of the healthy range: the highest lower limit and the lowest upper limit, if any.

    Limits of rules with further conditions are used only if there are no other limits.
    """
    alone = [rule for rule in select_drawn(rules) if not rule.and_]
    lines = alone if alone or list_scaled(rules) else select_drawn(rules)
    floors = [rule.healthy for rule in lines if rule.healthy.worse == "lower"]
    ceilings = [rule.healthy for rule in lines if rule.healthy.worse != "lower"]
    if floors:
        yield max(floors, key=lambda healthy: healthy.limit)
    if ceilings:
        yield min(ceilings, key=lambda healthy: healthy.limit)


def format_title(spec: PanelSpec, limits: PanelLimits) -> str:
    """Return a panel's title, which includes the healthy range of its signal: `Processor time · < 80 %`."""
    signal = load_signals()[spec.signal]
    name = f"{signal.title}, disks of the {spec.drive}" if spec.drive else signal.title
    rules = limits.rules_of(spec)
    kept = [format_limit(healthy, signal.unit) for healthy in select_strictest(rules)]
    kept += [
        f"{format_limit(scaled.healthy, signal.unit)} × ${scaled.fact} {scaled.fact}"
        for scaled in list_scaled(rules)[:1]
    ]
    return f"{name} · {', '.join(kept)}" if kept else name


def format_limit(healthy: Healthy, unit: str) -> str:
    """Return a limit as text, rounded to three digits or to a whole number: `≤ 217 /s`; `none` if only 0 is healthy."""
    if healthy.operator in ("=", "<=") and not healthy.limit:
        return "none"
    decimals = max(0, 2 - math.floor(math.log10(abs(healthy.limit)))) if healthy.limit else 0
    return limit_text(replace(healthy, limit=round(healthy.limit, decimals)), unit)


def _weigh_rule(rule: Rule) -> tuple[int, int]:
    return -len(rule.and_), rank_severity(rule.severity)


def find_home_panel(signal: str) -> tuple[str, PanelSpec] | None:
    """Return the uid of the dashboard and the panel that draws the rules of a signal.

    Without such a panel, return the first panel that shows the signal; None if no panel shows it.
    """
    shown = list_panels(signal)
    drawing = [(uid, spec) for uid, spec in shown if PanelLimits().judged_rules(spec)]
    return next(iter([*drawing, *shown]), None)


def list_panels(signal: str) -> Sequence[tuple[str, PanelSpec]]:
    """Return pairs of a dashboard's uid and a panel, for every panel that shows a signal."""
    return _map_panels().get(signal, ())


@cache
def _map_panels() -> Mapping[str, Sequence[tuple[str, PanelSpec]]]:
    panels: dict[str, list[tuple[str, PanelSpec]]] = defaultdict(list)
    for area in load_areas().areas:
        for spec in area.panels:
            panels[spec.signal].append((area.uid, spec))
    return panels


@cache
def find_panel(signal: str) -> tuple[str, int]:
    """Return the area, and the id of the panel for a signal as by `find_home_panel`; `("", 0)` without a panel."""
    home = find_home_panel(signal)
    if home is None:
        return "", 0
    uid, panel = home
    return next(area.area for area in load_areas().areas if area.uid == uid), panel.id
