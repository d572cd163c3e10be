"""Quotes names, values and conditions for InfluxQL, PromQL and InfluxDB's delete predicates."""

import re
from collections.abc import Iterable


def identifier(name: str) -> str:
    """Return a measurement, field or tag of InfluxQL, or a string of PromQL: `"Percent_Processor_Time"`."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def string(text: str) -> str:
    r"""Return a string: `'\\??\\D:\\pagefile.sys'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def time_range(start: int, end: int) -> str:
    """Return the condition for a range of time, both ends included (UTC ns)."""
    return f"time >= {start} AND time <= {end}"


def has_tags(tags: Iterable[tuple[str, str]]) -> str:
    """Return the condition for points with these tags, and possibly others."""
    return " AND ".join(f"{identifier(name)}::tag = {string(value)}" for name, value in tags)


def regex(pattern: str) -> str:
    """Return a regular expression in InfluxQL."""
    return "/" + pattern.replace("/", r"\/") + "/"


def literal(text: str) -> str:
    """Return a regular expression that matches exactly this text. Escapes only what both Go and Rust accept."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda match: f"\\{match[0]}", text)


def whole(pattern: str) -> str:
    """Return a regular expression in InfluxQL that must match the whole text, ignoring case."""
    return regex(f"(?i)^{pattern}$")


def number(value: float) -> str:
    """Return a number in InfluxQL, which allows no exponent."""
    return f"{value:.0f}" if value == int(value) else f"{value:.15f}".rstrip("0")
