"""Finds the panel that a page links to."""

from plimsoll.dashboards.areas import load_areas
from plimsoll.dashboards.homes import home_of


def panel_of(signal: str) -> tuple[str, int]:
    """Return the area and the panel that draw a signal; an empty area if none does."""
    home = home_of(signal)
    if home is None:
        return "", 0
    uid, panel = home
    return next(area.area for area in load_areas().areas if area.uid == uid), panel.id
