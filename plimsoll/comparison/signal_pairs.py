"""What may be the same under another name: a disk or network adapter, or a host, that only one of two runs has.

Nothing is compared by such a guess: it is proposed, and `renamed` in plimsoll.toml says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.comparison.hosts import Hosts, Key
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, host_key
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, eq=False)
class Pair:
    """A signal of one subject in both runs."""

    name: str
    signal: Signal
    first: Subject
    second: Subject
    first_samples: Samples
    second_samples: Samples


@dataclass(frozen=True)
class Lone:
    """A signal that only one run has on a host that both have. `instances` are those it has there."""

    name: str
    signal: Signal
    host: str
    instances: tuple[str, ...]


_RENAMED = ("disk", "network")  # areas of signals whose instances get other names; processes come and go
_ALIKE = 0.8  # of the signals of either host; our choice


@dataclass(frozen=True)
class Proposal:
    """A name of the first run, and what may be the same in the second; `host` is that of an instance, in the second.

    `signals` are those that are not compared because of the names.
    """

    first: str
    second: str
    host: str | None
    signals: frozenset[str]

    @property
    def setting(self) -> str:
        """As it is written in plimsoll.toml."""
        return f"{_quoted(self.first)} = {_quoted(self.second)}"


def proposals(
    first: Review, second: Review, hosts: Hosts, lone: tuple[Sequence[Lone], Sequence[Lone]]
) -> list[Proposal]:
    """What looks the same under another name."""
    return [*_of_hosts(first, second, hosts), *_of_instances(hosts, lone)]


def _of_instances(hosts: Hosts, lone: tuple[Sequence[Lone], Sequence[Lone]]) -> Iterator[Proposal]:
    here, there = (_by_instance(some) for some in lone)
    for left, right in hosts.pairs:
        for area in _RENAMED:
            mine, theirs = (found.get((host_key(host), area), {}) for found, host in ((here, left), (there, right)))
            for one, other in _pairs(mine, theirs):
                yield Proposal(one, other, right, frozenset(mine[one] & theirs[other]))


def _by_instance(lone: Sequence[Lone]) -> dict[tuple[str, str], dict[str, set[str]]]:
    """The signals of each instance, by its host and area."""
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for one in lone:
        for instance in one.instances:
            area = found.setdefault((host_key(one.host), one.name.partition(".")[0]), {})
            area.setdefault(instance, set()).add(one.name)
    return found


def _pairs(mine: Mapping[str, set[str]], theirs: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Those that share a drive letter, `1 D:` and `2 D:`; else the only one of each."""
    letters = [{_letter(one): one for one in found if _letter(one)} for found in (mine, theirs)]
    same = [(letters[0][one], letters[1][one]) for one in letters[0] if one in letters[1]]
    yield from ((one, other) for one, other in same if mine[one] & theirs[other])
    left = [[one for one in found if one not in {pair[at] for pair in same}] for at, found in enumerate((mine, theirs))]
    if len(left[0]) == len(left[1]) == 1 and mine[left[0][0]] & theirs[left[1][0]]:
        yield left[0][0], left[1][0]


def _letter(instance: str) -> str:
    letter = instance.rpartition(" ")[2].casefold()
    return letter if letter.endswith(":") else ""


def _of_hosts(first: Review, second: Review, hosts: Hosts) -> Iterator[Proposal]:
    """Hosts without a partner of which each has most signals of the other, and no other host has."""
    here, there = (_signals(run, alone) for run, alone in zip((first, second), hosts.alone, strict=True))
    alike = [(one, other) for one in here for other in there if _share(here[one], there[other]) >= _ALIKE]
    for one, other in alike:
        if [pair for pair in alike if one == pair[0] or other == pair[1]] == [(one, other)]:
            yield Proposal(one, other, None, frozenset(here[one] & there[other]))


def _signals(run: Review, hosts: Sequence[str]) -> dict[str, set[str]]:
    if not hosts:
        return {}
    found: dict[str, set[str]] = {host: set() for host in hosts}
    keys = {host_key(host): host for host in hosts}
    for name in run.question.signals:
        for subject in run.signals.of(name):
            if (host := keys.get(host_key(subject.host))) is not None:
                found[host].add(name)
    return found


def _share(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _quoted(name: str) -> str:
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def pairs(first: Review, second: Review, hosts: Hosts) -> tuple[list[Pair], tuple[list[Lone], list[Lone]]]:
    """What both runs recorded, and what only the first and only the second did."""
    found: list[Pair] = []
    alone: tuple[list[Lone], list[Lone]] = ([], [])
    partners = {host_key(left) for left, _ in hosts.pairs}, {host_key(right) for _, right in hosts.pairs}
    for name, signal in first.question.signals.items():
        here = {subject.key: (subject, samples) for subject, samples in first.signals.of(name).items()}
        there = {
            hosts.in_first(subject.key): (subject, samples) for subject, samples in second.signals.of(name).items()
        }
        for key, (subject, samples) in here.items():
            if key in there:
                found.append(Pair(name, signal, subject, there[key][0], samples, there[key][1]))
        for at, (own, others) in enumerate(((here, there), (there, here))):
            lone = {key: one for key, (one, _) in own.items() if key not in others}
            alone[at].extend(_lone(name, signal, lone, partners[at]))
    return found, alone


def _lone(name: str, signal: Signal, subjects: Mapping[Key, Subject], known: set[HostKey]) -> Iterator[Lone]:
    by_host: dict[str, list[Subject]] = {}
    for subject in subjects.values():
        if host_key(subject.host) in known:
            by_host.setdefault(subject.host, []).append(subject)
    for host, found in by_host.items():
        yield Lone(name, signal, host, tuple(one.instance for one in found if one.instance is not None))
