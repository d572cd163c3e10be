"""The resources of a run: the use of each resource, and the limit up to which it may be used."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.analysis.filters import compute_median
from plimsoll.insights.bottleneck.measured import Bound, Measured, cite_document
from plimsoll.model.samples import Samples
from plimsoll.model.series import LOAD_DRIVER, make_host_key
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.subjects import Subject, is_total

_ALONE = 1.25  # our choice: times as busy as the processors of a host on average, a single one is a resource of its own
_INVENTED = 110  # %, as the rules: adapters of virtual machines invent a speed
_IDLE = "disk.idle"
_DISK = "windows-disk-idle"  # the limit of a disk's use if no rule for it was judged
_LINKS = ("network.sent_utilization", "network.received_utilization")


@dataclass(frozen=True, eq=False)
class Resource:
    """The use of a resource, in % of its capacity.

    Attributes:
        signal: The signal that measures the use.
        title: The name of the resource in words.
        limit: The use (%) up to which the resource may be loaded.
        document: The source of the limit.
        processors: The number of the host's processors; None if unknown, and for other resources.
        total: The capacity of a link (bytes/s); None if unknown, and for other resources.
        clock_mhz: The clock of the processors; None if unknown, and for other resources.
    """

    signal: str
    title: str
    subject: Subject
    limit: float
    document: str
    samples: Samples
    processors: float | None = None
    total: float | None = None
    clock_mhz: float | None = None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """The signal, host and instance, which identify the resource in each run."""
        return (self.signal, *self.subject.key)


def list_resources(review: Review) -> tuple[Resource, ...]:
    """Return the resources whose use was recorded and has a limit."""
    measured = Measured(review)
    drivers = {
        make_host_key(series.host) for log in review.logs for series in log.series if series.measurement in LOAD_DRIVER
    }
    hosts = [host for host in review.hosts if make_host_key(host) not in drivers or review.signals.on("cpu.busy", host)]
    kinds = (_list_processors, _list_disks, _list_links)
    return tuple(resource for host in hosts for kind in kinds for resource in kind(measured, host))


def _list_processors(measured: Measured, host: str) -> Iterator[Resource]:
    """Yield a host's processors as one resource, and the busiest processor as another if far above the mean."""
    signals, number = measured.review.signals, measured.review.facts.find(Subject(host), "processors")
    for subject, samples in signals.on("cpu.busy", host).items():
        if (bound := _find_first_limit(measured, "cpu.busy", subject)) is not None:
            yield _make_resource(measured, "cpu.busy", subject, samples, bound, number)
    single = {subject: x for subject, x in signals.on("cpu.processor_busy", host).items() if not _is_total(subject)}
    means = {subject: float(samples.present.values.mean()) for subject, samples in single.items()}
    if len(means) > 1:
        busiest = max(means, key=lambda subject: means[subject])
        bound = _find_first_limit(measured, "cpu.processor_busy", busiest)
        if bound is not None and means[busiest] >= _ALONE * float(np.mean(list(means.values()))):
            yield _make_resource(measured, "cpu.processor_busy", busiest, single[busiest], bound, 1.0)


def _list_disks(measured: Measured, host: str) -> Iterator[Resource]:
    """Yield the disks of a host, by idle time, else by a busy time that is a true share of the time."""
    signals = measured.review.signals
    idle = signals.on(_IDLE, host)
    for subject, samples in idle.items():
        if not _is_total(subject):
            bound = _find_first_limit(measured, _IDLE, subject) or measured.documented(_DISK, subject)
            busy = Samples(samples.times, 100 - samples.values)
            yield _make_resource(measured, "disk.busy", subject, busy, replace(bound, limit=100 - bound.limit))
    for subject, samples in signals.on("disk.busy", host).items():
        if subject in idle or _is_total(subject) or float(np.nanmax(samples.values)) > 100:
            continue  # above 100 % it adds up overlapping requests, and is not a share of the time
        if (bound := _find_first_limit(measured, "disk.busy", subject)) is not None:
            yield _make_resource(measured, "disk.busy", subject, samples, bound)


def _list_links(measured: Measured, host: str) -> Iterator[Resource]:
    signals = measured.review.signals
    for name in _LINKS:
        for subject, samples in signals.on(name, host).items():
            bound = _find_first_limit(measured, name, subject)
            highest = float(samples.present.values.max())
            percent = signals.on("network.link_percent", host).get(subject)
            if bound is not None and 0 < highest <= _INVENTED:
                total = 100 * compute_median(percent.present.values) if percent is not None else None
                yield _make_resource(measured, name, subject, samples, bound, total=total)


def _find_first_limit(measured: Measured, signal: str, subject: Subject) -> Bound | None:
    """Return the limit that a growing load crosses first, of the warning and critical rules judged on a signal.

    If no rule was judged, return the bound from which the signal is near its capacity; None without a bound.
    """
    keys = (subject.key, Subject(subject.host).key)
    findings = [f for f in measured.review.findings if f.rule.signal == signal and f.subject and f.subject.key in keys]
    judged = [
        (limit_of(finding), finding.rule)
        for finding in findings
        if finding.severe and finding.track is not None and not finding.superseded_by and not finding.rule.and_
    ]
    if not judged:
        return measured.bound(signal, subject)
    strictest = max if judged[0][0].worse == "lower" else min
    healthy, rule = strictest(judged, key=lambda pair: pair[0].limit)
    return Bound(healthy.limit, cite_document(rule))


def _make_resource(
    measured: Measured,
    signal: str,
    subject: Subject,
    samples: Samples,
    bound: Bound,
    processors: float | None = None,
    total: float | None = None,
) -> Resource:
    """Return a resource with its use and its limit, for one subject of a signal."""
    title = measured.review.question.signals[signal].title
    clock = measured.review.facts.find(Subject(subject.host), "clock_mhz") if processors else None
    return Resource(signal, title, subject, bound.limit, bound.document, samples, processors, total, clock)


def _is_total(subject: Subject) -> bool:
    return is_total(subject.instance or "")
