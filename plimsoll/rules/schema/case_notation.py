"""Parses the series of a case, written much as in promtool: `95x60`, `0+10x30`, `_x3`.

| item | samples |
|---|---|
| `95` | 95 |
| `95x60` | 95, then 60 more |
| `0+10x30` | 0, then 30 more, each 10 higher: 0 to 300 |
| `10-1x5` | 10, then 5 more, each 1 lower: 10 to 5 |
| `_` | one missing sample |
| `_x3` | three missing samples |

Items are separated by spaces.
"""

import math
import re

_NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_MISSING = re.compile(r"_(?:x(\d+))?")
_STEPS = re.compile(rf"([+-]?{_NUMBER})(?:([+-]{_NUMBER})?x(\d+))?")
_MOST = 100_000


def parse(text: str) -> list[float | None]:
    """The samples in order, None for a missing one; never empty.

    Raises ValueError with the item that cannot be read and how to write it.
    """
    samples: list[float | None] = []
    for item in text.split():
        samples += _item(item, _MOST - len(samples))
    if not samples:
        raise ValueError("a series without samples; write it like 95x60, or _x60 for samples that are missing")
    return samples


def _item(item: str, most: int) -> list[float | None]:
    if match := _MISSING.fullmatch(item):
        times = int(match[1] or 1)
        if not times:
            raise ValueError(f'"{item}" is no sample at all; leave it out')
        return [None] * _held(item, times, most)
    match = _STEPS.fullmatch(item)
    if not match:
        raise ValueError(f'"{item}" is not a series of samples; {_hint(item)}')
    first, step = float(match[1]), float(match[2] or 0)
    more = _held(item, int(match[3] or 0) + 1, most) - 1
    if not math.isfinite(first + more * step):
        raise ValueError(f'"{item}" is past the largest number there is')
    return [first + at * step for at in range(more + 1)]


def _held(item: str, times: int, most: int) -> int:
    if times > most:
        raise ValueError(f'"{item}" makes more than {_MOST:,} samples; a case needs a few hundred')
    return times


def _hint(item: str) -> str:
    if item.casefold() in ("nan", "inf", "+inf", "-inf", "null", "none", "stale"):
        return "a sample that is missing is written _"
    if re.fullmatch(rf"[+-]?{_NUMBER}[+-]{_NUMBER}", item):
        return f"say how many follow: {item}x10"
    if "," in item:
        return "items are separated by spaces, and decimals begin with a point"
    return "write it like 95x60 (95, then 60 more), 0+10x30 (0, 10, ... 300), 10-1x5 or _x3 (missing)"
