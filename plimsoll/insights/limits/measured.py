"""The signals of a run in equal parts of its time, and the values from which they are near a capacity."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.equal_parts import Slots
from plimsoll.model.host_key import host_key
from plimsoll.model.log import Values
from plimsoll.model.shipped_tables import shipped_table
from plimsoll.review.findings import Finding
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.subjects import Subject

Mask = NDArray[np.bool_]
_ROWS_PER_SLOT = 3
_SLOTS = (12, 120)
OURS = "our choice"


@dataclass(frozen=True)
class Bound:
    """A value from which something is near its capacity, and the document that gives it."""

    limit: float
    document: str


class Measured:
    """A review's signals, as means over equal parts of the run."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.rows = max(len(log.times) for log in review.logs)
        fewest, most = _SLOTS
        count = int(np.clip(self.rows // _ROWS_PER_SLOT, fewest, most))
        self.slots = Slots(review.start or 0, review.end or 0, count)
        self._means: dict[str, Mapping[Subject, Values]] = {}

    def of(self, signal: str) -> Mapping[Subject, Values]:
        """The means of a signal for each subject."""
        if signal not in self._means:
            recorded = self.review.signals.of(signal)
            self._means[signal] = {subject: self.slots.means(one) for subject, one in recorded.items()}
        return self._means[signal]

    def on(self, signal: str, host: str) -> dict[Subject, Values]:
        """The same for one host."""
        return {s: values for s, values in self.of(signal).items() if host_key(s.host) == host_key(host)}

    def one(self, signal: str, host: str) -> tuple[Subject, Values] | None:
        """The means of a signal without instances on a host; None if it was not recorded."""
        return next(iter(self.on(signal, host).items()), None)

    def bound(self, signal: str, subject: Subject) -> Bound:
        """From which value on a signal is near its capacity."""
        entry: dict[str, Any] = _DATA.get(signal) or {"ours": float("nan")}
        for rule in entry.get("rules", ()):
            finding = self._findings.get((rule, host_key(subject.host)))
            if finding is not None and finding.track is not None:
                source = finding.rule.sources[0]
                return Bound(limit_of(finding).limit, f"{source.document}, {source.place}")
        scale = 1.0
        if entry.get("per") == "processors":
            scale = self.review.facts.known(Subject(subject.host), "processors") or 1.0
        return Bound(entry["ours"] * scale, OURS)

    def is_linux(self, host: str) -> bool:
        """Whether the host was judged as one of Linux, whose share of time a disk is busy is one."""
        return any(one.pack.pack == "linux" and host in one.hosts for one in self.review.applied)

    def needed(self, resource: str, host: str) -> str:
        """The counters that tell how near a resource is to its capacity."""
        return _BOUNDS["needed"]["linux" if self.is_linux(host) else "windows"][resource]

    @cached_property
    def _findings(self) -> dict[tuple[str, str], Finding]:
        """A finding of each rule and host."""
        found: dict[tuple[str, str], Finding] = {}
        for one in self.review.findings:
            if one.subject is not None and one.track is not None:
                found.setdefault((one.rule.id, host_key(one.subject.host)), one)
        return found


def median(values: Values, part: Mask) -> float:
    """The median in a part of the run; NaN where nothing was recorded."""
    chosen = values[part & np.isfinite(values)]
    return float(np.median(chosen)) if len(chosen) else float("nan")


def _load() -> dict[str, Any]:
    return shipped_table("plimsoll.insights.limits", "bounds.yaml", dict[str, Any])


_BOUNDS = _load()
_DATA: dict[str, Any] = {**_BOUNDS["near"], **_BOUNDS["inside"]}
NEAR_RULES = frozenset(rule for one in _BOUNDS["near"].values() for rule in one.get("rules", ()))
EPISODES: tuple[str, ...] = tuple(_BOUNDS["episodes"])
INSIDE: tuple[str, ...] = tuple(_BOUNDS["inside"])
RESPONSE_TIMES: tuple[str, ...] = tuple(_BOUNDS["response_times"])
WITH: tuple[str, ...] = tuple(_BOUNDS["goes_with"])
WAITING_WORDS: tuple[str, ...] = tuple(_BOUNDS["waiting_words"])
USUAL_LINKS: tuple[float, ...] = tuple(_BOUNDS["usual_links"])
