"""Quotes names, values and conditions for InfluxQL, PromQL and InfluxDB's delete predicates."""

import re
from collections.abc import Iterable


def quote_identifier(name: str) -> str:
    """Return a quoted InfluxQL identifier or PromQL string: `"Percent_Processor_Time"`."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def quote_string(text: str) -> str:
    r"""Return a quoted InfluxQL string: `'\\??\\D:\\pagefile.sys'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def build_time_range(start: int, end: int) -> str:
    """Return the InfluxQL condition for a range of time (UTC ns), both ends included."""
    return f"time >= {start} AND time <= {end}"


def has_tags(tags: Iterable[tuple[str, str]]) -> str:
    """Return the InfluxQL condition for points that have all these tags, whatever other tags they have."""
    return " AND ".join(f"{quote_identifier(name)}::tag = {quote_string(value)}" for name, value in tags)


def quote_regex(pattern: str) -> str:
    """Return an InfluxQL regular expression literal."""
    return "/" + pattern.replace("/", r"\/") + "/"


def escape_regex(text: str) -> str:
    """Return a regular expression for exactly this text; its escapes are valid in both Go and Rust."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda match: f"\\{match[0]}", text)


def match_whole(pattern: str) -> str:
    """Return an InfluxQL regular expression that matches only whole texts, ignoring case."""
    return quote_regex(f"(?i)^{pattern}$")


def number(value: float) -> str:
    """Return a number for InfluxQL, which does not allow exponents."""
    return f"{value:.0f}" if value == int(value) else f"{value:.15f}".rstrip("0")
