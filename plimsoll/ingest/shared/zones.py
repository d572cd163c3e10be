"""Time zones by the names that Windows writes into headers, and the rules of these zones."""

import re
from collections.abc import Mapping, Set
from datetime import datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remarks
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.model.times import Zone, format_offset

_SEASON = re.compile(r" (Standard|Daylight) Time$")
_UTC = re.compile(r"UTC[+-](0\d|1[0-4])(:[0-5]\d)?")
_OFFSET = re.compile(r"\(?(?:UTC ?)?([+-])(\d{1,2})(?::?(\d{2}))?\)?(?!\w)")
# The years of logs; each has one of these days in standard time and the other in daylight time.
_DAYS = [datetime(year, month, 15) for year in range(2000, 2038) for month in (1, 7)]


def make_stated_zone(name: str, bias_minutes: int, recorder_zone: Zone | None, remarks: Remarks) -> Zone:
    """Return the zone of a header with a name and a bias in minutes (UTC = local + bias); the bias decides.

    If the bias is the opposite of the offset in the name, or if the zone never has that bias, add a remark, and return
    `recorder_zone` if it agrees with the name.
    """
    zone = Zone.from_bias(name, bias_minutes)
    offsets, rule = _list_offsets_in_name(name), find_zone_rules(name)
    is_opposite = bias_minutes in offsets
    is_zone = rule is not None or is_steady(name)  # other names give only the offset in winter
    if -bias_minutes in offsets or not (is_opposite or is_zone):
        return zone
    is_at = f"UTC{format_offset(-bias_minutes)}"
    text = (
        f'the zone\'s name in the header, "{name}", is UTC{format_offset(bias_minutes)}, but its bias of '
        f"{bias_minutes} minutes is the opposite, {is_at}: "
        if is_opposite
        else f"the header's bias of {bias_minutes} minutes is {is_at}, at which the zone that it names, "
        f'"{name}", never is: '
    )
    other = _list_offsets(recorder_zone.rule) if recorder_zone is not None else set[int]()
    # Zones agree if one has the offsets of the other, in all or in one season.
    if recorder_zone is not None and (offsets <= other or other <= offsets):
        remarks.add(Kind.REPAIRED, f"{text}{Parameter.ZONE} agrees with the name, which is taken")
        return recorder_zone
    hint = rule.key if rule else format_offset(*offsets)
    remarks.add(Kind.GUESSED, f"{text}the bias is taken; if the name is right, say so with {Parameter.ZONE} {hint}")
    return zone


def find_windows_zone(name: str) -> Zone | None:
    """Return the zone with this Windows name, such as `GMT Standard Time` or `UTC-11`; None if it is not known."""
    if is_steady(name):
        (minutes,) = _list_offsets_in_name(name)
        return Zone.from_bias(name, -minutes)
    rule = find_zone_rules(name)
    return Zone(name, rule) if rule else None


def is_steady(name: str) -> bool:
    """Return whether the zone with this Windows name has no daylight saving time."""
    return name in _map_steady_zones() or _UTC.fullmatch(name) is not None


def find_zone_rules(name: str) -> ZoneInfo | None:
    """Return the rules of a zone by its Windows name; None if zones.yaml lacks it."""
    zone, changes = _SEASON.subn("", name)
    key: str | None = _load_zones().changing.get(zone) if changes else None  # plain GMT has no summer time
    return ZoneInfo(key) if key else None


def _list_offsets_in_name(name: str) -> Set[int]:
    """Return the offsets (minutes ahead of UTC) of a named zone: several with daylight saving time, none if unknown."""
    if match := _OFFSET.match(name):
        sign, hours, minutes = match.groups(default="0")
        return {int(f"{sign}{int(hours) * 60 + int(minutes)}")}
    if (minutes := _map_steady_zones().get(name)) is not None:
        return {minutes}
    rule = find_zone_rules(name)
    return _list_offsets(rule) if rule else set()


@cache
def _list_offsets(rule: tzinfo) -> Set[int]:
    """Return all offsets (minutes ahead of UTC) that a zone has from 2000 to 2037."""
    durations = {rule.utcoffset(day) for day in _DAYS}
    return {offset // timedelta(minutes=1) for offset in durations if offset is not None}


@dataclass(frozen=True)
class _Zones:
    """The content of zones.yaml: names of zones without daylight saving time by offset, and rules of other zones."""

    unchanging: dict[int, list[str]]
    changing: dict[str, str]


@cache
def _load_zones() -> _Zones:
    return load_shipped_table("plimsoll.ingest.shared", "zones.yaml", _Zones)


@cache
def _map_steady_zones() -> Mapping[str, int]:
    """Return the offset (minutes ahead of UTC) of each zone without daylight saving time, by name."""
    return {name: minutes for minutes, names in _load_zones().unchanging.items() for name in names}
