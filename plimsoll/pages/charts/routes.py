"""`GET /api/charts`: the data of charts, for static/live_charts.js."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from zlib import crc32

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.alerting import host_inventory
from plimsoll.alerting.alert import Alert
from plimsoll.charts.chart import MOST_LINES, ChartLimit, Charts, ChartSeries, Span
from plimsoll.dashboards.limits import find_home_panel
from plimsoll.model.errors import Unreachable, Unusable, escape
from plimsoll.model.remark import format_count
from plimsoll.model.series import make_host_key
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_value, number
from plimsoll.pages.charts.chart_spec import parse_lines
from plimsoll.pages.charts.drawing import ChartContent, ChartLine, ChartRange, ChartReader
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.shared.form_words import replace_options_by_fields
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import PageRange
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.wording import SEVERITIES, limit_text, rank_severity
from plimsoll.up.watched import Watched

_MOST_MORE = 500  # names of lines that are not drawn
_MOST_CHARTS = 60
_USUAL_COLUMNS, _LEAST_COLUMNS, _MOST_COLUMNS = 1000, 50, 4000


def list_routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """Return the route of `GET /api/charts`."""

    def answer(request: Request) -> Response:
        """Return the data of the charts in the request, as JSON."""
        try:
            specs = [parse_lines(text) for text in request.query_params.getlist("chart")[:_MOST_CHARTS]]
            span = _parse_range(request, frame, watched)
            contents = ChartReader(scenes, watched.file, span).contents(specs)
        except Unusable as error:
            return JSONResponse({"error": replace_options_by_fields(str(error))}, HTTPStatus.BAD_REQUEST)
        except Unreachable as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
        charts = Charts(span.start, span.end, (), span.zone)
        details = [_add_chart(charts, content, span) for content in contents]
        data = charts.data()
        data["charts"] = [{**chart, **detail} for chart, detail in zip(data["charts"], details, strict=True)]
        data["zone"] = span.zone.label(span.start)
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    return [Route("/api/charts", answer)]


def _parse_range(request: Request, frame: Frame, watched: Watched) -> ChartRange:
    """Return the time range (by default the last hour), width and zone of the charts in a request."""
    query, zone = request.query_params, frame.zone_of(request)
    width = query.get("width", "")
    columns = int(width) if width.isdecimal() and len(width) < 6 else _USUAL_COLUMNS
    columns = max(_LEAST_COLUMNS, min(_MOST_COLUMNS, columns))
    span = PageRange.parse(query.get("from"), query.get("to"), zone)
    hosts = [host.host for host in host_inventory.read_hosts(watched.file)]
    return ChartRange(span.start, span.end, columns, zone, hosts)


def _add_chart(charts: Charts, content: ChartContent, span: ChartRange) -> dict[str, Any]:
    """Add the lines of a chart to `charts`; return the chart's title, legend, limits, alerts and notes."""
    unit = content.signal.unit
    rules, note = _find_common_rules(content.lines)
    limits = [ChartLimit.of(rule.healthy.limit, unit, rule.severity) for rule in rules]
    # Later lines cover earlier ones, so the most severe is drawn last.
    spans = sorted(
        (shade for alert in content.alerts for shade in _list_spans(alert, span.end)),
        key=lambda shade: rank_severity(shade.severity) if shade.severity and shade.severity in SEVERITIES else -1,
    )
    gravest = max([alert.severity for alert in content.alerts], key=rank_severity, default="info")
    looks = _choose_looks(content.lines, span.hosts)
    lines = [
        ChartSeries(escape(line.label), look, line.samples.samples, marked=True, strong=line.fires)
        for line, look in zip(content.lines, looks, strict=True)
    ]
    label = _describe(content, rules)
    # The script lists the last alert first: firing ones, critical before others, then the latest.
    alerts = sorted(
        content.alerts,
        key=lambda alert: (alert.firing, rank_severity(alert.severity) if alert.firing else 0, alert.fired_at),
    )
    _, panel = find_home_panel(content.name) or (None, None)
    charts.add([*lines, *content.beside], unit, label, limits=limits, spans=spans, severity=gravest)
    return {
        "title": content.title,
        "label": label,
        "caption": _format_caption(content, span),
        "note": note,
        "legend": [[escape(line.label), str(line.spec), _format_last(line, unit)] for line in content.lines],
        "more": [[escape(line.label), str(line.spec)] for line in content.undrawn[:_MOST_MORE]],
        "hidden": len(content.undrawn),
        "rules": [[rule.id, limit_text(rule.healthy, unit), rule.severity] for rule in rules],
        "alerts": [_encode_alert(alert, span.zone) for alert in alerts],
        "axis": {"most": panel.max or panel.soft_max, "limits": panel.limit_in_view} if panel else {},
        "notes": [[(note.at - span.start) // 1_000_000, escape(note.text)] for note in content.notes],
    }


def _choose_looks(lines: Sequence[ChartLine], hosts: Sequence[str]) -> list[str]:
    """Return each line's CSS classes: its host's colour, dashed if repeated; for a single host, a colour per line."""
    keys = [make_host_key(line.spec.hosts[0]) if line.spec.hosts else "" for line in lines]
    if len(lines) > 1 and len({*keys}) == 1:
        return [f"line-{at}" for at in range(1, len(lines) + 1)]
    places = {host: at for at, host in enumerate(hosts)}
    colours = [f"line-{1 + places.get(host, crc32(host.encode())) % MOST_LINES}" for host in keys]
    repeats = [colours[:at].count(colour) for at, colour in enumerate(colours)]
    return [f"{colour} dash-{again}" if again else colour for colour, again in zip(colours, repeats, strict=True)]


def _find_common_rules(lines: Sequence[ChartLine]) -> tuple[list[Rule], str]:
    """Return the rules whose limits apply to all lines, and a note if further limits apply to single lines."""
    levels = [{(rule.healthy.operator, rule.healthy.limit): rule for rule in line.limits} for line in lines]
    common = [rule for rules in levels[:1] for level, rule in rules.items() if all(level in other for other in levels)]
    differing = len({level for rules in levels for level in rules}) > len(common)
    return common, "Limits that differ between these lines are not drawn: show one alone." if differing else ""


def _format_caption(content: ChartContent, span: ChartRange) -> str:
    """Return the number of samples and how they are drawn: `259,200 samples, drawn as the first, last, ...`."""
    if content.problem:
        return content.problem
    count = sum(line.samples.count for line in content.lines)
    if not count:
        return "no samples in this range"
    reduced = ""
    if any(len(line.samples.samples.present.times) < line.samples.count for line in content.lines):
        reduced = f", drawn as the first, last, lowest and highest of each of {number(span.columns)} columns"
    usual = (
        "; shaded is what is usual at these hours of the week"
        if any(line.kind == "usual" for line in content.beside)
        else ""
    )
    return f"{content.ranked}{format_count(count, 'sample')}{reduced}{usual}"


def _describe(content: ChartContent, rules: Sequence[Rule]) -> str:
    """Return a text that describes a chart, for screen readers."""
    unit = content.signal.unit
    values = [f"{escape(line.label)} {_format_last(line, unit)}" for line in content.lines]
    last = f"Last values: {', '.join(values)}." if values else "No samples."
    limits = ", ".join(limit_text(rule.healthy, unit) for rule in rules)
    limit = f" Limit {limits}." if limits else ""
    firing = sum(alert.firing for alert in content.alerts)
    alerts = f" {format_count(len(content.alerts), 'alert')}, {firing} firing." if content.alerts else ""
    return f"{content.title}. {last}{limit}{alerts}"


def _format_last(line: ChartLine, unit: str) -> str:
    values = line.samples.samples.present.values
    return format_value(float(values[-1]), unit) if len(values) else "no samples"


def _list_spans(alert: Alert, end: int) -> list[Span]:
    """Return the time in which an alert was pending (none if it fired at once), and the time in which it fired."""
    firing = Span(alert.fired_at, alert.ended_at or end, alert.severity)
    return [Span(alert.begin, alert.fired_at, "brief"), firing] if alert.begin < alert.fired_at else [firing]


def _encode_alert(alert: Alert, zone: Zone) -> dict[str, Any]:
    begun, end = alert.fired_at, alert.ended_at
    return {
        "id": alert.id,
        "severity": alert.severity,
        "text": zone.span(begun, end) if end else f"since {zone.clock(begun)}",
        "place": escape(alert.place),
    }
