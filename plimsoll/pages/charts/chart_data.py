"""The data of charts, as plimsoll/report/html/page/chart.js draws them: lines, limits, alerts, phases, and captions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.notes import Note
from plimsoll.charts.chart import MOST_LINES, Charts, Limit, Line, Span
from plimsoll.dashboards.homes import home_of
from plimsoll.dashboards.limits import drawn as drawn_limits
from plimsoll.model.errors import printable
from plimsoll.model.host_key import host_key
from plimsoll.model.remark import counted
from plimsoll.model.times import Zone
from plimsoll.model.value_text import number, quantity
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.severity import SEVERITIES, gravity
from plimsoll.rules.superseded import is_note
from plimsoll.rules.wording import limit_text
from plimsoll.store.m4 import Drawn

MOST_COLUMNS, LEAST_COLUMNS = 4000, 50
_MOST_MORE = 500  # names of lines that are not drawn


@dataclass(frozen=True, eq=False)
class Shown:
    """One line of a chart. `label` names it, `spec` shows it alone; `rules` are those that apply to it.

    `fires` while an alert of it does.
    """

    label: str
    drawn: Drawn
    spec: Spec
    rules: Sequence[Rule] = ()
    fires: bool = False


@dataclass(frozen=True, eq=False)
class Content:
    """What one chart shows. `more` are the lines that are not drawn, `ranked` how the drawn ones were chosen."""

    title: str
    signal: Signal
    name: str
    lines: Sequence[Shown]
    more: Sequence[tuple[str, Spec]] = ()
    ranked: str = ""
    alerts: Sequence[Alert] = ()
    notes: Sequence[Note] = ()
    problem: str = ""


@dataclass(frozen=True)
class Ask:
    """A range (UTC ns), the width of the charts in pixels, and the zone of the clock.

    `hosts` are all that are known, case-folded: each has its colour by its place among them.
    """

    start: int
    end: int
    columns: int
    zone: Zone
    hosts: Sequence[str] = ()


def encoded(contents: Sequence[Content], ask: Ask) -> dict[str, Any]:
    """The data of some charts, for the script."""
    charts = Charts(ask.start, ask.end, (), ask.zone)
    more: list[dict[str, Any]] = []
    for one in contents:
        rules, note = agreed(one.lines)
        limits = [Limit.of(rule.healthy.limit, one.signal.unit, rule.severity) for rule in rules]
        # What is drawn later covers what is drawn before: the gravest comes last.
        spans = sorted((span for alert in one.alerts for span in _spans(alert, ask.end)), key=_gravity)
        gravest = max([alert.severity for alert in one.alerts], key=gravity, default="info")
        lines = [
            Line(
                printable(shown.label),
                look,
                shown.drawn.samples,
                marked=True,
                strong=shown.fires,
            )
            for shown, look in zip(one.lines, looks(one.lines, ask.hosts), strict=True)
        ]
        label = described(one, rules)
        charts.add(lines, one.signal.unit, label, limits=limits, spans=spans, severity=gravest)
        more.append({
            "title": one.title,
            "label": label,
            "caption": caption(one, ask),
            "note": note,
            "legend": [[printable(shown.label), str(shown.spec), _last(shown, one.signal)] for shown in one.lines],
            "more": [[printable(name), str(spec)] for name, spec in one.more[:_MOST_MORE]],
            "hidden": len(one.more),
            "rules": [[rule.id, limit_text(rule.healthy, one.signal.unit), rule.severity] for rule in rules],
            "alerts": [_alert(alert, ask) for alert in sorted(one.alerts, key=_urgency)],
            "axis": _axis(one.name),
            "notes": [[(note.at - ask.start) // 1_000_000, printable(note.text)] for note in one.notes],
        })  # fmt: skip
    data = charts.data()
    data["charts"] = [{**chart, **added} for chart, added in zip(data["charts"], more, strict=True)]
    data["zone"] = ask.zone.label(ask.start)
    return data


def looks(lines: Sequence[Shown], hosts: Sequence[str]) -> list[str]:
    """How each line looks: a host has its own colour on every chart, instances of one host differ on its chart."""
    of_line = [host_key(one.spec.hosts[0]) if one.spec.hosts else "" for one in lines]
    if len(lines) > 1 and len({*of_line}) == 1:
        return [f"line-{at}" for at in range(1, len(lines) + 1)]
    places = {host: at for at, host in enumerate(hosts)}
    found: list[str] = []
    for host in of_line:
        colour = f"line-{1 + places.get(host, crc32(host.encode())) % MOST_LINES}"
        again = sum(one.split(" ")[0] == colour for one in found)
        found.append(f"{colour} dash-{again}" if again else colour)
    return found


def agreed(lines: Sequence[Shown]) -> tuple[list[Rule], str]:
    """The rules whose limits hold for all lines, one for each level; and a note if others differ between lines."""
    known = [drawn_limits([rule for rule in one.rules if not is_note(rule)]) for one in lines]
    if not known:
        return [], ""
    alike = [rule for rule in known[0] if all(any(_same(rule, other) for other in rules) for rules in known[1:])]
    levels = {(rule.healthy.operator, rule.healthy.limit) for rules in known for rule in rules}
    differing = len(levels) > len({(rule.healthy.operator, rule.healthy.limit) for rule in alike})
    return alike, "Limits that differ between these lines are not drawn: show one alone." if differing else ""


def _same(one: Rule, other: Rule) -> bool:
    return (one.healthy.operator, one.healthy.limit) == (other.healthy.operator, other.healthy.limit)


def caption(content: Content, ask: Ask) -> str:
    """How many samples a chart draws, and how: `259,200 samples, as first, last, ...`."""
    if content.problem:
        return content.problem
    count = sum(one.drawn.count for one in content.lines)
    if not count:
        return "no samples in this range"
    how = ""
    if any(one.drawn.is_reduced for one in content.lines):
        how = f", drawn as the first, last, lowest and highest of each of {number(ask.columns)} columns"
    return f"{content.ranked}{counted(count, 'sample')}{how}"


def described(content: Content, rules: Sequence[Rule]) -> str:
    """A chart in words, for those who cannot see it."""
    unit = content.signal.unit
    values = [f"{printable(one.label)} {_last(one, content.signal)}" for one in content.lines]
    last = f"Last values: {', '.join(values)}." if values else "No samples."
    limits = ", ".join(limit_text(rule.healthy, unit) for rule in rules)
    held = f" Limit {limits}." if limits else ""
    firing = [one for one in content.alerts if one.firing]
    alerts = f" {counted(len(content.alerts), 'alert')}, {len(firing)} firing." if content.alerts else ""
    return f"{content.title}. {last}{held}{alerts}"


def _last(line: Shown, signal: Signal) -> str:
    present = line.drawn.samples.present
    return quantity(float(present.values[-1]), signal.unit) if len(present.values) else "no samples"


def _spans(alert: Alert, end: int) -> list[Span]:
    """When its limit was crossed without alerting yet, and when it fired."""
    firing = Span(alert.fired_at, alert.ended_at or end, alert.severity)
    return [Span(alert.begin, alert.fired_at, "brief"), firing] if alert.begin < alert.fired_at else [firing]


def _gravity(span: Span) -> int:
    return gravity(span.severity) if span.severity and span.severity in SEVERITIES else -1


def _urgency(alert: Alert) -> tuple[bool, int, int]:
    """For sorting: those that fire come last, the critical ones of them at the end, then the latest."""
    return alert.firing, gravity(alert.severity) if alert.firing else 0, alert.fired_at


def _alert(alert: Alert, ask: Ask) -> dict[str, Any]:
    begun, end = alert.fired_at, alert.ended_at
    return {
        "id": alert.id,
        "severity": alert.severity,
        "text": ask.zone.span(begun, end) if end else f"since {ask.zone.clock(begun)}",
        "place": printable(alert.place),
    }


def _axis(signal: str) -> dict[str, Any]:
    """How far the value axis reaches, as on the panel of the signal."""
    home = home_of(signal)
    if home is None:
        return {}
    panel = home[1]
    return {"most": panel.max or panel.soft_max, "limits": panel.limit_in_view}
