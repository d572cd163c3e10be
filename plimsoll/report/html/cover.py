"""The cover page: what was crossed, hosts, files and their hashes, and when and by which version it was made."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version

from plimsoll.model.log import Log
from plimsoll.model.series import host_key
from plimsoll.model.times import Zone
from plimsoll.model.value_text import number
from plimsoll.report.wording import where
from plimsoll.review.review import Review
from plimsoll.review.sentences import between, breach_sentence

_MOST_FILES = 200
_MOST_HOSTS = 300
UTC = Zone.parse("UTC")


@dataclass(frozen=True)
class HostRow:
    """A host: the packs for its kind, its facts, the number of its counters and their interval."""

    name: str
    packs: str
    facts: str
    counters: str
    every: str


@dataclass(frozen=True)
class FileRow:
    """One recording."""

    path: str
    sha256: str
    format: str
    hosts: str
    span: str
    every: str
    rows: str
    counters: str
    present: str
    missing: str
    zone: str


class Hashes:
    """The SHA-256 of every file, computed while the rest of the report is made."""

    def __init__(self, review: Review) -> None:
        self._pool = ThreadPoolExecutor()
        self._found: list[Future[str | None]] = [
            self._pool.submit(lambda log=log: log.digest) for log in review.logs[:_MOST_FILES]
        ]

    def texts(self) -> list[str]:
        """A text for each log: its hash, or why there is none."""
        with self._pool:
            return [_hash(one) for one in self._found]


def made_by() -> str:
    """`Plimsoll 0.1.0`."""
    return f"Plimsoll {version('plimsoll')}"


def made_at(now: int) -> str:
    """When the report was made: `2026-03-04 08:00:00 UTC`."""
    return f"{UTC.clock(now)} UTC"


def summaries(review: Review) -> list[tuple[str, str, str]]:
    """A line for each crossed signal that counts: severity, title and place, the sentence of its worst finding."""
    return [
        (
            group.severity,
            f"{group.worst.signal.title}, {where(group)}",
            breach_sentence(group.worst),
        )
        for group in review.groups
        if group.worst.severe
    ]


def hosts(review: Review) -> list[HostRow]:
    """The hosts of the run."""
    counters: dict[str, int] = {}
    intervals: dict[str, list[int]] = {}
    for log in review.logs:
        for one in log.series:
            host = host_key(review.host_of(one))
            counters[host] = counters.get(host, 0) + 1
        for host in review.hosts_of(log):
            intervals.setdefault(host_key(host), []).extend(log.intervals)
    return [
        HostRow(
            host,
            ", ".join(
                one.pack.title
                for one in review.applied
                if one.pack.applies_to and host_key(host) in map(host_key, one.hosts)
            ),
            ", ".join(review.facts.of_host(host)),
            number(counters.get(host_key(host), 0)),
            between(intervals[host_key(host)]) if intervals.get(host_key(host)) else "–",
        )
        for host in review.hosts[:_MOST_HOSTS]
    ]


def files(review: Review, zone: Zone, hashes: Hashes) -> list[FileRow]:
    """The recordings of the run."""
    return [_file(review, log, zone, sha256) for log, sha256 in zip(review.logs, hashes.texts(), strict=False)]


def _file(review: Review, log: Log, zone: Zone, sha256: str) -> FileRow:
    filled = len(log.times) > 0
    return FileRow(
        path=str(log.path),
        sha256=sha256,
        format=log.format,
        hosts=", ".join(review.hosts_of(log)),
        span=zone.span(int(log.times[0]), int(log.times[-1])) if filled else "no rows",
        every=between(log.intervals) if log.intervals else "–",
        rows=number(len(log.times)),
        counters=number(len(log.series)),
        present=number(log.present),
        missing=number(log.missing),
        zone=log.zone.label(int(log.times[0]) if filled else 0),
    )


def _hash(found: "Future[str | None]") -> str:
    try:
        return found.result() or "none: it is no file"
    except OSError:
        return "not known: the file could not be read again"
