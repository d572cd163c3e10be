"""The signals that two runs both recorded, subject by subject, and those that only one has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from plimsoll.comparison.hosts import Hosts, Key
from plimsoll.model.host_key import HostKey, host_key
from plimsoll.model.samples import Samples
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


def pairs(first: Review, second: Review, hosts: Hosts) -> tuple[list[Pair], tuple[list[Lone], list[Lone]]]:
    """What both runs recorded, and what only the first and only the second did."""
    found: list[Pair] = []
    alone: tuple[list[Lone], list[Lone]] = ([], [])
    partners = {host_key(left) for left, _ in hosts.pairs}, {host_key(right) for _, right in hosts.pairs}
    for name, signal in first.question.signals.items():
        here = {subject.key: (subject, samples) for subject, samples in first.signals.of(name).items()}
        there = {_key(subject, hosts): (subject, samples) for subject, samples in second.signals.of(name).items()}
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


def _key(subject: Subject, hosts: Hosts) -> Key:
    return hosts.in_first(subject.key)
