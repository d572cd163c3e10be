"""What Plimsoll says of itself to Prometheus, Telegraf and their kin: `/metrics`."""

from collections import Counter
from collections.abc import Iterator

from plimsoll.alerting.health import Health, HostState
from plimsoll.rules.severity import SEVERITIES

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECOND = 1_000_000_000


def text(health: Health) -> str:
    """The metrics in Prometheus's text format."""
    return "".join(f"{line}\n" for line in _lines(health))


def _lines(health: Health) -> Iterator[str]:
    states = Counter(one.state for one in health.hosts)
    firing = Counter(one.severity for one in health.alerts)
    firing["info"] = health.info
    yield from _gauge("hosts", "Hosts by state.", {f'state="{one}"': states[one] for one in HostState})
    yield from _gauge("alerts_firing", "Alerts that fire.", {f'severity="{one}"': firing[one] for one in SEVERITIES})
    yield from _gauge("problems", "What somebody has to mend in Plimsoll itself.", {"": len(health.problems)})
    yield from _gauge("values_last_minute", "Values written in the last minute.", {"": health.points_a_minute})
    if health.evaluated is not None:
        yield from _gauge(
            "last_evaluation_seconds", "Unix time of the last evaluation.", {"": health.evaluated // _SECOND}
        )
    if health.store_bytes is not None:
        yield from _gauge("store_bytes", "Size of the store.", {"": health.store_bytes})


def _gauge(name: str, about: str, values: dict[str, int]) -> Iterator[str]:
    yield f"# HELP plimsoll_{name} {about}"
    yield f"# TYPE plimsoll_{name} gauge"
    for labels, value in values.items():
        yield f"plimsoll_{name}{f'{{{labels}}}' if labels else ''} {value}"
