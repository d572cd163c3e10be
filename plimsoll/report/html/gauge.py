"""The gauge: a circle with a load line through it. The water level is the value, the line is the threshold."""

from math import isnan, sqrt

from plimsoll.review.findings import Finding
from plimsoll.review.sentences import find_worst_shown
from plimsoll.rules.schema.field_types import Healthy

RADIUS, MIDDLE = 9.0, 12.0  # of the circle, in a drawing of 24 by 24; the line lies in the middle
_FULL = 2.0  # the gauge is full at this multiple of the limit


def compute_level(finding: Finding) -> float | None:
    """Return the water level for the worst value of a finding; None if the value has no ratio to the limit."""
    return None if finding.track is None else compute_value_level(find_worst_shown(finding), finding.track.healthy)


def compute_value_level(value: float, healthy: Healthy) -> float | None:
    """Return the water level: 1 at the limit, 2 when full; None if the value has no ratio to the limit.

    If low values are bad, the water rises as the value falls, so that a higher level is always worse.
    """
    if isnan(value):
        return None
    limit = healthy.limit
    match healthy.worse:
        case "either":
            return 0.0 if value == limit else _FULL
        case "higher" if limit > 0:
            return min(max(value / limit, 0.0), _FULL)
        case "lower" if limit > 0:
            return min(limit / value, _FULL) if value > 0 else _FULL
        case _:
            return None


def draw_water(height: float | None) -> str | None:
    """Return the water up to a level as an SVG path; empty for an empty gauge, None without a level."""
    if height is None:
        return None
    rise = min(height, _FULL) / _FULL * 2 * RADIUS
    if rise <= 0.1:
        return ""
    top = MIDDLE + RADIUS - rise
    half = sqrt(max(0.0, RADIUS**2 - (top - MIDDLE) ** 2))
    if half < 0.05:
        left, right = MIDDLE - RADIUS, MIDDLE + RADIUS
        return f"M{left:g} {MIDDLE:g}A{RADIUS:g} {RADIUS:g} 0 0 0 {right:g} {MIDDLE:g}A9 9 0 0 0 {left:g} {MIDDLE:g}Z"
    wide = 1 if rise > RADIUS else 0
    return f"M{MIDDLE - half:.2f} {top:.2f}A{RADIUS:g} {RADIUS:g} 0 {wide} 0 {MIDDLE + half:.2f} {top:.2f}Z"
