"""Alert rules for hosts that stop sending samples, and therefore no longer cross any threshold.

A host is known by its samples in the look-back window. It is silent if it has sent nothing for some minutes, or
longer if its interval is long. The rule goes on firing after the look-back window, until samples arrive again.
"""

import re
from collections.abc import Iterable, Sequence

from plimsoll.dashboards.areas import uid
from plimsoll.export.grafana.alerts.file import AlertRule, Evaluator
from plimsoll.export.grafana.alerts.query import Pipeline
from plimsoll.export.grafana.dashboards import health
from plimsoll.export.grafana.influxql import samples_per_minute
from plimsoll.export.grafana.selections import OBJECT, Selection, Variant
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Rule

EVERY = 60 * SECOND
_MINUTE = 60 * SECOND
_LEAST = 5  # minutes
_MISSED = 3  # samples
_LOOK_BACK = 6 * 3600 * SECOND
_OBJECTS = "silence-windows"
_SILENT = Evaluator(type="lte", params=[0])


def rules(exported: Iterable[tuple[Rule, Variant]], delay: int, interval: int, gone_after: int) -> list[AlertRule]:
    """Return one rule for all Perfmon objects, and one for each measurement that has no tag for its kind.

    `interval` is the time between samples. Each object and measurement has its own alerts, because a host may send one
    and not another.
    """
    minutes = max(_LEAST, -(-_MISSED * interval // _MINUTE))
    first: dict[tuple[str, str, str], Selection] = {}
    for _, variant in exported:
        for selection in variant.selections:
            first.setdefault((selection.kind, selection.host, selection.collector or ""), selection)
    found: dict[str, AlertRule] = {}
    every = [selection for _, selection in sorted(first.items())]
    objects = [one for one in every if one.source.path]
    if objects:
        found[_OBJECTS] = _rule(_OBJECTS, objects, "a Windows object", delay, minutes, gone_after)
    for selection in (one for one in every if not one.source.path):
        name = f"silence-{re.sub('[^a-z0-9]+', '-', selection.kind.casefold())}"
        # Two collectors may use the same name: `disk` of sysstat and of Telegraf.
        name = f"{name}-{selection.collector}" if name in found else name
        found[name] = _rule(name, [selection], selection.kind, delay, minutes, gone_after)
    return list(found.values())


def _rule(
    name: str, selections: Sequence[Selection], kind: str, delay: int, minutes: int, gone_after: int
) -> AlertRule:
    host = selections[0].host
    of = f" ({selections[0].collector})" if selections[0].collector and not selections[0].source.path else ""
    what = kind if len(selections) == 1 else f"{{{{ $labels.{OBJECT} }}}}"
    pipeline = Pipeline(delay)
    look_back = max(_LOOK_BACK, 4 * minutes * _MINUTE)
    value = pipeline.reduce(pipeline.query(samples_per_minute(selections, minutes), look_back))
    condition = pipeline.threshold(value, _SILENT)
    return AlertRule(
        uid=name[:40],
        title=f"No samples: {kind if len(selections) == 1 else 'objects of Windows'}{of}",
        condition=condition,
        data=pipeline.queries,
        noDataState="KeepLast",
        execErrState="Error",
        **{"for": "0s"},  # pyright: ignore[reportArgumentType]
        missing_series_evals_to_resolve=gone_after // EVERY,
        annotations={
            "summary": f"A host sends no more samples of {kind}: its thresholds are not judged.",
            "description": f"{{{{ $labels.{host} }}}} has sent no samples of {what} for {minutes} minutes.",
            "value": f'{{{{ printf "%.6g" $values.{value}.Value }}}} samples per minute',
            "limit": f"none for {minutes} min",
            "__dashboardUid__": uid(health.AREA),
            "__panelId__": str(health.SILENT),
        },
        labels={"severity": "warning", "rule": "silence"},
    )
