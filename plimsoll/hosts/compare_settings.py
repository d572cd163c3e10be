"""The `[compare]` table of plimsoll.toml: from what size on a difference between runs matters, signal by signal."""

import re
from math import isfinite
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?(?: ?[^\d\s].*)?")


def _tolerance(value: object) -> object:
    match = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    share = float(match[1]) / 100 if match else None
    if share is None or not isfinite(share):
        raise ValueError('is not a share of the baseline; write it like "5 %"')
    return share


def _amount(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0:
        return str(value)
    if isinstance(value, str) and _AMOUNT.fullmatch(value.strip()):
        return value.strip()
    raise ValueError('is not an amount; write it like "2 ms", in the unit of the signal')


Tolerance = Annotated[float, BeforeValidator(_tolerance)]
Amount = Annotated[str, BeforeValidator(_amount)]


class SignalSettings(BaseModel):
    """How one signal is compared. None: as in the defaults.

    Attributes:
        tolerance: Smaller changes, as a share of the baseline, do not matter.
        least: Nor do changes smaller than this, in the unit of the signal.
        spread: By how much runs of one build differ in it, as a share: the standard deviation of the mean of a run.
        worse: The direction that is a regression; `either` never is.
        needed: Whether nothing can be said without its samples in both runs.
        integrates: Whether it adds up over time, so that its mean says nothing.
        critical: Whether a regression fails the comparison.
        why: The reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    tolerance: Tolerance | None = None
    least: Amount | None = None
    spread: Tolerance | None = None
    integrates: bool | None = None
    worse: Literal["higher", "lower", "either"] | None = None
    needed: bool | None = None
    critical: bool | None = None
    why: str = ""


class CompareSettings(BaseModel):
    """The table as a whole. `load`: loads that differ by less are the same.

    `renamed`: hosts and instances that have another name in the run, each with the one it has there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    load: Tolerance | None = None
    tolerance: Tolerance | None = None
    signals: dict[str, SignalSettings] = Field(default={})
    renamed: dict[str, str] = Field(default={})
