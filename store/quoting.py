"""Names, values and conditions as InfluxQL and InfluxDB's delete predicates write them."""

import re
from collections.abc import Iterable


def identifier(name: str) -> str:
    """A measurement, field or tag: `"Percent_Processor_Time"`."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def string(text: str) -> str:
    r"""A string: `'\\??\\D:\\pagefile.sys'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def time_range(start: int, end: int) -> str:
    """The condition of a query that is for a range of time, both its ends included (UTC ns)."""
    return f"time >= {start} AND time <= {end}"


def has_tags(tags: Iterable[tuple[str, str]]) -> str:
    """The condition of a query that is for points with these tags, and maybe more."""
    return " AND ".join(f"{identifier(name)}::tag = {string(value)}" for name, value in tags)


def regex(pattern: str) -> str:
    """A regular expression as InfluxQL writes it."""
    return "/" + pattern.replace("/", r"\/") + "/"


def literal(text: str) -> str:
    """A text as a regular expression that matches it and nothing else. Go's and Rust's escape no more than this."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda found: f"\\{found[0]}", text)


def whole(pattern: str) -> str:
    """A regular expression that matches all of a text, whatever its case."""
    return regex(f"(?i)^{pattern}$")


def number(value: float) -> str:
    """A number as InfluxQL writes it: without an exponent."""
    return f"{value:.0f}" if value == int(value) else f"{value:.15f}".rstrip("0")
