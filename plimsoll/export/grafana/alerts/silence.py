"""Alert rules for hosts that stop sending samples, and therefore no longer cross any threshold.

A host is known by its samples in the look-back window. It is silent if it has sent nothing for some minutes, or
longer if its interval is long. The rule goes on firing after the look-back window, until samples arrive again.
"""

import re
from collections.abc import Iterable, Sequence

from plimsoll.dashboards.areas import uid
from plimsoll.export.grafana.alerts.alert_rules import alert_rule
from plimsoll.export.grafana.alerts.query import Json, Pipeline
from plimsoll.export.grafana.dashboards import health
from plimsoll.export.grafana.influxql import samples_per_minute
from plimsoll.export.selections import OBJECT, Selection, Variant
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Rule

EVERY = 60 * SECOND
_MINUTE = 60 * SECOND
_LEAST_MINUTES = 5
_MISSED_SAMPLES = 3
_LOOK_BACK = 6 * 3600 * SECOND
_OBJECTS = "silence-windows"
_SILENT = {"type": "lte", "params": [0]}


def silence_rules(exported: Iterable[tuple[Rule, Variant]], delay: int, interval: int) -> list[Json]:
    """Return one rule for all Perfmon objects, and one for each measurement that has no tag for its kind.

    `interval` is the time between samples. Each object and measurement has its own alerts, because a host may send one
    and not another.
    """
    minutes = max(_LEAST_MINUTES, -(-_MISSED_SAMPLES * interval // _MINUTE))
    first: dict[tuple[str, str, str], Selection] = {}
    for _, variant in exported:
        for selection in variant.selections:
            first.setdefault((selection.kind, selection.host, selection.collector or ""), selection)
    by_kind = [selection for _, selection in sorted(first.items())]
    objects = [selection for selection in by_kind if selection.source.path]
    rules = {_OBJECTS: _rule(_OBJECTS, objects, "a Windows object", delay, minutes)} if objects else {}
    for selection in (selection for selection in by_kind if not selection.source.path):
        name = f"silence-{re.sub('[^a-z0-9]+', '-', selection.kind.casefold())}"
        # Two collectors may use the same name: `disk` of sysstat and of Telegraf.
        name = f"{name}-{selection.collector}" if name in rules else name
        rules[name] = _rule(name, [selection], selection.kind, delay, minutes)
    return list(rules.values())


def _rule(name: str, selections: Sequence[Selection], kind: str, delay: int, minutes: int) -> Json:
    first = selections[0]
    several = len(selections) > 1
    collector = f" ({first.collector})" if first.collector and not first.source.path else ""
    subject = f"{{{{ $labels.{OBJECT} }}}}" if several else kind
    pipeline = Pipeline(delay)
    look_back = max(_LOOK_BACK, 4 * minutes * _MINUTE)
    value = pipeline.reduce(pipeline.query(samples_per_minute(selections, minutes), look_back))
    return alert_rule(
        name[:40],
        f"No samples: {'objects of Windows' if several else kind}{collector}",
        pipeline,
        pipeline.threshold(value, _SILENT),
        EVERY,
        hold="0s",
        annotations={
            "summary": f"A host sends no more samples of {kind}: its thresholds are not judged.",
            "description": f"{{{{ $labels.{first.host} }}}} has sent no samples of {subject} for {minutes} minutes.",
            "value": f'{{{{ printf "%.6g" $values.{value}.Value }}}} samples per minute',
            "limit": f"none for {minutes} min",
            "__dashboardUid__": uid(health.AREA),
            "__panelId__": str(health.SILENT),
        },
        labels={"severity": "warning", "rule": "silence"},
    )
