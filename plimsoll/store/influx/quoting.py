"""Quotes names, values and conditions for InfluxQL and InfluxDB's delete predicates."""

import re
from collections.abc import Iterable


def identifier(name: str) -> str:
    """A measurement, field or tag: `"Percent_Processor_Time"`."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def string(text: str) -> str:
    r"""A string: `'\\??\\D:\\pagefile.sys'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def time_range(start: int, end: int) -> str:
    """The condition for a range of time, both ends included (UTC ns)."""
    return f"time >= {start} AND time <= {end}"


def has_tags(tags: Iterable[tuple[str, str]]) -> str:
    """The condition for points with these tags, and possibly others."""
    return " AND ".join(f"{identifier(name)}::tag = {string(value)}" for name, value in tags)


def regex(pattern: str) -> str:
    """A regular expression in InfluxQL."""
    return "/" + pattern.replace("/", r"\/") + "/"


def literal(text: str) -> str:
    """A regular expression that matches exactly this text. Escapes only what both Go and Rust accept."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda match: f"\\{match[0]}", text)


def whole(pattern: str) -> str:
    """A regular expression in InfluxQL that must match the whole text, ignoring case."""
    return regex(f"(?i)^{pattern}$")


def number(value: float) -> str:
    """A number in InfluxQL, which allows no exponent."""
    return f"{value:.0f}" if value == int(value) else f"{value:.15f}".rstrip("0")
