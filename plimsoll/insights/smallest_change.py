"""The smallest change of a signal that is worth a sentence, by its unit."""

from functools import cache

from plimsoll.model.shipped_tables import shipped_table


@cache
def _smallest() -> dict[str, float]:
    return shipped_table("plimsoll.insights", "smallest_change.yaml", dict[str, float])


def smallest_change(unit: str) -> float:
    """The smallest change worth telling, in the unit."""
    return _smallest().get(unit, 1.0)
