"""Where a cell of the health page leads: to its alert, else to the panel of its signal."""

from functools import cache

from plimsoll.dashboards.homes import home_of
from plimsoll.pages.health.host_cells import Cell
from plimsoll.pages.shared.frame import Links

_PREFIX = "plimsoll-"


def address(links: Links, cell: Cell, host: str) -> str:
    """The address of the page that shows more of a cell."""
    if cell.alert:
        return links.to(f"/alerts/{cell.alert.id}")
    home = _home(cell.signal)
    if home is None:
        return links.to(f"/rules/{cell.key[0]}")
    area, panel = home
    return f"{links.to(f'/dashboards/{area}', host=host)}#panel-{panel}"


@cache
def _home(signal: str) -> tuple[str, int] | None:
    """The dashboard's area and the panel of a signal."""
    found = home_of(signal)
    return (found[0].removeprefix(_PREFIX), found[1].id) if found else None
