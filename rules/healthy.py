"""A threshold as its document puts it: `< 80`, `> 3600`, `= 0`."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from model.log import Values

Worse = Literal["higher", "lower", "either"]
_TEXT = re.compile(r"(<=|>=|<|>|=)\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")


@dataclass(frozen=True, slots=True)
class Healthy:
    """The healthy side of a limit. A breach is its negation: `< 80` breaks at 80 and above."""

    operator: Literal["<", "<=", ">", ">=", "="]
    limit: float

    @classmethod
    def parse(cls, text: str) -> "Healthy":
        """Read `< 80`. ValueError if the text is not an operator and a number."""
        match = _TEXT.fullmatch(text.strip())
        if not match:
            raise ValueError(f'"{text}" is not a limit; write it like "< 80", "<= 3", "> 3600" or "= 0"')
        return cls(match[1], float(match[2]))  # pyright: ignore[reportArgumentType]

    @property
    def worse(self) -> Worse:
        """The direction in which values become unhealthy."""
        return "higher" if self.operator in ("<", "<=") else "lower" if self.operator in (">", ">=") else "either"

    @property
    def sign(self) -> str:
        """The operator as people read it: `≤`."""
        return {"<=": "≤", ">=": "≥"}.get(self.operator, self.operator)

    @property
    def shown(self) -> str:
        """The limit as people read it, without its unit: `≤ 3`."""
        return f"{self.sign} {self.limit:.12g}"

    def scaled(self, factor: float) -> "Healthy":
        """The same side of a limit multiplied by a host fact."""
        return Healthy(self.operator, self.limit * factor)

    def holds(self, values: Values) -> NDArray[np.bool_]:
        """Which values are on the healthy side; NaN is on neither and gives False."""
        match self.operator:
            case "<":
                return values < self.limit
            case "<=":
                return values <= self.limit
            case ">":
                return values > self.limit
            case ">=":
                return values >= self.limit
            case "=":
                return values == self.limit

    def __str__(self) -> str:
        return f"{self.operator} {self.limit:.12g}"
