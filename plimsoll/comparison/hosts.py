"""Which host of one run belongs to which of another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from plimsoll.model.host_key import host_key
from plimsoll.model.remark import listed
from plimsoll.review.review import Review


@dataclass(frozen=True)
class Hosts:
    """The hosts of two runs: those of one name, those of other names matched in order, and those without a partner."""

    same: tuple[tuple[str, str], ...]
    in_order: tuple[tuple[str, str], ...]
    alone: tuple[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def of(cls, first: Sequence[str], second: Sequence[str], *, match: bool) -> "Hosts":
        """Match by name; with `match` the others in order, if they are as many."""
        there = {host_key(host): host for host in second}
        same = tuple((host, there[host_key(host)]) for host in first if host_key(host) in there)
        known = {host_key(host) for host, _ in same}
        left, right = (tuple(host for host in hosts if host_key(host) not in known) for hosts in (first, second))
        if match and len(left) == len(right):
            return cls(same, tuple(zip(left, right, strict=True)), ((), ()))
        return cls(same, (), (left, right))

    @classmethod
    def of_reviews(cls, first: Review, second: Review, *, match: bool) -> "Hosts":
        """Match by name, and the others in order where `match` asks for it or hosts of a role are as many in both."""
        found = cls.of(first.hosts, second.hosts, match=match)
        left, right = (_by_role(hosts, run) for hosts, run in zip(found.alone, (first, second), strict=True))
        fitting = [role for role, hosts in left.items() if len(hosts) == len(right.get(role, ()))]
        pairs = [pair for role in fitting for pair in zip(left[role], right[role], strict=True)]
        matched = {host for pair in pairs for host in pair}
        rest = [tuple(host for host in hosts if host not in matched) for hosts in found.alone]
        return cls(found.same, (*found.in_order, *pairs), (rest[0], rest[1]))

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All hosts that belong together."""
        return (*self.same, *self.in_order)

    @cached_property
    def first_of(self) -> Mapping[str, str]:
        """The host of the first run by that of the second, both case-folded; one without a partner is its own."""
        return {host_key(right): host_key(left) for left, right in self.pairs}

    @property
    def remark(self) -> str:
        """What to know of hosts that were matched in order; empty where none were."""
        if not self.in_order:
            return ""
        return f"hosts of other names are compared in order: {listed([f'{a} with {b}' for a, b in self.in_order], 6)}"


def _by_role(hosts: Sequence[str], run: Review) -> dict[frozenset[str], list[str]]:
    """The hosts by the packs for their kind."""
    found: dict[frozenset[str], list[str]] = {}
    for host in hosts:
        packs = (one for one in run.applied if one.pack.applies_to)
        role = frozenset(one.pack.pack for one in packs if host_key(host) in map(host_key, one.hosts))
        found.setdefault(role, []).append(host)
    return found
