"""The instances of a signal that reach highest: of hundreds, the others are not looked at for spikes."""

from collections.abc import Iterator, Mapping

from model.samples import Samples
from rules.subjects import Subject

_MOST = 8  # of a host


def leading(every: Mapping[Subject, Samples]) -> Iterator[tuple[Subject, Samples]]:
    """Of each host the instances with the highest samples."""
    hosts: dict[str, list[tuple[Subject, Samples]]] = {}
    for subject, samples in every.items():
        hosts.setdefault(subject.host.casefold(), []).append((subject, samples))
    for some in hosts.values():
        if len(some) > _MOST:
            some.sort(key=lambda one: -float(one[1].present.values.max()))
        yield from some[:_MOST]
