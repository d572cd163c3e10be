"""Formats values for people: three significant digits, thousands separators, always with the unit."""

import math
from collections.abc import Callable

# Memory is counted in powers of two, throughput in powers of ten, as in the studies.
MULTIPLES = {
    "bytes": ((1024**4, "TB"), (1024**3, "GB"), (1024**2, "MB"), (1024, "KB")),
    "bytes/s": ((10**12, "TB/s"), (10**9, "GB/s"), (10**6, "MB/s"), (10**3, "KB/s")),
}


def number(value: float) -> str:
    """Format a number with three significant digits, or all digits before the point: `1,064`, `78.2`, `0.0211`."""
    if math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 100 or value == round(value):
        return f"{value:,.0f}" if size < 1e15 else f"{value:.3g}"
    if size < 1e-4:
        return f"{value:.2e}"
    decimals = 2 - math.floor(math.log10(size))
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".")


def format_exact(value: float) -> str:
    """Return a number with all its digits: `216.734`, `3,600`."""
    shown = number(value)
    return shown if math.isclose(float(shown.replace(",", "")), value) else f"{value:,.12g}"


def format_value(value: float, unit: str, digits: Callable[[float], str] = number) -> str:
    """Format a value with its unit, in the usual multiple: `612 MB`, a share as `2 %`; ratios and states have none."""
    if math.isnan(value):
        return "no value"
    for size, name in MULTIPLES.get(unit, ()):
        if abs(value) >= size:
            return f"{digits(value / size)} {name}"
    if unit == "s" and 0 < abs(value) < 1:
        return f"{digits(value * 1000)} ms"
    if unit == "share":
        return f"{digits(100 * value)} %"
    if unit in ("ratio", "state"):
        return digits(value)
    if value == 1 and len(unit) > 2 and unit.endswith("s") and "/" not in unit:
        unit = unit[:-2] if unit.endswith("sses") else unit[:-1]
    return f"{digits(value)} {unit}".rstrip()


def format_percent(share: float) -> str:
    """Return a share (0 to 1) as a percentage; instead of rounding to 0 or 100, `< 0.1 %` or `> 99.9 %`."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{number(round(100 * share, 1))} %"


def format_limit(limit: float, unit: str) -> str:
    """Format a limit with all its digits, in the largest multiple that needs at most two decimals: `4,000 MB`.

    A scaled limit may have more digits than are meaningful; it is shown with four: `1.275 GB`.
    """
    multiples = [(size, name) for size, name in MULTIPLES.get(unit, ()) if abs(limit) >= size]
    for size, name in multiples[:2]:
        hundredths = 100 * limit / size
        if math.isclose(hundredths, round(hundredths)):
            return f"{format_exact(limit / size)} {name}"
    if multiples:
        size, name = multiples[0]
        return f"{limit / size:.4g} {name}"
    return format_value(limit, unit, format_exact)
