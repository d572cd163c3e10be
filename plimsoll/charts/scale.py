"""The multiple of a unit that values are shown in: GB for bytes, ms for fractions of a second."""

from dataclasses import dataclass

from plimsoll.model.value_text import MULTIPLES


@dataclass(frozen=True, slots=True)
class Scale:
    """The factor that values are multiplied by, and the name of the resulting unit."""

    factor: float
    unit: str


def scale_for(largest: float, unit: str) -> Scale:
    """The multiple for values up to `largest`."""
    for size, name in MULTIPLES.get(unit, ()):
        if largest >= size:
            return Scale(1 / size, name)
    if unit == "s" and 0 < largest < 1:
        return Scale(1000, "ms")
    return Scale(1, unit)
