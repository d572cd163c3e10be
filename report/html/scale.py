"""The multiple of a unit in which values are read."""

from dataclasses import dataclass

from model.value_text import MULTIPLES


@dataclass(frozen=True, slots=True)
class Scale:
    """What a unit's values are multiplied by to be shown, and the name of the multiple."""

    factor: float
    unit: str


def scale_for(largest: float, unit: str) -> Scale:
    """The multiple for values up to `largest`: as people read them, milliseconds below a second."""
    for size, name in MULTIPLES.get(unit, ()):
        if largest >= size:
            return Scale(1 / size, name)
    if unit == "s" and 0 < largest < 1:
        return Scale(1000, "ms")
    return Scale(1, unit)
