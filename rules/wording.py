"""Limits as people read them: one wording for reviews, reports, rule pages, dashboards and alerts."""

from collections.abc import Mapping

from model.numbers import exact, quantity
from rules.healthy import Healthy
from rules.schema import Fact

_EACH: Mapping[Fact, str] = {
    "processors": "processors",
    "clock_mhz": "MHz of processor clock",
    "memory_mb": "MB of memory",
    "spindles": "spindles",
    "link_bits": "bit/s of link speed",
}


def limit_text(healthy: Healthy, unit: str, per: Fact | None = None) -> str:
    """A limit in a signal's unit: `< 80 %`, `> 4 MB`, `≤ 3 requests × spindles`; all its digits are shown."""
    return f"{healthy.sign} {exactly(healthy.limit, unit)}{f' × {_EACH[per]}' if per else ''}"


def exactly(limit: float, unit: str) -> str:
    """The value of a limit, with all its digits."""
    return quantity(limit, unit, exact)
