"""Reads a site: its hosts, the counters of their roles in a healthy run and in trouble, and what a review must find."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict

from plimsoll.demo.tables import Breach, Counter, Host, Kind, Points, System
from plimsoll.demo.windows_host import CORES, volume, windows
from plimsoll.demo.writers import ZONE, pdh
from plimsoll.model.shipped_tables import shipped_table

STEADY_FROM_S = 300
# What a counter holds: an average or rate between two samples; a momentary number, whole or with decimals; the number
# of a state; a count since a service started, which rises in trouble alone. With its kind and spread.
Holds = Literal["averages", "levels", "decimals", "states", "counts"]
_KINDS: Mapping[Holds, tuple[Kind, float]] = {
    "averages": ("interval", 0.1),
    "levels": ("gauge", 0.1),
    "decimals": ("fraction", 0.05),
    "states": ("gauge", 0),
    "counts": ("gauge", 0),
}


def _pair(value: object) -> object:
    return value if isinstance(value, list) else [value, value]


# A value in the healthy run and one in trouble; a single one is for both. For counts: at the start, and at the end.
_Values: TypeAlias = Annotated[tuple[float, float], BeforeValidator(_pair)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Found(_Strict):
    """A breach of a rule in trouble, by seconds of the run; until its end, if it names none."""

    rule: str
    instance: str | None = None
    start: int
    end: int | None = None
    why: str


class _Server(_Strict):
    """A host: the percent that each processor is busy, available memory, volumes (percent and MB free), counters."""

    memory_mb: int
    busy: float
    available_mb: float
    volumes: dict[str, tuple[float, float]]
    counters: dict[Holds, dict[str, _Values]]
    crossed: list[_Found]


class _Site(_Strict):
    title: str
    document: str
    start: datetime
    minutes: int = 40
    interval_s: int = 30
    trouble_from_s: int = 900
    hosts: dict[str, _Server]


def site(name: str) -> System:
    """The site of a file of this folder, by its name without `.yaml`."""
    data = shipped_table("plimsoll.demo.sites", f"{name}.yaml", _Site)
    end = 60 * data.minutes
    return System(
        folder=name,
        title=data.title,
        document=data.document,
        start=data.start.replace(tzinfo=ZONE),
        minutes=data.minutes,
        interval_s=data.interval_s,
        steady_from_s=STEADY_FROM_S,
        hosts=tuple(_host(host, server) for host, server in data.hosts.items()),
        changes={
            change: points for host, server in data.hosts.items() for change, points in _changes(host, server, data)
        },
        breaches=tuple(
            Breach(one.rule, host, one.instance, one.start, end if one.end is None else one.end, one.why)
            for host, server in data.hosts.items()
            for one in server.crossed
        ),
        write=pdh,
    )


def _host(name: str, server: _Server) -> Host:
    return Host(
        name,
        processors=CORES,
        clock_mhz=2900,
        memory_mb=server.memory_mb,
        counters=(
            *windows(busy=server.busy, available_mb=server.available_mb),
            *(
                counter
                for letter, (percent, mb) in server.volumes.items()
                for counter in volume(letter, free_percent=percent, free_mb=mb)
            ),
            *(
                Counter(path, well, *_KINDS[holds])
                for holds, counters in server.counters.items()
                for path, (well, _) in counters.items()
            ),
        ),
    )


def _changes(host: str, server: _Server, data: _Site) -> Iterator[tuple[tuple[str, str], Points]]:
    for holds, counters in server.counters.items():
        for path, (well, sick) in counters.items():
            if sick != well:
                since = data.trouble_from_s
                points = ((since, well), (60 * data.minutes, sick)) if holds == "counts" else _from(since, well, sick)
                yield (host, path), points


def _from(since: int, well: float, sick: float) -> Points:
    return ((since - 1, well), (since, sick))
