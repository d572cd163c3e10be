"""Limits as packs write them, with the operator of the healthy side: `< 80`, `> 3600 s`, `= 0`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values

Worse = Literal["higher", "lower", "either"]
Operator = Literal["<", "<=", ">", ">=", "="]
_TEXT = re.compile(r"(<=|>=|[<>=≤≥])\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([^\W\d_]\S*|[%/]\S*)?")
_OPERATORS: Mapping[str, Operator] = {"<": "<", "<=": "<=", "≤": "<=", ">": ">", ">=": ">=", "≥": ">=", "=": "="}
_SIGNS: Mapping[str, str] = {"<=": "≤", ">=": "≥"}
_SEPARATED = re.compile(r"\d,\d")


@dataclass(frozen=True, slots=True)
class Healthy:
    """The healthy side of a limit. `< 80` is breached at 80 and above.

    `unit` is the unit that the text names, None once the limit is in the unit of its signal.
    """

    operator: Operator
    limit: float
    unit: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Healthy":
        """Read `< 80` or `< 25 ms`. ValueError if the text is not an operator, a number and perhaps a unit."""
        match = _TEXT.fullmatch(text.strip())
        if not match:
            comma = "without a comma in the number, " if _SEPARATED.search(text) else ""
            raise ValueError(
                f'"{text}" is not a limit; write it {comma}like "< 80", "<= 25 ms", "> 3600 s", ">= 4 GB" or "= 0"'
            )
        return cls(_OPERATORS[match[1]], float(match[2]), match[3])

    @property
    def worse(self) -> Worse:
        """The direction in which values become unhealthy."""
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
        """Return the limit multiplied by a host fact."""
        return replace(self, limit=self.limit * factor)

    def holds(self, values: Values) -> NDArray[np.bool_]:
        """Return which values are healthy; False for NaN."""
        return holds(self.operator, values, self.limit)

    def __str__(self) -> str:
        return f"{self.operator} {self.limit:.12g}{f' {self.unit}' if self.unit else ''}"


def holds(operator: Operator, values: Values, limit: float | Values) -> NDArray[np.bool_]:
    """Return which values are on the healthy side of a limit, or of a limit for each row; False for NaN."""
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
