"""Counts the applicable thresholds that were judged, gives reasons for the rest, and remarks on missing data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.counter_names.unrecognised import Unrecognised
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, format_count, join_names
from plimsoll.model.series import make_host_key
from plimsoll.model.times import format_duration
from plimsoll.review.findings import JUDGED, Finding, Outcome

_MOST = 4  # thresholds that are named: the report and the JSON have all of them
_MOST_NAMES = 12  # of counters that are not known
Why = Literal["needs", "too-short", "no-data", "no-phase", "not-recorded", "off"]
# The words for one threshold and for several; reasons are named in this order.
_TEXTS: dict[Why, tuple[str, str]] = {
    "needs": ("needs {} in plimsoll.toml", "need {} in plimsoll.toml"),
    "too-short": ("was recorded too briefly", "were recorded too briefly"),
    "no-data": ("had no data", "had no data"),
    "no-phase": ("is for a phase that was not judged", "are for a phase that was not judged"),
    "not-recorded": ("was not recorded", "were not recorded"),
    "off": ("is switched off", "are switched off"),
}


@dataclass(frozen=True)
class UnjudgedReason:
    """The number of thresholds not judged for the reason `why`; `fact` names the missing fact if `why` is "needs"."""

    count: int
    why: Why
    fact: str | None = None

    @property
    def text(self) -> str:
        """The count and the reason: `2 need spindles in plimsoll.toml`."""
        return f"{self.count:,} {_TEXTS[self.why][self.count != 1].format(self.fact)}"


@dataclass(frozen=True)
class Coverage:
    """How many thresholds (a rule on a host) apply, and how many of them were judged for at least one instance."""

    thresholds: int
    judged: int
    hosts: int
    unjudged: tuple[UnjudgedReason, ...]

    @property
    def text(self) -> str:
        """A summary: `14 of 18 thresholds that apply were judged; 2 had no data, 3 were not recorded`."""
        if not self.thresholds:
            return "no threshold applies"
        apply = "that apply" if self.hosts == 1 else f"that apply to {self.hosts:,} hosts"
        if self.judged == self.thresholds:
            if self.judged == 1:
                return "the one threshold that applies was judged"
            return f"{'both' if self.judged == 2 else f'all {self.judged:,}'} thresholds {apply} were judged"
        verb = "was" if self.judged == 1 else "were"
        facts = {reason.fact: reason.count for reason in self.unjudged if reason.fact}
        needs = [UnjudgedReason(sum(facts.values()), "needs", join_names([*facts], _MOST))] if facts else []
        shown = (*needs, *(reason for reason in self.unjudged if not reason.fact))
        reasons = ", ".join(reason.text for reason in shown)
        return f"{self.judged:,} of {self.thresholds:,} thresholds {apply} {verb} judged; {reasons}"


def compute_coverage(findings: Iterable[Finding]) -> Coverage:
    """Return how many thresholds of a review were judged; rules that do not apply are not counted."""
    by_threshold = group_pairs(
        ((finding.rule.id, make_host_key(finding.subject.host)), finding)
        for finding in findings
        if finding.subject and finding.outcome != Outcome.DOES_NOT_APPLY
    )
    reasons: Counter[tuple[Why, str | None]] = Counter()
    judged = 0
    for group in by_threshold.values():
        if any(finding.outcome in JUDGED for finding in group):
            judged += 1
        else:
            reasons[min(map(_explain_finding, group), key=_rank_reason)] += 1
    ordered = sorted(reasons.items(), key=lambda item: _rank_reason(item[0]))
    hosts = len({host for (_, host), group in by_threshold.items() if group[0].pack.pack != OBJECTIVE})
    return Coverage(len(by_threshold), judged, hosts, tuple(UnjudgedReason(n, why, fact) for (why, fact), n in ordered))


def _rank_reason(reason: tuple[Why, str | None]) -> tuple[int, str]:
    return [*_TEXTS].index(reason[0]), reason[1] or ""


def _explain_finding(finding: Finding) -> tuple[Why, str | None]:
    if finding.outcome == Outcome.NOT_JUDGED:
        return ("needs", finding.needs) if finding.needs else ("no-phase", None)
    reasons: dict[Outcome, Why] = {Outcome.TOO_SHORT: "too-short", Outcome.NO_DATA: "no-data", Outcome.OFF: "off"}
    return reasons.get(finding.outcome, "not-recorded"), None


def remark_brief_recordings(findings: Sequence[Finding]) -> Iterator[Remark]:
    """Yield, for each host, a remark on rules whose crossings must last longer than the host was recorded."""
    by_host = group_pairs(
        (finding.subject.host, finding)
        for finding in findings
        if finding.outcome == Outcome.TOO_SHORT and finding.subject
    )
    for host, too_short in by_host.items():
        too_short.sort(key=lambda finding: (not finding.severe, finding.rule.id))
        names = dict.fromkeys(f"{finding.rule.id} ({format_duration(finding.rule.for_)})" for finding in too_short)
        text = f"what was judged of {host} without a break is shorter than these thresholds must be crossed to count"
        named = join_names(list(names), _MOST)
        yield Remark(Kind.NOTED, f"{text}, so they were not judged: {named}", count=len(too_short))


def remark_unrecognised(unrecognised: Unrecognised) -> Remark:
    """Return a remark on the counters of a performance object that have unknown names."""
    text = (
        f"{format_count(unrecognised.counters, 'counter')} of {unrecognised.object} on {unrecognised.host} not "
        "recognised "
        f"({join_names(unrecognised.names, _MOST_NAMES)}), so no limit of theirs is judged; where they are misspelled, "
        f"or in a language of Windows that is not known, name them with {Parameter.NAMES}"
    )
    return Remark(Kind.NOTED, text, count=unrecognised.counters)
