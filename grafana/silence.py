"""Alert rules for hosts that stop sending samples, and therefore no longer cross any threshold.

A host is known by its samples in the look-back window. It is silent if it has sent nothing for some minutes, or
longer if its interval is long. The rule goes on firing after the look-back window, until samples arrive again.
"""

import re
from collections.abc import Iterable, Mapping

from dashboards.areas import uid
from grafana import health
from grafana.alert_file import AlertRule, Evaluator
from grafana.alert_query import Pipeline
from grafana.influxql import samples_per_minute
from grafana.selections import Selection, Variant
from model.times import SECOND
from rules.pack_schema import Rule
from rules.signal_schema import Signal

EVERY = 60 * SECOND
_MINUTE = 60 * SECOND
_LEAST = 5  # minutes
_MISSED = 3  # samples
_LOOK_BACK = 6 * 3600 * SECOND
_SILENT = Evaluator(type="lte", params=[0])


def rules(
    exported: Iterable[tuple[Rule, Variant]], signals: Mapping[str, Signal], delay: int, interval: int, gone_after: int
) -> list[AlertRule]:
    """Return one rule for each Perfmon object and measurement that the signals of exported rules are read from.

    `interval` is the time between samples. Each object has its own rule, because a host may send one and not another.
    """
    minutes = max(_LEAST, -(-_MISSED * interval // _MINUTE))
    first: dict[tuple[str, str, str], Selection] = {}
    for _, variant in exported:
        for selection in variant.selections:
            first.setdefault((selection.kind, selection.host, selection.collector or ""), selection)
    found: dict[str, AlertRule] = {}
    for _, selection in sorted(first.items()):
        name = f"silence-{re.sub('[^a-z0-9]+', '-', selection.kind.casefold())}"
        # Two collectors may use the same name: `System` of Windows, `system` of Telegraf.
        name = f"{name}-{selection.collector}" if name in found else name
        found[name] = _rule(name, selection, signals[selection.signal], delay, minutes, gone_after)
    return list(found.values())


def _rule(name: str, selection: Selection, signal: Signal, delay: int, minutes: int, gone_after: int) -> AlertRule:
    pipeline = Pipeline(delay)
    look_back = max(_LOOK_BACK, 4 * minutes * _MINUTE)
    value = pipeline.reduce(pipeline.query(samples_per_minute(selection, minutes), look_back))
    condition = pipeline.threshold(value, _SILENT)
    return AlertRule(
        uid=name[:40],
        title=f"{name}: no samples",
        condition=condition,
        data=pipeline.queries,
        noDataState="KeepLast",
        execErrState="Error",
        **{"for": "0s"},  # pyright: ignore[reportArgumentType]
        missing_series_evals_to_resolve=gone_after // EVERY,
        annotations={
            "summary": f"A host sends no more samples of {selection.kind}: its thresholds are not judged.",
            "description": (
                f"{{{{ $labels.{selection.host} }}}} has sent no {signal.title.lower()} ({selection.label}) "
                f"for {minutes} minutes."
            ),
            "value": f'{{{{ printf "%.6g" $values.{value}.Value }}}} samples per minute',
            "limit": f"none for {minutes} min",
            "__dashboardUid__": uid(health.AREA),
            "__panelId__": str(health.SILENT),
        },
        labels={"severity": "warning", "rule": "silence"},
    )
