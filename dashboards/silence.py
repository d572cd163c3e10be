"""Rules for hosts that fall silent: where samples stay away no threshold is crossed, and it must be seen all the same.

A host is known by its samples within `LOOK_BACK`. One that has sent nothing for `MINUTES` is silent; the rule goes on
firing after that look-back, until samples come again.
"""

from collections.abc import Iterable, Mapping

from dashboards.alert_file import AlertRule, Evaluator
from dashboards.alert_query import Pipeline
from dashboards.influxql import Selection, Variant, samples_per_minute
from model.times import SECOND
from rules.schema import Rule, Signal

EVERY = 60 * SECOND
MINUTES = 5
LOOK_BACK = 6 * 3600 * SECOND
_SILENT = Evaluator(type="lte", params=[0])


def rules(
    exported: Iterable[tuple[Rule, Variant]], signals: Mapping[str, Signal], delay: int, gone_after: int
) -> list[AlertRule]:
    """One rule for each measurement that exported rules take their own signal from."""
    first: dict[tuple[str, str], Selection] = {}
    for _, variant in exported:
        for selection in variant.selections:
            first.setdefault((selection.measurement, selection.host), selection)
    return [_rule(selection, signals[selection.signal], delay, gone_after) for _, selection in sorted(first.items())]


def _rule(selection: Selection, signal: Signal, delay: int, gone_after: int) -> AlertRule:
    pipeline = Pipeline(delay)
    value = pipeline.reduce(pipeline.query(samples_per_minute(selection, MINUTES), LOOK_BACK))
    condition = pipeline.threshold(value, _SILENT)
    name = f"silence-{selection.measurement}".replace("_", "-")
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
            "summary": f"A host sends no more samples of {selection.measurement}: its thresholds are not judged.",
            "description": (
                f"{{{{ $labels.{selection.host} }}}} has sent no {signal.title.lower()} ({selection.label}) "
                f"for {MINUTES} minutes."
            ),
            "value": f'{{{{ printf "%.6g" $values.{value}.Value }}}} samples per minute',
            "limit": f"none for {MINUTES} min",
        },
        labels={"severity": "warning", "rule": "silence"},
    )
