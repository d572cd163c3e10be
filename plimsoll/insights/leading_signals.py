"""Which recorded signals are looked at for spikes and averages: what only repeats others is not."""

from collections.abc import Iterator, Mapping
from functools import cache

from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
from plimsoll.model.shipped_tables import shipped_table
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_MOST = 8  # instances of a host
_TOTAL = "_total"


def leading(review: Review, name: str) -> Iterator[tuple[Subject, Samples]]:
    """The samples of a signal: of each host the instances that reach highest, and no totals of recorded instances."""
    for host, items in _by_host(review.signals.of(name)).items():
        if name.endswith(_TOTAL) and _has_instances(review, name, host):
            continue
        if len(items) > _MOST:
            items.sort(key=lambda pair: -float(pair[1].present.values.max()))
        yield from items[:_MOST]


def plain(signals: Mapping[str, Signal]) -> Iterator[tuple[str, Signal]]:
    """The signals that are neither computed from others nor facts, and of which low values are not the bad ones."""
    for name, signal in signals.items():
        if not signal.derived and not signal.fact and signal.worse != "lower":
            yield name, signal


def _by_host(entries: Mapping[Subject, Samples]) -> dict[str, list[tuple[Subject, Samples]]]:
    hosts: dict[str, list[tuple[Subject, Samples]]] = {}
    for subject, samples in entries.items():
        hosts.setdefault(host_key(subject.host), []).append((subject, samples))
    return hosts


def _has_instances(review: Review, name: str, host: str) -> bool:
    """Return whether a signal of the same kind and unit was recorded for instances of the host."""
    signals = review.question.signals
    family = name.partition(".")[0] + "."
    return any(
        signal.instances == "each" and signal.unit == signals[name].unit and review.signals.on(other, host)
        for other, signal in signals.items()
        if other.startswith(family)
    )


def response_times(signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Their names; what a client waits for as a whole comes before its parts in the files."""
    return tuple(name for name, signal in signals.items() if signal.response_time)


@cache
def _smallest() -> dict[str, float]:
    return shipped_table("plimsoll.insights", "smallest_change.yaml", dict[str, float])


def smallest_change(unit: str) -> float:
    """Return the smallest change worth telling, in the unit."""
    return _smallest().get(unit, 1.0)
