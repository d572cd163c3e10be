"""The load-line gauge: a circle with a line through it. The water is the value, the line the threshold."""

from math import sqrt

import numpy as np

from review.findings import Finding

RADIUS, MIDDLE = 9.0, 12.0  # of the circle, in a drawing of 24 by 24; the line lies in the middle
_FULL = 2.0  # the gauge is full at this multiple of the limit


def level(finding: Finding) -> float | None:
    """How high the water stands: 1 at the limit, 2 when full; None where the limit gives no measure.

    For a floor the water rises as the value falls, so that rising water is always worse.
    """
    if finding.track is None or np.isnan(finding.worst):
        return None
    limit, worst = finding.track.healthy.limit, finding.worst
    match finding.track.healthy.worse:
        case "either":
            return 0.0 if worst == limit else _FULL
        case "higher" if limit > 0:
            return float(np.clip(worst / limit, 0, _FULL))
        case "lower" if limit > 0:
            return float(np.clip(limit / worst, 0, _FULL)) if worst > 0 else _FULL
        case _:
            return None


def water(height: float | None) -> str | None:
    """The water as an SVG path; empty for an empty gauge, None where there is nothing to measure by."""
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
