"""The wording of limits in reviews, reports, rule pages, dashboards and alerts."""

import math
from collections.abc import Mapping

from model.value_text import MULTIPLES, exact, quantity
from rules.field_types import Fact
from rules.healthy import Healthy

_MB = 1024**2
_EACH: Mapping[Fact, str] = {
    "processors": "processors",
    "clock_mhz": "MHz of processor clock",
    "memory_mb": "MB of memory",
    "spindles": "spindles",
    "link_bits": "bit/s of link speed",
}


def limit_text(healthy: Healthy, unit: str, per: Fact | None = None) -> str:
    """A limit in a signal's unit, with all its digits: `< 80 %`, `> 4 MB`, `≤ 3 requests × spindles`."""
    if per == "memory_mb" and unit == "bytes":
        return f"{healthy.sign} {exact(100 * healthy.limit / _MB)} % of memory"
    return f"{healthy.sign} {exactly(healthy.limit, unit)}{f' × {_EACH[per]}' if per else ''}"


def exactly(limit: float, unit: str) -> str:
    """The value of a limit with all its digits, in the largest multiple that needs at most two decimals: `4,000 MB`."""
    for size, name in MULTIPLES.get(unit, ()):
        hundredths = 100 * limit / size
        if abs(limit) >= size and math.isclose(hundredths, round(hundredths)):
            return f"{exact(limit / size)} {name}"
    return quantity(limit, unit, exact)
