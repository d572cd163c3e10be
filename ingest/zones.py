"""Time zones by the names that Windows writes into headers: what they say of a clock, beside its bias."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

from model.remark import Kind, Remarks
from model.times import Zone, instant, offset_text

_SEASON = re.compile(r" (Standard|Daylight) Time$")
_UTC = re.compile(r"UTC[+-]\d{2}(:\d{2})?")
_OFFSET = re.compile(r"\(?(?:UTC ?)?([+-])(\d{1,2})(?::?(\d{2}))?\)?(?!\w)")
# Names that tell one offset tell it for all times; of a zone that people give, one time must do.
_ANY_TIME = instant(datetime(2020, 1, 1, tzinfo=UTC))


def stated(name: str, bias_minutes: int, given: Zone | None, remarks: Remarks) -> Zone:
    """The zone of a header that gives a name and a bias (UTC = local + bias): the bias counts.

    Where the name tells an offset of which the bias is exactly the opposite this is remarked, and
    `given` counts instead if it is as far ahead of UTC as the name tells.
    """
    zone = Zone.from_bias(name, bias_minutes)
    if not bias_minutes or _told(name) != bias_minutes:
        return zone
    named = offset_text(bias_minutes)
    said = (
        f'the zone\'s name in the header, "{name}", is UTC{named}, but its bias of {bias_minutes} minutes is the '
        f"opposite, UTC{offset_text(-bias_minutes)}: "
    )
    if given is not None and given.local(_ANY_TIME).utcoffset() == timedelta(minutes=bias_minutes):
        remarks.add(Kind.REPAIRED, f"{said}--zone agrees with the name, which is taken")
        return given
    remarks.add(Kind.GUESSED, f"{said}the bias is taken; if the name is right, say so with --zone {named}")
    return zone


def is_steady(name: str) -> bool:
    """Whether clocks of a zone are never changed."""
    return name in _steady_zones() or _UTC.fullmatch(name) is not None


def rule_of(name: str) -> ZoneInfo | None:
    """The rules of a zone of Windows' that zones.yaml knows; None of any other, and where no rules are installed."""
    key: str | None = _file()["changing"].get(_SEASON.sub("", name))
    try:
        return ZoneInfo(key) if key else None
    except ZoneInfoNotFoundError:
        return None


def _told(name: str) -> int | None:
    """How many minutes ahead of UTC a zone's name says it always is."""
    if match := _OFFSET.match(name):
        sign, hours, minutes = match.groups(default="0")
        return int(f"{sign}{int(hours) * 60 + int(minutes)}")
    return _steady_zones().get(name)


@cache
def _file() -> dict[str, Any]:
    return yaml.load(files("ingest").joinpath("zones.yaml").read_bytes(), yaml.CSafeLoader)


@cache
def _steady_zones() -> Mapping[str, int]:
    """Minutes ahead of UTC of zones whose clocks are never changed."""
    by_offset: Mapping[int, Sequence[str]] = _file()["unchanging"]
    return {name: minutes for minutes, names in by_offset.items() for name in names}
