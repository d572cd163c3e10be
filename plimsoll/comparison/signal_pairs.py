"""The signals of both runs, and hosts, disks and network adapters that may be the same under another name.

Such guesses are only proposed, not compared; `renamed` in plimsoll.toml confirms a proposal.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from plimsoll.comparison.hosts import Hosts
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, make_host_key
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, eq=False)
class Pair:
    """A signal that both runs recorded, with its subject and samples in each run."""

    name: str
    signal: Signal
    first: Subject
    second: Subject
    first_samples: Samples
    second_samples: Samples


@dataclass(frozen=True)
class Lone:
    """A signal that only one run recorded, for a host that is in both runs, with the `instances` recorded."""

    name: str
    signal: Signal
    host: str
    instances: tuple[str, ...]


_RENAMED = ("disk", "network")  # areas of signals whose instances get other names; processes come and go
_ALIKE = 0.8  # of the signals of either host; our choice


@dataclass(frozen=True)
class Proposal:
    """A name in the first run, and a name in the second run that may mean the same host or instance.

    `host` is the second run's host of an instance, None if the names are hosts. `signals` are not compared because the
    names differ.
    """

    first: str
    second: str
    host: str | None
    signals: frozenset[str]

    @property
    def setting(self) -> str:
        """The line of plimsoll.toml that confirms the proposal."""
        return " = ".join(json.dumps(name, ensure_ascii=False) for name in (self.first, self.second))


def propose_matches(
    first: Review, second: Review, hosts: Hosts, lone: tuple[Sequence[Lone], Sequence[Lone]]
) -> list[Proposal]:
    """Return proposals of hosts, disks and network adapters that look the same under another name."""
    return [*_propose_hosts(first, second, hosts), *_propose_instances(hosts, lone)]


def _propose_instances(hosts: Hosts, lone: tuple[Sequence[Lone], Sequence[Lone]]) -> Iterator[Proposal]:
    here, entries = (_group_by_instance(lones) for lones in lone)
    for left, right in hosts.pairs:
        for area in _RENAMED:
            mine, theirs = (
                result.get((make_host_key(host), area), {}) for result, host in ((here, left), (entries, right))
            )
            for name, other in _pair_instances(mine, theirs):
                yield Proposal(name, other, right, frozenset(mine[name] & theirs[other]))


def _group_by_instance(lone: Sequence[Lone]) -> dict[tuple[str, str], dict[str, set[str]]]:
    """Return the names of the signals by instance, for each host and area (`disk`, `network`)."""
    entries: dict[tuple[str, str], dict[str, set[str]]] = {}
    for item in lone:
        for instance in item.instances:
            area = entries.setdefault((make_host_key(item.host), item.name.partition(".")[0]), {})
            area.setdefault(instance, set()).add(item.name)
    return entries


def _pair_instances(mine: Mapping[str, set[str]], theirs: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield pairs of instances that look the same: with one drive letter (`1 D:`, `2 D:`), or the only unpaired two."""
    letters = [{_find_letter(name): name for name in entries if _find_letter(name)} for entries in (mine, theirs)]
    same = [(letters[0][letter], letters[1][letter]) for letter in letters[0] if letter in letters[1]]
    yield from ((name, other) for name, other in same if mine[name] & theirs[other])
    left = [
        [name for name in entries if name not in {pair[at] for pair in same}]
        for at, entries in enumerate((mine, theirs))
    ]
    if len(left[0]) == len(left[1]) == 1 and mine[left[0][0]] & theirs[left[1][0]]:
        yield left[0][0], left[1][0]


def _find_letter(instance: str) -> str:
    letter = instance.rpartition(" ")[2].casefold()
    return letter if letter.endswith(":") else ""


def _propose_hosts(first: Review, second: Review, hosts: Hosts) -> Iterator[Proposal]:
    """Yield a proposal for two unmatched hosts that share most signals, if neither shares most with a third host."""
    left, right = (_list_signals(run, alone) for run, alone in zip((first, second), hosts.alone, strict=True))
    pairs = [(name, other) for name in left for other in right if left[name] | right[other]]
    alike = [(a, b) for a, b in pairs if len(left[a] & right[b]) / len(left[a] | right[b]) >= _ALIKE]
    for name, other in alike:
        if [pair for pair in alike if name == pair[0] or other == pair[1]] == [(name, other)]:
            yield Proposal(name, other, None, frozenset(left[name] & right[other]))


def _list_signals(run: Review, hosts: Sequence[str]) -> dict[str, set[str]]:
    by_key: dict[str, set[str]] = {make_host_key(host): set() for host in hosts}
    for name in run.question.signals if hosts else ():
        for subject in run.signals.of(name):
            by_key.get(make_host_key(subject.host), set()).add(name)
    return {host: by_key[make_host_key(host)] for host in hosts}


def pair_signals(first: Review, second: Review, hosts: Hosts) -> tuple[list[Pair], tuple[list[Lone], list[Lone]]]:
    """Return the signals of both runs, then the signals of the first run alone and of the second run alone."""
    both: list[Pair] = []
    alone: tuple[list[Lone], list[Lone]] = ([], [])
    partners = {make_host_key(left) for left, _ in hosts.pairs}, {make_host_key(right) for _, right in hosts.pairs}
    for name, signal in first.question.signals.items():
        left = {subject.key: (subject, samples) for subject, samples in first.signals.of(name).items()}
        right = {hosts.in_first(subject.key): (subject, s) for subject, s in second.signals.of(name).items()}
        for key, (subject, samples) in left.items():
            if key in right:
                both.append(Pair(name, signal, subject, right[key][0], samples, right[key][1]))
        for at, (side, other) in enumerate(((left, right), (right, left))):
            lone = [subject for key, (subject, _) in side.items() if key not in other]
            alone[at].extend(_list_lone(name, signal, lone, partners[at]))
    return both, alone


def _list_lone(name: str, signal: Signal, subjects: Sequence[Subject], host_keys: set[HostKey]) -> Iterator[Lone]:
    of_hosts = [subject for subject in subjects if make_host_key(subject.host) in host_keys]
    for host in dict.fromkeys(subject.host for subject in of_hosts):
        instances = (subject.instance for subject in of_hosts if subject.host == host)
        yield Lone(name, signal, host, tuple(instance for instance in instances if instance is not None))
