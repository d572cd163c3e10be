"""Matching of the hosts of one run with the hosts of another run."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.remark import join_names
from plimsoll.model.series import make_host_key
from plimsoll.review.review import Review


@dataclass(frozen=True)
class HostChange:
    """A label of the runs, or the facts of a host, that differ between the runs; `–` stands for a missing value."""

    name: str
    first: str
    second: str

    @property
    def text(self) -> str:
        """The change in words: `memory 8GB → 4GB`."""
        return f"{self.name} {self.first} → {self.second}"


Key = tuple[str, str | None]  # of a subject


@dataclass(frozen=True)
class Hosts:
    """The hosts of two runs: pairs matched by name (`same`) or in order (`in_order`), and unmatched hosts (`alone`).

    `unknown` are names in the setting `renamed` that neither run has.
    """

    same: tuple[tuple[str, str], ...]
    in_order: tuple[tuple[str, str], ...]
    alone: tuple[tuple[str, ...], tuple[str, ...]]
    instances: Mapping[Key, str] = field(default_factory=dict[Key, str])  # their names in the first, by the second's
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, first: Sequence[str], second: Sequence[str], *, match: bool, renamed: Mapping[str, str] | None = None
    ) -> "Hosts":
        """Match hosts by name, or by `renamed` (old name: new name).

        With `match`, the remaining hosts are matched in order if both runs have equally many.
        """
        by_key = {make_host_key(host): host for host in second}
        called = {make_host_key(old): make_host_key(new) for old, new in (renamed or {}).items()}
        named = {host: by_key.get(called.get(make_host_key(host), make_host_key(host))) for host in first}
        same = tuple((host, other) for host, other in named.items() if other is not None)
        matched = {make_host_key(host) for host, _ in same}, {make_host_key(host) for _, host in same}
        left, right = (
            tuple(host for host in hosts if make_host_key(host) not in host_keys)
            for hosts, host_keys in zip((first, second), matched, strict=True)
        )
        if match and len(left) == len(right):
            return cls(same, tuple(zip(left, right, strict=True)), ((), ()))
        return cls(same, (), (left, right))

    @classmethod
    def of_reviews(
        cls, first: Review, second: Review, *, match: bool, renamed: Mapping[str, str] | None = None
    ) -> "Hosts":
        """Match the hosts of two runs by name, or by `renamed` (old name: new name).

        The remaining hosts are matched in order: with `match` if both runs have equally many, else within each role of
        which both runs have equally many hosts.
        """
        result = cls.of(first.hosts, second.hosts, match=match, renamed=renamed)
        # The hosts of each run by role: the set of packs that apply only to such hosts.
        left, right = (
            group_pairs((find_role(host, run), host) for host in hosts)
            for hosts, run in zip(result.alone, (first, second), strict=True)
        )
        fitting = [role for role, hosts in left.items() if len(hosts) == len(right.get(role, ()))]
        pairs = [pair for role in fitting for pair in zip(left[role], right[role], strict=True)]
        matched = {host for pair in pairs for host in pair}
        rest = [tuple(host for host in hosts if host not in matched) for hosts in result.alone]
        instances = _map_instances(second, renamed or {})
        unknown = _list_unknown((first, second), renamed or {})
        return cls(result.same, (*result.in_order, *pairs), (rest[0], rest[1]), instances, unknown)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All pairs of hosts, as (host of the first run, host of the second)."""
        return (*self.same, *self.in_order)

    @cached_property
    def first_of(self) -> Mapping[str, str]:
        """The name in the first run of each matched host, by its name in the second run; all names case-folded."""
        return {make_host_key(right): make_host_key(left) for left, right in self.pairs}

    def in_first(self, key: Key) -> Key:
        """Return a second run's host and instance by their first run's names; an unmatched host gets an unused name."""
        return self.first_of.get(key[0], f"{key[0]}\0"), self.instances.get(key, key[1])

    @property
    def remark(self) -> str:
        """A remark on hosts that were matched in order, and on unknown names in settings; empty if there are none."""
        pairs = join_names([f"{first} with {second}" for first, second in self.in_order], 6)
        names = join_names([f"“{name}”" for name in self.unknown], 6)
        remarks = (
            f"hosts of other names are compared in order: {pairs}" if pairs else "",
            f"no run has {names} of [compare.renamed] in plimsoll.toml as a host or an instance" if names else "",
        )
        return "; ".join(filter(None, remarks))


def _list_unknown(runs: Sequence[Review], renamed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the old and new names in `renamed` that are neither a host nor an instance of the runs."""
    if not renamed:
        return ()
    host_keys = {make_host_key(host) for run in runs for host in run.hosts}
    host_keys |= {
        (series.tag("instance") or "").casefold() for run in runs for log in run.logs for series in log.series
    }
    host_keys |= {instance for run in runs for _, instance in _list_subjects(run) if instance}
    fromkeys = dict.fromkeys(name for pair in renamed.items() for name in pair)
    return tuple(name for name in fromkeys if make_host_key(name) not in host_keys and name.casefold() not in host_keys)


def _list_subjects(run: Review) -> set[Key]:
    """Return the host and instance of every subject for which a signal was recorded."""
    return {subject.key for name in run.question.signals for subject in run.signals.of(name)}


def _map_instances(second: Review, renamed: Mapping[str, str]) -> dict[Key, str]:
    """Return the old name of each renamed instance, by its host and new name in the second run.

    An instance is left out if the second run also has an instance of the old name.
    """
    if not renamed:
        return {}
    subjects = _list_subjects(second)
    called = {old.casefold(): new.casefold() for old, new in renamed.items()}
    return {
        (host, new): old
        for host in {host for host, _ in subjects}
        for old, new in called.items()
        if (host, new) in subjects and ((host, old) not in subjects or old in called.values())
    }


def find_role(host: str, run: Review) -> frozenset[str]:
    """Return the role of a host: the names of the rule packs that apply to it but not to every host.

    The role is empty if no such pack applies.
    """
    packs = (applied for applied in run.applied if applied.pack.applies_to)
    return frozenset(applied.pack.pack for applied in packs if make_host_key(host) in map(make_host_key, applied.hosts))


def set_differently(first: Review, second: Review, hosts: Hosts) -> tuple[HostChange, ...]:
    """Return the labels of the runs that differ, then the facts of matched hosts that differ."""
    of_first, of_second = first.run.labels, second.run.labels
    names = [name for name in dict.fromkeys((*of_first, *of_second)) if of_first.get(name) != of_second.get(name)]
    labels = [HostChange(name, of_first.get(name, "–"), of_second.get(name, "–")) for name in names]
    facts: list[HostChange] = []
    for left, right in hosts.pairs:
        before, after = first.facts.of_host(left), second.facts.of_host(right)
        gone = [fact.rpartition(" (")[0] or fact for fact in before if fact not in after]  # without their sources
        new = [fact.rpartition(" (")[0] or fact for fact in after if fact not in before]
        if gone != new:
            facts.append(HostChange(left, ", ".join(gone) or "–", ", ".join(new) or "–"))
    return (*labels, *facts)
