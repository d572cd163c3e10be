"""The names of the series that load drivers' results become."""

from plimsoll.model.errors import printable
from plimsoll.model.series import LOAD_DRIVER, Series

DRIVER = "load driver"  # the host of these series, as no file names it
OTHER = "other operations"


def driver_series(field: str, operation: str | None = None) -> Series:
    """A series of all requests, or of those of one operation."""
    if operation is None:
        return Series(DRIVER, LOAD_DRIVER[0], (), field, f"load driver {field}")
    shown = printable(operation)
    return Series(DRIVER, LOAD_DRIVER[1], (("operation", shown),), field, f"load driver({shown}) {field}")
