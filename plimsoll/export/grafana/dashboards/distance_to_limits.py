"""The table of the Health dashboard that shows how close each host came to its limits at worst.

Each row is a line of one query. Its name has the limit, the host, the panel that draws the limit, and two numbers: the
slope and offset that convert the share of the limit reached (percent) to the column `State`, whose values are mapped to
words. Notes, limits under further conditions, warnings and critical limits have separate ranges in that column; if a
warning limit is followed by a critical limit, the line is stretched so that each is crossed in its own range.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plimsoll.dashboards.areas import load_areas
from plimsoll.dashboards.limits import PanelLimits, format_limit
from plimsoll.export.grafana.dashboards import describe, panel_queries, panels
from plimsoll.export.grafana.dashboards.parts import (
    DATASOURCE,
    LAST,
    Json,
    build_organize,
    build_override,
    build_panel,
    build_part,
    build_table_options,
    load_look,
)
from plimsoll.export.grafana.influxql import is_other_subject, is_subject
from plimsoll.export.rule_sources import is_for_pack
from plimsoll.export.selections import OBJECT, POLLED, Selection, list_variants
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import MARKS
from plimsoll.store.quoting import number

NOTHING = "No host recorded any of this in the range"
_CROSSED = 100  # percent of a limit
_SEPARATOR = "|"
# The value of 100 % in the column `State`; a flat slope keeps each kind of limit in its range.
_NOTE, _BEYOND, _WARNING, _CRITICAL, _STRETCHED = 1_000, 2_000, 3_000, 4_000, 100_000
_FLAT = 1e-6
_WIDTH = 500  # of a range, more than any share on a flat slope
_MOST = 1e15
Range = tuple[float, float]
WARNING: Sequence[Range] = ((_WARNING, _WARNING + _WIDTH), (_STRETCHED, _STRETCHED + _CROSSED))
CRITICAL: Sequence[Range] = ((_CRITICAL, _CRITICAL + _WIDTH), (_STRETCHED + _CROSSED, _MOST))
_TINY = 1e-6  # of a limit, as a division by 0 gives 0 in InfluxDB


class LimitLevel(NamedTuple):
    """A limit on a host.

    `factor` (a number, a variable or empty) multiplies the limit; `place` is the `State` of a value at the limit.
    """

    rule: Rule
    factor: str
    place: int


def build_distance_panel(limits: PanelLimits, panel_id: int, grid: Json) -> Json:
    """Return the table with a row for each limit and subject (host or instance), the worst first."""
    targets = panel_queries.Targets()
    for rules in list_rows(limits):
        for query, alias in _list_queries(rules, limits):
            targets.ask(query, alias)
    columns = build_part("distance_columns")
    columns["State"]["mappings"] = list_state_mappings()
    table = build_panel("table", "", grid, id=panel_id, datasource=DATASOURCE, targets=targets.all) | build_part(
        "distance"
    )
    names = {"State (max)": "State", "Host": "Host", "Limit": "Limit", "Max (max)": "At worst"}
    table["transformations"].append(build_organize({**names, f"{LAST} (max)": "Last", "Panel": "Panel"}))
    table["options"] = build_table_options("At worst", desc=True)
    table["fieldConfig"] = {
        "defaults": build_part("filterable", unit="currency:financial: %:suffix", decimals=0, noValue=NOTHING),
        "overrides": [build_override(name, properties) for name, properties in columns.items()],
    }
    return table


def list_rows(limits: PanelLimits) -> Iterator[tuple[Rule, ...]]:
    """Yield the rules of each row in areas.yaml. Raise ValueError if the rules of a row cannot share a query."""
    rules_by_id = load().rules
    for names in load_areas().health.limits:
        rules = tuple(rules_by_id[name] for name in names)
        signals = {rule.signal for rule in rules}
        candidates = [variant for signal in signals for variant in list_variants(signal, load_signals())]
        drives = any(rule.drive for rule in rules)
        if len(signals) > 1 or drives or not all(map(panel_queries.is_mergeable, candidates)):
            raise ValueError(f"areas.yaml: {', '.join(names)} have no common share of a limit")
        if any(_list_levels(rules, limits, host) for host in ("", *limits.site.hosts)):
            yield rules


def list_state_mappings() -> list[Json]:
    """Return the value mappings that show the column `State` in words."""
    look = load_look().severities
    words = [((_NOTE, _NOTE + _WIDTH), f"{MARKS['info']} note", look["info"])]
    words.append(((_BEYOND, _BEYOND + _WIDTH), "beyond", look["warning"]))
    # Critical ranges come first, so that their common border with warnings counts as crossed.
    words += [(span, f"{MARKS['critical']} critical", look["critical"]) for span in CRITICAL]
    words += [(span, f"{MARKS['warning']} warning", look["warning"]) for span in WARNING]
    words.append(((-_MOST, _MOST), "within", "text"))
    return [
        {"type": "range", "options": {"from": start, "to": end, "result": {"text": text, "color": color}}}
        for (start, end), text, color in words
    ]


def _list_queries(rules: tuple[Rule, ...], limits: PanelLimits) -> Iterator[tuple[str, str]]:
    """Yield query and alias: first for the hosts with general limits, then for each host with limits of its own."""
    levels_by_host = {host: _list_levels(rules, limits, host) for host in ("", *limits.site.hosts)}
    different = [host for host, levels in levels_by_host.items() if levels != levels_by_host[""]]
    for host in ("", *different):
        if levels := levels_by_host[host]:
            yield _query(levels, host, different)


def _query(levels: Sequence[LimitLevel], host: str, different: Sequence[str]) -> tuple[str, str]:
    """Return the query and alias for a host; if `host` is empty, for all hosts except `different`."""

    def where(selection: Selection) -> tuple[str, ...]:
        return (
            (is_subject(selection, host),) if host else tuple(is_other_subject(selection, name) for name in different)
        )

    rule = levels[0].rule
    packs = [pack for pack in load().packs if {level.rule.id for level in levels} & {rule.id for rule in pack.rules}]
    candidates = list_variants(rule.signal, load_signals())
    query, tags = panel_queries.build_hosts_query(
        [variant for variant in candidates if all(is_for_pack(pack, variant) for pack in packs)],
        _express_share(levels[0]),
        "max" if rule.reduce == "increase" or not rule.for_ else "mean",
        keep=lambda selection: selection.group,
        where=where,
        grown=rule.reduce == "increase",
    )
    instances = "".join(f"$tag_{tag}" for tag in tags if tag not in ("host", POLLED, OBJECT))
    home = panels.find_panel(rule.signal)
    if home is None:
        raise ValueError(f"areas.yaml: {rule.signal} is on no dashboard")
    slope, offset = _compute_line(levels)
    name = " · ".join(filter(None, (_limit_name(levels[0]), instances)))
    return query, _SEPARATOR.join(
        (f"{slope:.12g}", f"{offset:.12g}", describe.make_panel_path(*home), name, "$tag_host")
    )


def _list_levels(rules: tuple[Rule, ...], limits: PanelLimits, host: str) -> list[LimitLevel]:
    """Return the limits of rules on a host; if `host` is empty, on hosts that plimsoll.toml does not name."""
    levels: list[LimitLevel] = []
    for rule in rules:
        judged = limits.site.applied(rule, host)
        fact = judged.rule.scale
        value = limits.site.facts.find(Subject(host), fact) if fact else None
        if judged.off or judged.unknown or (fact and value is None and fact not in DEFAULTS):
            continue
        factor = "" if fact is None else f"${fact}" if value is None else number(value)
        levels.append(LimitLevel(judged.rule, factor, _choose_place(judged.rule, assumed=factor.startswith("$"))))
    return levels


def _choose_place(rule: Rule, *, assumed: bool) -> int:
    if rule.severity == "info":
        return _NOTE
    if rule.and_ or rule.when_phase_unknown or assumed:
        return _BEYOND
    return _CRITICAL if rule.severity == "critical" else _WARNING


def _compute_line(levels: Sequence[LimitLevel]) -> tuple[float, float]:
    """Return the slope and offset that convert the share of the first limit (percent) to the column `State`."""
    first, *further = levels
    if further and first.place == _WARNING and further[0].place == _CRITICAL:
        low, high = first.rule.healthy.limit, further[0].rule.healthy.limit
        slope = 1 / ((low / high if first.rule.healthy.worse == "lower" else high / low) - 1)
        return slope, _STRETCHED - _CROSSED * slope
    return _FLAT, first.place - _CROSSED * _FLAT


def _express_share(level: LimitLevel) -> str:
    """Return the expression for the share of a limit that a value `{}` reaches, in percent."""
    healthy = level.rule.healthy
    if not healthy.limit:  # every value above 0 crosses the limit
        return f"{_CROSSED + 1} * {{0}} / ({{0}} + {_TINY:f})"
    if healthy.worse == "either":
        raise ValueError(f"areas.yaml: {level.rule.id} has no share of a limit")
    limit = number(healthy.limit) + (f" * {level.factor}" if level.factor else "")
    if healthy.worse == "lower":
        return f"{_CROSSED} * {limit} / ({{}} + {number(healthy.limit * _TINY)})"
    return f"{_CROSSED} * {{}} / ({limit})"


def _limit_name(level: LimitLevel) -> str:
    rule, signal = level.rule, load_signals()[level.rule.signal]
    if not rule.healthy.limit:
        return f"{signal.title}, none allowed"
    if level.factor.startswith("$"):
        return f"{signal.title} {format_limit(rule.healthy, signal.unit)} × {level.factor} {rule.scale}"
    return f"{signal.title} {format_limit(rule.healthy.scaled(float(level.factor or 1)), signal.unit)}"
