"""The demands after an assumed change: another number of processors, or a missing host among similar ones."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.analysis.demand import Demand
from plimsoll.insights.capacity.resources import Resource
from plimsoll.model.errors import Unusable
from plimsoll.model.series import make_host_key
from plimsoll.model.value_text import number

_CHANGE = re.compile(r"(?P<host>.+)\.processors\s*=\s*(?P<count>\d+)")
_PROCESSORS = "cpu.busy"
Key = tuple[str, str, str | None]


@dataclass(frozen=True)
class Changes:
    """Assumed changes: the new number of processors by host, and the hosts that are missing (`without`)."""

    processors: Mapping[str, int] = field(default_factory=dict[str, int])
    without: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.processors or self.without)


@dataclass(frozen=True, eq=False)
class Changed:
    """Resources and their demands after assumed changes.

    `reach` is the share of the measured load up to which no remaining host does more work than was measured.
    `sentences` describe the changes and their assumptions.
    """

    resources: tuple[Resource, ...]
    demands: Mapping[Key, Demand]
    reach: float = 1.0
    sentences: tuple[str, ...] = ()


def parse_change(typed: str) -> tuple[str, int]:
    """Return the host and number of processors of a change: `SQL01.processors=8`. Raise Unusable if malformed."""
    match = _CHANGE.fullmatch(typed.strip())
    if match is None or not int(match["count"]):
        raise Unusable(f'"{typed}" is no change that can be told; write it like SQL01.processors=8')
    return match["host"], int(match["count"])


def apply_changes(resources: Sequence[Resource], demands: Mapping[Key, Demand], changes: Changes) -> Changed:
    """Return the resources and demands after changes.

    Raises:
        Unusable: A host was not recorded, its number of processors is unknown, or no other host is like a missing one.
    """
    result = Changed(tuple(resources), demands)
    for host, count in changes.processors.items():
        result = _change_processors(result, host, count)
    for host in changes.without:
        result = _remove_host(result, host)
    return result


def _change_processors(before: Changed, host: str, count: int) -> Changed:
    """Return the resources and demands if `host` has `count` processors."""
    processors = _find_processors(before, host)
    if not processors.processors:
        raise Unusable(f"not known: how many processors {host} has; give them in plimsoll.toml")
    share = processors.processors / count
    resources = tuple(
        replace(other, processors=float(count)) if other is processors else other
        for other in before.resources
        if other is processors or other.signal != "cpu.processor_busy" or not _is(other, host)
    )
    demands = {**before.demands, processors.key: before.demands[processors.key].scaled(share, share)}
    had = number(processors.processors)
    text = f"With {count} processors of {processors.subject.host} instead of {had}, if each of them does as much."
    return Changed(resources, demands, before.reach, (*before.sentences, text))


def _remove_host(before: Changed, host: str) -> Changed:
    """Return the resources and demands if `host` is missing, and hosts with similar names share its work."""

    def kind(resource: Resource) -> str:  # WEB01 and WEB02 are of one kind
        return re.sub(r"\d+", "#", make_host_key(resource.subject.host).partition(".")[0])

    gone = _find_processors(before, host)
    busy = [resource for resource in before.resources if resource.signal == _PROCESSORS]
    left = [peer for peer in busy if peer is not gone and kind(peer) == kind(gone) and peer.key in before.demands]
    if not left:
        raise Unusable(
            f"not known: who does the work of {host}: no other recorded host has a name like it (but for its number)"
        )
    work = {
        resource.key: float(before.demands[resource.key].linear.sum()) * (resource.processors or 1)
        for resource in (*left, gone)
    }
    rest = sum(work[resource.key] for resource in left)
    if rest <= 0:
        raise Unusable(f"not known: who does the work of {host}: the processors of hosts like it do none")
    factor = (rest + work[gone.key]) / rest
    names = {make_host_key(resource.subject.host) for resource in left}
    resources = tuple(resource for resource in before.resources if not _is(resource, host))
    demands: dict[Key, Demand] = {}
    for resource in resources:
        if resource.key in before.demands:
            growth = factor if make_host_key(resource.subject.host) in names else 1.0
            demands[resource.key] = before.demands[resource.key].scaled(1.0, growth)
    remaining = ", ".join(resource.subject.host for resource in left)
    text = f"Without {gone.subject.host}, if {remaining} share its work evenly."
    return Changed(resources, demands, before.reach / factor, (*before.sentences, text))


def _find_processors(result: Changed, host: str) -> Resource:
    for resource in result.resources:
        if resource.signal == _PROCESSORS and _is(resource, host) and resource.key in result.demands:
            return resource
    hosts = ", ".join(dict.fromkeys(resource.subject.host for resource in result.resources))
    raise Unusable(f"not known: processor time of {host} was not recorded; recorded hosts are {hosts}")


def _is(resource: Resource, host: str) -> bool:
    return make_host_key(resource.subject.host) == make_host_key(host)
