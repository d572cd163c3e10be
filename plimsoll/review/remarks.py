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
    """Yield a remark for each host with thresholds that were recorded for less than they must be crossed to count."""
    by_host: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.outcome == Outcome.TOO_SHORT and finding.subject:
            by_host.setdefault(finding.subject.host, []).append(finding)
    for host, items in by_host.items():
        items.sort(key=lambda finding: (not finding.severe, finding.rule.id))
        names = listed(
            list(dict.fromkeys(f"{finding.rule.id} ({duration_text(finding.rule.for_)})" for finding in items)), _MOST
        )
        text = (
            f"what was judged of {host} without a break is shorter than these thresholds must be crossed to count, "
            f"so they were not judged: {names}"
        )
        yield Remark(Kind.NOTED, text, count=len(items))


def not_recognised(unrecognised: Unrecognised) -> Remark:
    """Return a remark for an object whose counters' names are not known."""
    text = (
        f"{counted(unrecognised.counters, 'counter')} of {unrecognised.object} on {unrecognised.host} not recognised "
        f"({listed(unrecognised.names, _MOST_NAMES)}), so no limit of theirs is judged; where they are misspelled, "
        f"or in a language of Windows that is not known, name them with {Parameter.NAMES}"
    )
    return Remark(Kind.NOTED, text, count=unrecognised.counters)
