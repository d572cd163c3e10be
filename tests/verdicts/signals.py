"""Values of a counter from a line of text: `30 ~2; 20..30 = 96 ~1; 40.. blank`.

The first clause is the level, and the deviation of its noise (3 % of the level if none is given). The others are
applied in order, between two minutes (`20..30`, `20..` until the end):

- `A..B = 96 ~1`: another level; `A..B -> 96`: climbs or falls from its value at A to 96 at B, and stays there
- `every 10 for 1 = 99`: that level for one minute of each ten
- `A..B frozen`: repeats its value at A; `A..B blank`: no sample
- `count`: the values are a rate, and what is recorded is how much they have added up to
- `whole`: whole numbers
"""

import re

import numpy as np

_CLAUSE = re.compile(
    r"(?:(?P<start>[\d.]+?)\.\.(?P<end>[\d.]*)|every (?P<every>[\d.]+) for (?P<width>[\d.]+)) *"
    r"(?P<action>=|->|frozen|blank) *(?P<level>[-+\d.e]*)(?: *~ *(?P<noise>[\d.e]+))?$"
)
_LEVEL = re.compile(r"(?P<level>[-+\d.e]+)(?: *~ *(?P<noise>[\d.e]+))?$")
_NOISE = 0.03


def draw(text, minutes, rng):
    """Return the values at `minutes` from the start that a text describes; NaN is no sample."""
    first, *clauses = (part.strip() for part in str(text).split(";"))
    values = _level(_LEVEL.match(first), len(minutes), rng)
    for clause in clauses:
        if clause == "count":
            values = 1000 + np.cumsum(np.nan_to_num(values) * np.diff(minutes, prepend=minutes[0]) * 60)
        elif clause == "whole":
            values = np.round(values)
        else:
            values = _changed(values, _CLAUSE.match(clause) or _refuse(clause), minutes, rng)
    return values


def _changed(values, clause, minutes, rng):
    start, end = float(clause["start"] or 0), float(clause["end"] or np.inf)
    where = (minutes >= start) & (minutes < end)
    if clause["every"]:
        where = minutes % float(clause["every"]) < float(clause["width"])
    at = int(np.argmax(where))
    match clause["action"]:
        case "=":
            return np.where(where, _level(clause, len(minutes), rng), values)
        case "blank":
            return np.where(where, np.nan, values)
        case "frozen":
            return np.where(where, values[at], values)
        case _:
            end = min(end, minutes[-1])
            share = np.clip((minutes - start) / (end - start), 0, 1)
            target, noise = float(clause["level"]), float(clause["noise"] or 0)
            shifted = values + share * (target - values[at]) + noise * rng.standard_normal(len(minutes))
            return np.where(minutes >= start, shifted, values)


def _level(clause, rows, rng):
    level = float(clause["level"])
    noise = abs(level) * _NOISE if clause["noise"] is None else float(clause["noise"])
    # A level above zero stays there: a rate or a share is never negative.
    return np.clip(level + noise * rng.standard_normal(rows), min(level, 0) if level <= 0 else 0, None)


def _refuse(clause):
    raise ValueError(f"no clause: {clause}")
