"""Types of the fields in signals/*.yaml and packs/*.yaml: how each is written, and the value it is parsed into."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.file_models import FieldBounds, FieldParser
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.strict_yaml import IDENTIFIER, SIGNAL_NAME
from plimsoll.model.times import parse_duration

Worse = Literal["higher", "lower", "either"]
Operator = Literal["<", "<=", ">", ">=", "="]
_TEXT = re.compile(r"(<=|>=|[<>=≤≥])\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([^\W\d_]\S*|[%/]\S*)?")
_OPERATORS: Mapping[str, Operator] = {"<": "<", "<=": "<=", "≤": "<=", ">": ">", ">=": ">=", "≥": ">=", "=": "="}
_SIGNS: Mapping[str, str] = {"<=": "≤", ">=": "≥"}
_SEPARATED = re.compile(r"\d,\d")


@dataclass(frozen=True, slots=True)
class Healthy:
    """The healthy side of a limit. `< 80` is breached at 80 and above.

    `unit` is the unit in the text; None once the limit has been converted to the unit of its signal.
    """

    operator: Operator
    limit: float
    unit: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Healthy":
        """Parse `< 80` or `< 25 ms`. Raise ValueError for anything but an operator, a number and a unit."""
        match = _TEXT.fullmatch(text.strip())
        if not match:
            comma = "without a comma in the number, " if _SEPARATED.search(text) else ""
            raise ValueError(
                f'"{text}" is not a limit; write it {comma}like "< 80", "<= 25 ms", "> 3600 s", ">= 4 GB" or "= 0"'
            )
        return cls(_OPERATORS[match[1]], float(match[2]), match[3])

    @property
    def worse(self) -> Worse:
        """The direction in which values become unhealthy: `either` for the operator `=`."""
        return "higher" if self.operator in ("<", "<=") else "lower" if self.operator in (">", ">=") else "either"

    @property
    def sign(self) -> str:
        """The operator for display: `≤`."""
        return _SIGNS.get(self.operator, self.operator)

    @property
    def shown(self) -> str:
        """The limit for display, without its unit: `≤ 3`."""
        return f"{self.sign} {self.limit:.12g}"

    def scaled(self, factor: float) -> "Healthy":
        """Return the limit multiplied by a factor, such as the number of processors."""
        return replace(self, limit=self.limit * factor)

    def holds(self, values: Values) -> NDArray[np.bool_]:
        """Return a mask of the healthy values; False for NaN."""
        return mark_healthy(self.operator, values, self.limit)

    def __str__(self) -> str:
        return f"{self.operator} {self.limit:.12g}{f' {self.unit}' if self.unit else ''}"


_NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_MISSING = re.compile(r"_(?:x(\d+))?")
_STEPS = re.compile(rf"([+-]?{_NUMBER})(?:([+-]{_NUMBER})?x(\d+))?")
_MOST = 100_000
Severity = Literal["info", "warning", "critical"]
Reduce = Literal["mean", "min", "max", "last", "sum", "count", "median", "increase"]
Fact = Literal["processors", "clock_mhz", "memory_mb", "spindles", "link_bits"]  # factors of a limit
Load = Literal["operations", "connections", "bytes"]  # the kind that shows the load best comes first
Trend = Literal["must_not_rise", "must_not_fall", "should_rise"]
Resource = Literal["cpu", "memory", "disk", "space"]
Across = Literal["sum", "mean", "max", "min"]  # the instances of a host
Operation = Literal["sum", "difference", "ratio", "product"]
AnyFact = Fact | Literal["raid"]  # all facts of a host or an instance
Identifier = Annotated[str, FieldBounds(pattern=IDENTIFIER)]
SignalName = Annotated[str, FieldBounds(pattern=SIGNAL_NAME)]
# In YAML, a block of text (`summary: >`) ends with a line end.
Sentence = Annotated[str, FieldBounds(strip_whitespace=True)]


def _parse_path(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        path = CounterPath.parse(value)
    except ValueError as error:
        raise ValueError(rf"{error}; write it like '\PhysicalDisk(*)\Disk Reads/sec', in single quotes") from None
    if path.computer:
        any_computer = path._replace(computer=None)
        raise ValueError(f"\"{value}\" names a computer; a source is a path for any computer: '{any_computer}'")
    return path


def _parse_samples(value: object) -> object:
    if not isinstance(value, str):
        # YAML reads 0x60 as the number 96.
        raise ValueError('a series is text: put it in quotes, as in "0x60"')
    parse(value)
    return value


def _parse_limit(value: object) -> object:
    return Healthy.parse(value) if isinstance(value, str) else value


def _parse_fact_limit(value: object) -> object:
    limit = _parse_limit(value)
    if isinstance(limit, Healthy) and limit.unit:
        raise ValueError(f'"{limit}": a fact has its unit in its name; write the number alone')
    return limit


_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%")


def _parse_share(value: object) -> object:
    match = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    share = float(match[1]) / 100 if match else value
    if not isinstance(share, float) or not 0 < share <= 1:
        raise ValueError(f'"{value}" is not a share of the time; write it like "10 %", above 0 and up to 100')
    return share


def _make_text_schema(kind: str, *examples: str, number: bool = False) -> Mapping[str, object]:
    """Return the JSON Schema of a field written as text; `kind` is its type on the reference page."""
    return {"type": ["string", "number"] if number else "string", "format": kind, "examples": [*examples]}


Limit = Annotated[
    Healthy, FieldParser(_parse_limit, _make_text_schema("limit", "< 80", "<= 25 ms", "> 3600 s", ">= 4 GB", "= 0"))
]
FactLimit = Annotated[Healthy, FieldParser(_parse_fact_limit, _make_text_schema("limit", "<= 4", "= 1"))]
Share = Annotated[float, FieldParser(_parse_share, _make_text_schema("share of time", "10 %"))]
Duration = Annotated[  # ns
    int,
    FieldBounds(ge=0),
    FieldParser(
        lambda value: parse_duration(value) if isinstance(value, str | float | int) else value,
        _make_text_schema("duration", "30s", "5m", "1h30m", number=True),
    ),
]
Path = Annotated[
    CounterPath,
    FieldParser(
        _parse_path, _make_text_schema("counter path", r"\Memory\Available Bytes", r"\PhysicalDisk(*)\% Disk Time")
    ),
]
# Kept as text: the shipped cases have 180,000 samples, which only `rules test` needs.
Samples = Annotated[str, FieldParser(_parse_samples, _make_text_schema("series", "85x60", "65x12 95x12 _x6"))]


def parse(text: str) -> list[float | None]:
    """Parse a series such as `85x60 _x5`: the samples in order, None for a missing sample; never empty.

    Raise ValueError, which quotes the item that cannot be read and says how to write it.
    """
    samples: list[float | None] = []
    for item in text.split():
        samples += _parse_item(item, _MOST - len(samples))
    if not samples:
        raise ValueError("a series without samples; write it like 95x60, or _x60 for samples that are missing")
    return samples


def _parse_item(item: str, most: int) -> list[float | None]:
    """Return the samples of an item such as `0+10x3`. Raise ValueError if it is invalid or has more than `most`."""
    if match := _MISSING.fullmatch(item):
        times = int(match[1] or 1)
        if not times:
            raise ValueError(f'"{item}" is no sample at all; leave it out')
        return [None] * _check_count(item, times, most)
    match = _STEPS.fullmatch(item)
    if not match:
        raise ValueError(f'"{item}" is not a series of samples; {_suggest_form(item)}')
    first, step = float(match[1]), float(match[2] or 0)
    steps = _check_count(item, int(match[3] or 0) + 1, most) - 1
    if not math.isfinite(first + steps * step):
        raise ValueError(f'"{item}" is past the largest number there is')
    return [first + at * step for at in range(steps + 1)]


def _check_count(item: str, times: int, most: int) -> int:
    if times > most:
        raise ValueError(f'"{item}" makes more than {_MOST:,} samples; a case needs a few hundred')
    return times


def _suggest_form(item: str) -> str:
    if item.casefold() in ("nan", "inf", "+inf", "-inf", "null", "none", "stale"):
        return "a sample that is missing is written _"
    if re.fullmatch(rf"[+-]?{_NUMBER}[+-]{_NUMBER}", item):
        return f"say how many follow: {item}x10"
    if "," in item:
        return "items are separated by spaces, and decimals begin with a point"
    return "write it like 95x60 (95, then 60 more), 0+10x30 (0, 10, ... 300), 10-1x5 or _x3 (missing)"


def mark_healthy(operator: Operator, values: Values, limit: float | Values) -> NDArray[np.bool_]:
    """Return a mask of the values on the healthy side of `limit` (a number, or one for each row); False for NaN."""
    match operator:
        case "<":
            return values < limit
        case "<=":
            return values <= limit
        case ">":
            return values > limit
        case ">=":
            return values >= limit
        case "=":
            return values == limit
