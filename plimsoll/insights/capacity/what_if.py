"""What becomes of the demands if a host gets other processors, or if one of several like it is missing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.analysis.demand import Demand
from plimsoll.insights.capacity.resources import Resource
from plimsoll.model.errors import Unusable
from plimsoll.model.series import host_key
from plimsoll.model.value_text import number

_CHANGE = re.compile(r"(?P<host>.+)\.processors\s*=\s*(?P<count>\d+)")
_PROCESSORS = "cpu.busy"
Key = tuple[str, str, str | None]


@dataclass(frozen=True)
class Changes:
    """Processors of hosts, and hosts that are missing, as they are named."""

    processors: Mapping[str, int] = field(default_factory=dict[str, int])
    without: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.processors or self.without)


@dataclass(frozen=True, eq=False)
class Changed:
    """Resources and their demands after changes.

    `reach`: the share of the measured load up to which no remaining host does more than it was measured with.
    `told`: what was changed and what is assumed, in sentences.
    """

    resources: tuple[Resource, ...]
    demands: Mapping[Key, Demand]
    reach: float = 1.0
    told: tuple[str, ...] = ()


def parse_change(typed: str) -> tuple[str, int]:
    """`SQL01.processors=8`. Unusable if it is none."""
    found = _CHANGE.fullmatch(typed.strip())
    if found is None or not int(found["count"]):
        raise Unusable(f'"{typed}" is no change that can be told; write it like SQL01.processors=8')
    return found["host"], int(found["count"])


def changed(resources: Sequence[Resource], demands: Mapping[Key, Demand], changes: Changes) -> Changed:
    """The resources and demands after changes.

    Raises:
        Unusable: A host was not recorded, its processors are not known, or no other host is like a missing one.
    """
    found = Changed(tuple(resources), demands)
    for host, count in changes.processors.items():
        found = _with_processors(found, host, count)
    for host in changes.without:
        found = _without(found, host)
    return found


def _with_processors(before: Changed, host: str, count: int) -> Changed:
    one = _processors(before, host)
    if not one.processors:
        raise Unusable(f"not known: how many processors {host} has; give them in plimsoll.toml")
    share = one.processors / count
    others = tuple(
        replace(other, processors=float(count)) if other is one else other
        for other in before.resources
        if other is one or other.signal != "cpu.processor_busy" or not _is(other, host)
    )
    demands = {**before.demands, one.key: before.demands[one.key].scaled(share, share)}
    had = number(one.processors)
    said = f"With {count} processors of {one.subject.host} instead of {had}, if each of them does as much."
    return Changed(others, demands, before.reach, (*before.told, said))


def _without(before: Changed, host: str) -> Changed:
    gone = _processors(before, host)
    kind = _kind(gone.subject.host)
    peers = [one for one in before.resources if one.signal == _PROCESSORS and _kind(one.subject.host) == kind]
    left = [one for one in peers if one is not gone and one.key in before.demands]
    if not left:
        raise Unusable(
            f"not known: who does the work of {host}: no other recorded host has a name like it (but for its number)"
        )
    work = {one.key: float(before.demands[one.key].linear.sum()) * (one.processors or 1) for one in (*left, gone)}
    rest = sum(work[one.key] for one in left)
    if rest <= 0:
        raise Unusable(f"not known: who does the work of {host}: the processors of hosts like it do none")
    more = (rest + work[gone.key]) / rest
    names = {host_key(one.subject.host) for one in left}
    resources = tuple(one for one in before.resources if not _is(one, host))
    demands = {
        one.key: before.demands[one.key].scaled(1.0, more if host_key(one.subject.host) in names else 1.0)
        for one in resources
        if one.key in before.demands
    }
    said = f"Without {gone.subject.host}, if {', '.join(one.subject.host for one in left)} share its work evenly."
    return Changed(resources, demands, before.reach / more, (*before.told, said))


def _processors(found: Changed, host: str) -> Resource:
    for one in found.resources:
        if one.signal == _PROCESSORS and _is(one, host) and one.key in found.demands:
            return one
    hosts = ", ".join(dict.fromkeys(one.subject.host for one in found.resources))
    raise Unusable(f"not known: processor time of {host} was not recorded; recorded hosts are {hosts}")


def _is(one: Resource, host: str) -> bool:
    return host_key(one.subject.host) == host_key(host)


def _kind(host: str) -> str:
    """The name of a host without its number: WEB01 and WEB02 are of one kind."""
    return re.sub(r"\d+", "#", host_key(host).partition(".")[0])
