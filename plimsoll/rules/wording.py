"""The wording of limits in reviews, reports, rule pages, dashboards and alerts."""

from collections.abc import Mapping, Sequence

from plimsoll.model.value_text import format_exact, format_limit
from plimsoll.rules.schema.field_types import Fact, Healthy, Reduce, Severity

SEVERITIES: Sequence[Severity] = ("critical", "warning", "info")  # the most severe first
MARKS: Mapping[str, str] = {"critical": "◆", "warning": "▲", "info": "○"}
COLOURS: Mapping[str, str] = {"critical": "red", "warning": "yellow", "info": "cyan"}  # on a terminal
_MB = 1024**2
# The singular and plural of what a fact counts.
_COUNTED: Mapping[Fact, tuple[str, str]] = {
    "processors": ("processor", "processors"),
    "clock_mhz": ("MHz of processor clock", "MHz of processor clock"),
    "memory_mb": ("MB of memory", "MB of memory"),
    "spindles": ("spindle", "spindles"),
    "link_bits": ("bit/s of link speed", "bit/s of link speed"),
}
_UNITS: Mapping[str, str] = {"clock_mhz": "MHz", "memory_mb": "MB of memory", "link_bits": "bit/s"}
_SHOULD = {"<": "stay below", "<=": "stay at or below", ">": "stay above", ">=": "stay at or above", "=": "be"}
_REDUCED: Mapping[Reduce, str] = {"min": "minimum", "max": "maximum"}
_HEALTHY = {"<": "below {}", "<=": "at most {}", ">": "above {}", ">=": "at least {}", "=": "exactly {}"}
_CROSSED = {"<": "{} or more", "<=": "more than {}", ">": "{} or less", ">=": "less than {}", "=": "anything but {}"}


def limit_text(healthy: Healthy, unit: str, per: Fact | None = None) -> str:
    """Return a limit in a signal's unit, with all its digits: `< 80 %`, `> 4 MB`, `≤ 3 requests × spindles`."""
    if per == "memory_mb" and unit == "bytes":
        return f"{healthy.sign} {format_exact(100 * healthy.limit / _MB)} % of memory"
    return f"{healthy.sign} {format_limit(healthy.limit, unit)}{f' × {name_counted(per)}' if per else ''}"


def should_text(healthy: Healthy, unit: str) -> str:
    """Return the requirement of a limit: `should stay below 80 %`."""
    if healthy.operator == "<=" and healthy.limit == 0:  # counts are never below 0
        return f"should stay at {format_limit(healthy.limit, unit)}"
    return f"should {_SHOULD[healthy.operator]} {format_limit(healthy.limit, unit)}"


def describe_healthy(healthy: Healthy, unit: str) -> str:
    """Return the range of healthy values: `below 80 %`, `at least 4 GB`."""
    return _HEALTHY[healthy.operator].format(format_limit(healthy.limit, unit))


def describe_crossed(healthy: Healthy, unit: str) -> str:
    """Return the range of values past a limit: `80 % or more`, `less than 4 GB`."""
    return _CROSSED[healthy.operator].format(format_limit(healthy.limit, unit))


def is_sample(reduce: Reduce, healthy: Healthy) -> bool:
    """Return whether the worst reduced value is one sample: `last`, `max` if high is bad, or `min` if low is bad."""
    worse = healthy.worse
    return reduce == "last" or (reduce == "max" and worse != "lower") or (reduce == "min" and worse != "higher")


def describe_reduction(reduce: Reduce, window: str) -> str:
    """Return a window and its reduction as text: `1 min mean`, `5 min maximum`."""
    return f"{window} {name_reduction(reduce)}"


def name_reduction(reduce: Reduce) -> str:
    """Return the name of a reduction: `mean`, `maximum`."""
    return _REDUCED.get(reduce, reduce)


def name_counted(fact: Fact, number: float = 2) -> str:
    """Return the noun for what a fact counts: `spindles`, or `spindle` if `number` is 1."""
    singular, plural = _COUNTED[fact]
    return singular if number == 1 else plural


def format_fact(fact: Fact, number: float) -> str:
    """Return the value of a fact with its unit or noun: `2 processors`, `4,096 MB of memory`, `1,000,000,000 bit/s`."""
    return f"{number:,.12g} {_UNITS.get(fact) or name_counted(fact, number)}"


def rank_severity(severity: str) -> int:
    """Return a number by which to compare severities: 0 for info, higher for more severe."""
    return len(SEVERITIES) - 1 - [*SEVERITIES].index(severity)
