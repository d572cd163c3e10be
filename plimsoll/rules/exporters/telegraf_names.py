"""The names that metrics of Prometheus have for the fields that Telegraf records."""

import re


def metric_names(measurement: str, field: str) -> tuple[str, ...]:
    """The names that the metric of a field may have: as VictoriaMetrics writes it, and as prometheus_client does."""
    name = f"{measurement}_{field}"
    return tuple(dict.fromkeys((name, plain_name(name))))


def plain_name(name: str) -> str:
    """The name with `_` for each character that Prometheus did not allow before version 3."""
    return re.sub(r"[^a-zA-Z0-9_:]", "_", name)
