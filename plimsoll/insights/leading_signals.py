"""The recorded signals to search for spikes and misleading averages, without signals that only repeat others."""

from collections.abc import Iterator, Mapping
from functools import cache

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.samples import Samples
from plimsoll.model.series import make_host_key
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.review.findings import Finding
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_MOST = 8  # instances of a host
_TOTAL = "_total"


def list_leading(review: Review, name: str) -> Iterator[tuple[Subject, Samples]]:
    """Yield the samples of a signal for at most eight instances of each host: the instances with the highest values.

    Totals are left out for hosts with samples of single instances.
    """
    by_host = group_pairs(
        (make_host_key(subject.host), (subject, samples)) for subject, samples in review.signals.of(name).items()
    )
    for host, instances in by_host.items():
        if name.endswith(_TOTAL) and _has_instances(review, name, host):
            continue
        if len(instances) > _MOST:
            instances.sort(key=lambda pair: -float(pair[1].present.values.max()))
        yield from instances[:_MOST]


def list_plain_signals(signals: Mapping[str, Signal]) -> list[tuple[str, Signal]]:
    """Return the signals whose high values may be bad, without facts and without signals computed from others."""
    return [
        (n, signal) for n, signal in signals.items() if not (signal.derived or signal.fact or signal.worse == "lower")
    ]


def list_upper_limits(review: Review) -> list[tuple[Finding, Subject, float]]:
    """Return the judged warning and critical findings with an upper limit: finding, subject and limit.

    The lowest limit is first.
    """
    judged = [(f, f.subject, limit_of(f)) for f in review.findings if f.track and f.severe and f.subject]
    upper = [(finding, subject, limit.limit) for finding, subject, limit in judged if limit.worse == "higher"]
    return sorted(upper, key=lambda pair: pair[2])


def _has_instances(review: Review, name: str, host: str) -> bool:
    """Return whether single instances of the host have a signal of the same area and unit as the signal `name`."""
    signals, area = review.question.signals, name.partition(".")[0] + "."
    alike = [n for n, of in signals.items() if n.startswith(area) and of.unit == signals[name].unit]
    return any(signals[other].instances == "each" and review.signals.on(other, host) for other in alike)


def list_response_times(signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Return the names of the response times, as in the catalogue: whole requests before parts of requests."""
    return tuple(name for name, signal in signals.items() if signal.response_time)


@cache
def _load_smallest() -> dict[str, float]:
    return load_shipped_table("plimsoll.insights", "smallest_change.yaml", dict[str, float])


def find_smallest_change(unit: str) -> float:
    """Return the smallest change of a value in this unit that is worth reporting."""
    return _load_smallest().get(unit, 1.0)
