"""Names, values and conditions as InfluxQL and InfluxDB's delete predicates write them."""

from collections.abc import Iterable


def identifier(name: str) -> str:
    """A measurement, field or tag: `"Percent_Processor_Time"`."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def string(text: str) -> str:
    r"""A string: `'\\??\\D:\\pagefile.sys'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def within(start: int, end: int) -> str:
    """The condition of a query that is for a range of time, both its ends included (UTC ns)."""
    return f"time >= {start} AND time <= {end}"


def tagged(tags: Iterable[tuple[str, str]]) -> str:
    """The condition of a query that is for points with these tags, and maybe more."""
    return " AND ".join(f"{identifier(name)}::tag = {string(value)}" for name, value in tags)
