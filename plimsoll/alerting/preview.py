"""Previews a limit: how often it would have fired on stored samples, beside today's limit."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from plimsoll.alerting.alerts_file import is_like
from plimsoll.alerting.replay import (
    HostSamples,
    evaluate_targets,
    find_first_time,
    find_stored_facts,
    group_series_by_host,
    list_alert_intervals,
)
from plimsoll.alerting.rule_targets import RuleTarget, Site, plan
from plimsoll.alerting.series_index import Check, check_nothing
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.hosts.overrides import RuleSettings, list_mistakes
from plimsoll.model.errors import Unusable
from plimsoll.model.file_models import parse_content
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.units import find_unit
from plimsoll.rules.signal_finder import list_read_series
from plimsoll.rules.wording import limit_text
from plimsoll.store.protocol import SampleReader

_HOUR = 3600 * SECOND
_PARTS = 60  # of the strip chart, at most; a part is a whole number of hours
_SERIES_AT_ONCE = 12  # for which samples are read: 50 MB in a month
_BLOCKS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Firings:
    """How often a limit fired: the number of alerts, and the hours: in total, by host, and by span of the range."""

    limit: str
    alerts: int
    hours: float
    hosts: Mapping[str, float]
    strip: Sequence[float]

    @property
    def blocks(self) -> str:
        """A text of block characters, one for each span; the highest block is the span with the most hours."""
        most = max(self.strip, default=0.0)
        return "".join(_BLOCKS[math.ceil(8 * hours / most) if most else 0] for hours in self.strip)


@dataclass(frozen=True)
class Preview:
    """The firings of a rule from `start` to `end` (UTC ns), by today's limit and by the previewed limit.

    `part` is the length (ns) of the spans into which the range is divided.
    """

    rule: Rule
    start: int
    end: int
    part: int
    today: Firings
    changed: Firings | None


def parse_rule_settings(values: Mapping[str, str], rule: Rule, site: Site) -> RuleSettings:
    """Return rule settings from texts (`healthy`, `for`). Raise Unusable if they do not fit the rule."""
    changes = {name: setting for name, setting in values.items() if setting}
    try:
        settings = parse_content(RuleSettings, {**changes, "reason": "a preview"})
    except ValidationError as error:
        detail = error.errors()[0]
        place = ".".join(map(str, detail["loc"]))
        raise Unusable(f"{f'{place}: ' if place else ''}{detail['msg'].removeprefix('Value error, ')}") from None
    catalogue = site.catalogue
    for mistake in list_mistakes("", {rule.id: settings}, catalogue.rules, catalogue.signals):
        raise Unusable(mistake.removeprefix(f".{rule.id}").lstrip(".: "))
    return settings


def preview(
    store: SampleReader,
    site: Site,
    configured: ConfiguredFacts,
    rule: Rule,
    settings: RuleSettings | None,
    start: int,
    end: int,
    host: str = "*",
    check: Check = check_nothing,
) -> Preview:
    """Judge a rule again from `start` to `end` (UTC ns) on the hosts of a pattern, by today's limit and by `settings`.

    The alerts are those of `replay`. `check` is called often, and may raise to end the work.
    """
    part = max(_HOUR, math.ceil((end - start) / _PARTS / _HOUR) * _HOUR)
    sites = [site, *([_copy_site(site, rule, settings)] if settings else [])]
    intervals: list[list[AlertInterval]] = [[] for _ in sites]
    first = start - HostSamples.BEFORE
    series = [
        part
        for name, parts in group_series_by_host(store, site, first, end).items()
        if is_like(name, host)
        for part in parts
    ]
    facts = find_stored_facts(store, series, configured, first, end)
    sites = [_select_rules(judged, rule) for judged in sites]
    planned, finder = plan(sites[0], series, facts, check)
    plans = [planned, *(plan(judged, series, facts, check, finder)[0] for judged in sites[1:])]
    targets = [(at, target) for at, planned in enumerate(plans) for target in planned if target.rule.id == rule.id]
    for batch in _split_targets(targets):
        samples = HostSamples(store, find_first_time((target for _, target in batch), first), end)
        judge = RuleEvaluator(finder.find, samples.of, facts, signals=site.catalogue.signals)
        for at, kept in enumerate(intervals):
            chosen = [target for number, target in batch if number == at]
            for target, conditions in evaluate_targets(samples, judge, chosen, finder, check, only_possible=True):
                kept.extend(interval for interval in list_alert_intervals(target, conditions, start))
    unit = find_unit(rule, site.catalogue.signals)
    firings = [
        _count_firings(kept, limit_text(judged.overrides.of(rule, "")[0].healthy, unit), start, end, part)
        for judged, kept in zip(sites, intervals, strict=True)
    ]
    return Preview(rule, start, end, part, firings[0], firings[1] if settings else None)


def _select_rules(site: Site, rule: Rule) -> Site:
    """Return a copy of a site with this rule, and the rules that decide whether it is judged."""
    names, new, rules = set[str](), {rule.id}, site.catalogue.rules
    while new := {name for name in new if name in rules} - names:
        names |= new
        new = {other for name in new for other in (*rules[name].stands_in_for, *rules[name].superseded_by)}
    packs = (
        replace(pack, rules=tuple(kept for kept in pack.rules if kept.id in names)) for pack in site.catalogue.packs
    )
    return replace(site, catalogue=replace(site.catalogue, packs=tuple(packs)))


def _split_targets(targets: Iterable[tuple[int, RuleTarget]]) -> Iterator[Sequence[tuple[int, RuleTarget]]]:
    """Yield the targets of whole hosts in batches, whose samples are read at once."""
    batch: list[tuple[int, RuleTarget]] = []
    series = set[Series]()
    for of_host in group_pairs((make_host_key(pair[1].subject.host), pair) for pair in targets).values():
        batch += of_host
        series.update(part for _, target in of_host for part in list_read_series(target.origin))
        if len(series) >= _SERIES_AT_ONCE:
            yield batch
            batch, series = [], set[Series]()
    yield batch


def _copy_site(site: Site, rule: Rule, settings: RuleSettings) -> Site:
    """Return a copy of a site with these settings of a rule on all hosts."""
    before = site.overrides
    by_host = {
        host: {name: kept for name, kept in table.items() if name != rule.id} for host, table in before.by_host.items()
    }
    groups = [replace(group, rules={**group.rules, rule.id: settings}) for group in before.groups]
    general, signals = {**before.general, rule.id: settings}, site.catalogue.signals
    return replace(site, overrides=replace(before, general=general, by_host=by_host, groups=groups, signals=signals))


def strip_lines(shown: Preview, zone: Zone) -> Sequence[str]:
    """Return the preview as lines: of each limit the alerts, hours, hosts and blocks; last the length of a span."""
    lines: list[str] = []
    for word, firings in (("today", shown.today), ("previewed", shown.changed)):
        if firings:
            hosts = join_names([f"{host} {hours:.3g} h" for host, hours in firings.hosts.items()], 3)
            where = f"on {format_count(len(firings.hosts), 'host')}, {firings.hours:.3g} h"
            count = f"{format_count(firings.alerts, 'alert')} {where}"
            lines.append(f"{word}, {firings.limit}: {count}{f' ({hosts})' if hosts else ''}")
            lines.append(f"  |{firings.blocks}|")
    span = f"{zone.span(shown.start, shown.end)} {zone.label(shown.start)}"
    return [*lines, f"{span}; a block is {format_duration(shown.part)}"]


def _count_firings(intervals: Iterable[AlertInterval], limit: str, start: int, end: int, part: int) -> Firings:
    hosts: dict[HostKey | str, float] = {}
    strip, alerts = [0.0] * math.ceil((end - start) / part), 0
    for interval in intervals:
        alerts += 1
        first, last = max(interval.fired_at, start), end if interval.ended_at is None else interval.ended_at
        last = min(last, end)
        name = interval.subject.host
        hosts[name] = hosts.get(name, 0.0) + (last - first) / _HOUR
        for at in range((first - start) // part, min((last - start) // part + 1, len(strip))):
            begin = start + at * part
            strip[at] += max(0, min(last, begin + part) - max(first, begin)) / _HOUR
    ordered = dict(sorted(hosts.items(), key=lambda item: -item[1]))
    return Firings(limit, alerts, sum(hosts.values()), ordered, strip)
