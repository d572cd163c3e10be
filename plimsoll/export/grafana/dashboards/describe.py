"""The description and the links of a panel: what its signal means, where its limits are from, and related panels."""

from collections.abc import Iterator, Sequence

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.homes import panels_of
from plimsoll.dashboards.limits import Limits
from plimsoll.export.annotations import rule_page
from plimsoll.export.grafana.sdk import dashboard
from plimsoll.export.selections import drawn
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.hosts.site import Judged
from plimsoll.model.times import duration_text
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.pack import Condition, Rule
from plimsoll.rules.severity import MARKS
from plimsoll.rules.superseded import is_note
from plimsoll.rules.wording import limit_text

TIME_AND_VARIABLES = "${__url_time_range}&${__all_variables}"
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


def text(spec: PanelSpec, limits: Limits) -> str:
    """Return the description of a panel, in Markdown."""
    signal = load_signals()[spec.signal]
    held = limits.judged_rules(spec)
    parts = [signal.meaning.strip()]
    if signal.instances == "each" and held:
        parts.append("Each instance is judged on its own.")
    if spec.drive:
        parts.append(f"Choose the disks that hold the {spec.drive} above: the limits are theirs alone.")
    if held:
        parts.append("**Limits**\n" + "\n".join(f"- {_limit(one, limits)}" for one in held))
    sources = dict.fromkeys(variant.label for variant in drawn(spec.signal, load_signals()))
    parts.append("Taken from " + ", ".join(f"`{label}`" for label in sources) + ".")
    return "\n\n".join(parts)


def links(spec: PanelSpec, uid: str, limits: Limits) -> list[dashboard.DashboardLink]:
    """Return links from a panel of this dashboard to the pages of its rules, and to the panels of their `look_at`."""
    rules = [one.rule for one in limits.judged_rules(spec)]
    to_rules = [link(f"Rule {rule.id}", rule_page(rule.id), new_tab=True) for rule in rules]
    named = dict.fromkeys(signal for rule in rules for signal in rule.look_at)
    return [*to_rules, *_see(list(named), uid)]


def link(name: str, url: str, *, new_tab: bool = False) -> dashboard.DashboardLink:
    """Return a link to a URL."""
    made = dashboard.DashboardLink(
        name, dashboard.DashboardLinkType.LINK, url=url, target_blank=new_tab, icon="external link"
    )
    made.placement = None  # pyright: ignore[reportAttributeAccessIssue]  # the default is in a menu
    return made


def panel_url(uid: str, panel: int) -> str:
    """Return the URL of a single panel, with the current time range and variables."""
    return f"/d/{panel_path(uid, panel)}&{TIME_AND_VARIABLES}"


def panel_path(uid: str, panel: int) -> str:
    """Return what names a single panel in a URL."""
    return f"{uid}?viewPanel=panel-{panel}"


def _see(names: Sequence[str], uid: str) -> Iterator[dashboard.DashboardLink]:
    """Yield a link to a panel of each signal, preferring the same dashboard, then panels without `drive`."""
    for name in names:
        found = sorted(panels_of(name), key=lambda one: (one[0] != uid, one[1].drive is not None))
        for to, spec in found[:1]:
            yield link(f"See {load_signals()[name].title}", panel_url(to, spec.id))


def _limit(judged: Judged, limits: Limits) -> str:
    rule = judged.rule
    sources = "; ".join(f"{source.document}, {source.place}" for source in rule.sources)
    verdict = "not judged" if judged.off else _conditions_text(rule)
    noted = f"; {judged.note}" if judged.note else "."
    if judged.unknown:
        verdict += f"; not drawn, {judged.unknown}"
    elsewhere: dict[str, list[str]] = {}
    for host, own in limits.exceptions(judged):
        elsewhere.setdefault(own.note, []).append(host)
    exceptions = "".join(f" On {', '.join(hosts)}: {note}" for note, hosts in elsewhere.items())
    verdict = f"{MARKS[rule.severity]} {rule.severity}: {verdict}{noted}{exceptions}"
    return f"{verdict} From {sources}. [{rule.id}]({rule_page(rule.id)})"


def _conditions_text(rule: Rule) -> str:
    """Return when a rule is healthy and when it is crossed, in words."""
    lasting = f" for {duration_text(rule.for_)}" if rule.for_ else ""
    extras = [f"only while {_condition_text(one, broken=True)}" for one in rule.and_]
    if rule.phase:
        extras.append(f"in the phase {rule.phase}")
        extras += [
            f"where phases are not known, only while {_condition_text(one, broken=True)}"
            for one in rule.when_phase_unknown
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
    return f"healthy while {_condition_text(rule)}, crossed{lasting or ' at once'}{details}"


def _condition_text(condition: Condition, *, broken: bool = False) -> str:
    """Return a condition in words: `the mean over 1 min is < 80 %`. With `broken`, name the signal and negate it."""
    signal = load_signals()[condition.signal]
    name = f" of {signal.title.lower()}" if broken else ""
    limit = limit_text(condition.healthy, signal.unit, condition.scale)
    return f"{_REDUCES[condition.reduce]} {duration_text(condition.over)}{name} is {'not ' if broken else ''}{limit}"
