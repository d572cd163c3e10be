"""Remarks of a review beside those of its logs: what was recorded too briefly, and names that are not known."""

from collections.abc import Iterator, Sequence

from plimsoll.model.counter_names.unrecognised import Unrecognised
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, counted, listed
from plimsoll.model.times import duration_text
from plimsoll.review.findings import Finding, Outcome

_MOST = 4  # thresholds that are named: the report and the JSON have all of them
_MOST_NAMES = 12  # of counters that are not known


def recorded_too_briefly(findings: Sequence[Finding]) -> Iterator[Remark]:
    """A remark for each host with thresholds that were recorded for less than they must be crossed to count."""
    by_host: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.outcome == Outcome.TOO_SHORT and finding.subject:
            by_host.setdefault(finding.subject.host, []).append(finding)
    for host, found in by_host.items():
        found.sort(key=lambda one: (not one.severe, one.rule.id))
        names = listed(list(dict.fromkeys(f"{one.rule.id} ({duration_text(one.rule.for_)})" for one in found)), _MOST)
        text = (
            f"what was judged of {host} without a break is shorter than these thresholds must be crossed to count, "
            f"so they were not judged: {names}"
        )
        yield Remark(Kind.NOTED, text, count=len(found))


def not_recognised(one: Unrecognised) -> Remark:
    """A remark for an object whose counters' names are not known."""
    text = (
        f"{counted(one.counters, 'counter')} of {one.object} on {one.host} not recognised "
        f"({listed(one.names, _MOST_NAMES)}), so no limit of theirs is judged; where they are misspelled, or in a "
        f"language of Windows that is not known, name them with {Parameter.NAMES}"
    )
    return Remark(Kind.NOTED, text, count=one.counters)
