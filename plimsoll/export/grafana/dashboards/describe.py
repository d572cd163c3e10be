"""The description and the links of a panel: the meaning of its signal, the sources of its limits, related panels."""

from collections.abc import Iterator

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.limits import PanelLimits, list_panels
from plimsoll.export.annotations import make_rule_url
from plimsoll.export.grafana.dashboards.parts import Json, link
from plimsoll.export.selections import list_drawn_variants
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.hosts.site import Judged
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.times import format_duration
from plimsoll.rules.host_filter import is_note
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.pack import Condition, Rule
from plimsoll.rules.wording import MARKS, limit_text

_TIME_AND_VARIABLES = "${__url_time_range}&${__all_variables}"
_REDUCES = {
    "mean": "the mean over",
    "min": "the lowest value of",
    "max": "the highest value of",
    "last": "the last value of",
    "sum": "the sum over",
    "count": "the number of samples in",
    "median": "the median over",
    "increase": "the increase over",
}


def describe_panel(spec: PanelSpec, limits: PanelLimits) -> str:
    """Return the description of a panel, in Markdown."""
    signal = load_signals()[spec.signal]
    judged = limits.judged_rules(spec)
    parts = [signal.meaning.strip()]
    if signal.instances == "each" and judged:
        parts.append("Each instance is judged on its own.")
    if spec.drive:
        parts.append(f"Choose the disks that hold the {spec.drive} above: the limits are theirs alone.")
    if judged:
        parts.append("**Limits**\n" + "\n".join(f"- {_limit_description(rule, limits)}" for rule in judged))
    sources = dict.fromkeys(variant.label for variant in list_drawn_variants(spec.signal, load_signals()))
    parts.append("Taken from " + ", ".join(f"`{label}`" for label in sources) + ".")
    return "\n\n".join(parts)


def list_panel_links(spec: PanelSpec, uid: str, limits: PanelLimits) -> list[Json]:
    """Return links from a panel to the pages of its rules, and to the panels of the signals in their `look_at`."""
    rules = [judged.rule for judged in limits.judged_rules(spec)]
    to_rules = [link(f"Rule {rule.id}", make_rule_url(rule.id), new_tab=True) for rule in rules]
    named = dict.fromkeys(signal for rule in rules for signal in rule.look_at)
    return [*to_rules, *(signal_link for name in named for signal_link in _list_signal_links(name, uid))]


def make_panel_path(uid: str, panel: int) -> str:
    """Return the end of a URL that shows a single panel of the dashboard `uid`."""
    return f"{uid}?viewPanel=panel-{panel}"


def _list_signal_links(signal: str, uid: str) -> Iterator[Json]:
    """Yield the link to the best panel of a signal (on the dashboard `uid` if possible); nothing without a panel."""
    places = sorted(list_panels(signal), key=lambda place: (place[0] != uid, place[1].drive is not None))
    for dashboard, spec in places[:1]:
        url = f"/d/{make_panel_path(dashboard, spec.id)}&{_TIME_AND_VARIABLES}"
        yield link(f"See {load_signals()[signal].title}", url)


def _limit_description(judged: Judged, limits: PanelLimits) -> str:
    rule = judged.rule
    sources = "; ".join(f"{source.document}, {source.place}" for source in rule.sources)
    verdict = "not judged" if judged.off else _describe_conditions(rule)
    if judged.unknown:
        verdict += f"; not drawn, {judged.unknown}"
    note = f"; {judged.note}" if judged.note else "."
    hosts_by_note = group_pairs((exception.note, host) for host, exception in limits.exceptions(judged))
    exceptions = "".join(f" On {', '.join(hosts)}: {text}" for text, hosts in hosts_by_note.items())
    page = f"[{rule.id}]({make_rule_url(rule.id)})"
    return f"{MARKS[rule.severity]} {rule.severity}: {verdict}{note}{exceptions} From {sources}. {page}"


def _describe_conditions(rule: Rule) -> str:
    """Return the words for a rule's limit, `for` and conditions, and for why a limit is not drawn."""
    lasting = f" for {format_duration(rule.for_)}" if rule.for_ else ""
    extras = [f"only while {_describe_condition(condition, broken=True)}" for condition in rule.and_]
    if rule.phase:
        extras.append(f"in the phase {rule.phase}")
        extras += [
            f"where phases are not known, only while {_describe_condition(condition, broken=True)}"
            for condition in rule.when_phase_unknown
        ]
    if rule.reduce == "increase":
        extras.append("not drawn, it is not a limit of the value itself")
    if rule.scale in DEFAULTS:
        extras.append(f"drawn for {rule.scale}: ${rule.scale}, as chosen above")
    elif rule.scale:
        extras.append(f"not drawn, it is for each of the {rule.scale} of a host")
    if is_note(rule):
        extras.append(f"an old limit, not drawn; of today are {' and '.join(rule.superseded_by)}")
    if rule.measured_on:
        extras.append(f"measured on {rule.measured_on}")
    details = f" ({'; '.join(extras)})" if extras else ""
    return f"healthy while {_describe_condition(rule)}, crossed{lasting or ' at once'}{details}"


def _describe_condition(condition: Condition, *, broken: bool = False) -> str:
    """Return a condition in words: `the mean over 1 min is < 80 %`; if `broken`, with its signal and `is not`."""
    signal = load_signals()[condition.signal]
    name = f" of {signal.title.lower()}" if broken else ""
    limit = limit_text(condition.healthy, signal.unit, condition.scale)
    return f"{_REDUCES[condition.reduce]} {format_duration(condition.over)}{name} is {'not ' if broken else ''}{limit}"
