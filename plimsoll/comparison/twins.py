"""Signals that measure one thing in two ways, whose outcomes must not contradict each other.

The time and the queue of one disk, or a total and its instances, are such twins. So are the failures and the response
times of one operation: what fails is often quick, and no better for it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from plimsoll.comparison.compared_signal import CERTAIN, Compared, ComparisonOutcome
from plimsoll.model.series import make_host_key

# What several signals measure.
_TOPICS = [re.compile(text) for text in (r"cpu\.", r"disk\.", r"client\.(response|in_flight)", r"\w+\.execution_time")]


def align_twins(compareds: Sequence[Compared]) -> list[Compared]:
    """Return the comparisons, where what is worse takes its twins along.

    A signal that runs of one build may explain is a regression if its twin is one. A response time that improved is a
    mere change if requests of the same subject failed more often.
    """
    worse = [c for c in compareds if c.outcome == ComparisonOutcome.REGRESSION and c.treatment.critical]
    failing = [c.subject.key for c in compareds if c.treatment.shape == "failures" and c.is_worse]
    return [_align(compared, worse, failing) for compared in compareds]


def _align(compared: Compared, worse: Sequence[Compared], failing: Sequence[tuple[str, str | None]]) -> Compared:
    is_quicker = compared.outcome == ComparisonOutcome.IMPROVEMENT and compared.treatment.shape == "all"
    if is_quicker and compared.subject.key in failing:
        return replace(compared, aligned=ComparisonOutcome.CHANGE)
    is_sure = compared.outcome == ComparisonOutcome.SPREAD and compared.difference.chance < CERTAIN
    if is_sure and compared.is_worse and any(_are_twins(compared, other) for other in worse):
        return replace(compared, aligned=ComparisonOutcome.REGRESSION)
    return compared


def _are_twins(compared: Compared, other: Compared) -> bool:
    """Return whether two signals are of one topic and one subject, or one is the host's total of the other's."""
    keys = compared.subject.key, other.subject.key
    same_host = make_host_key(keys[0][0]) == make_host_key(keys[1][0])
    same_place = same_host and (keys[0] == keys[1] or None in (keys[0][1], keys[1][1]))
    return same_place and any(topic.match(compared.name) and topic.match(other.name) for topic in _TOPICS)
