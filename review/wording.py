"""Words and signs that the terminal and the report share."""

from model.times import Zone, words
from review.findings import Finding
from review.numbers import number
from review.review import Review

# Severity is told by a shape and a word, never by colour alone.
MARKS = {"critical": "◆", "warning": "▲", "info": "○"}


def scope(review: Review, zone: Zone) -> str:
    """What was looked at: run, span, zone, hosts, counters, interval."""
    parts = [f'run "{review.run.name}"'] if review.run.name else []
    parts += ["simulated data"] if review.run.simulated else []
    if review.start is not None and review.end is not None:
        length = words(review.end - review.start)
        parts.append(f"{zone.span(review.start, review.end)} ({length}), {zone.label(review.start)}")
    hosts = len(review.hosts)
    parts.append(f"{hosts} hosts" if hosts > 1 else f"host {review.hosts[0]}")
    every = f" every {words(review.interval)}" if review.interval else ""
    parts.append(f"{number(review.counters)} counters{every}")
    return " · ".join(parts)


def place(finding: Finding) -> str:
    """`SQLSRV01` or `SQLSRV01, 2 E:`."""
    subject = finding.subject
    return "" if subject is None else f"{subject.host}, {subject.instance}" if subject.instance else subject.host
