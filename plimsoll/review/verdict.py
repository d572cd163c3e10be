"""The verdict on a run, the headline that explains it, and what was crossed, grouped by signal."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property

import numpy as np

from plimsoll.model.errors import escape
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.remark import capitalize, format_count, join_names
from plimsoll.model.run import Planned
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.review.findings import CROSSED, JUDGED, Doubt, Finding, Outcome
from plimsoll.review.judged_resources import describe_totals_alone
from plimsoll.review.sentences import (
    describe_breach,
    describe_counting,
    describe_crossing,
    describe_length,
    describe_phase,
    format_subject_title,
    format_threshold,
    format_worst,
    limit_of,
    name_place,
    should,
)
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.rules.subjects import is_total
from plimsoll.rules.wording import SEVERITIES, format_limit


@dataclass(frozen=True)
class Group:
    """The crossed findings on one signal, worst first.

    `not_counted` are the findings of old limits that a current rule supersedes, crossed or not, worst first. `judged`
    is the number of hosts on which a limit of the signal was judged.
    """

    signal: str
    findings: tuple[Finding, ...]
    not_counted: tuple[Finding, ...] = ()
    judged: int = 0

    @property
    def worst(self) -> Finding:
        """The worst finding."""
        return self.findings[0]

    @property
    def severity(self) -> Severity:
        """The severity of the group's worst finding."""
        return self.worst.rule.severity

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The hosts on which a limit of the signal was crossed, the worst first."""
        hosts: dict[str, str] = {}
        for finding in self.findings:
            if finding.subject:
                hosts.setdefault(make_host_key(finding.subject.host), finding.subject.host)
        return tuple(hosts.values())

    @property
    def on_hosts(self) -> str:
        """Text on how many of the judged hosts crossed a limit: `on 3 of 20 hosts`."""
        return f"on {len(self.hosts):,} of {self.judged:,} hosts"

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The crossed rules, worst first."""
        return tuple({finding.rule.id: finding.rule for finding in self.findings}.values())

    def instances_on(self, host: str) -> int:
        """Return the number of instances of a host that crossed a limit of the signal."""
        subjects = {finding.subject.key for finding in self.findings if finding.subject}
        return sum(key[0] == make_host_key(host) for key in subjects)


_BySignal = dict[str, list[Finding]]


class Verdict(StrEnum):
    """The verdict on a run."""

    HEALTHY = "healthy"
    NOT_HEALTHY = "not-healthy"
    UNKNOWN = "unknown"


VERDICT_TEXTS = {Verdict.HEALTHY: "Healthy.", Verdict.NOT_HEALTHY: "Not healthy.", Verdict.UNKNOWN: "Not known."}
_MOST_UNABLE = 3
_MINUTE, _DAY, _SAME_TIME = 60 * SECOND, 86_400 * SECOND, 4 * 3600 * SECOND  # our choice


def find_verdict(findings: Sequence[Finding], doubts: Sequence[Doubt]) -> Verdict:
    """Return NOT_HEALTHY if a severe threshold was crossed, UNKNOWN with a doubt or nothing judged, else HEALTHY."""
    severe = [finding for finding in findings if finding.severe]
    if any(finding.outcome in CROSSED for finding in severe):
        return Verdict.NOT_HEALTHY
    return Verdict.UNKNOWN if doubts or not any(finding.outcome in JUDGED for finding in severe) else Verdict.HEALTHY


def list_reasons(
    findings: Sequence[Finding], doubts: Sequence[Doubt], span: int, planned: Sequence[Planned] = ()
) -> tuple[str, ...]:
    """Return the reason for the verdict (worst crossing, first doubt, or closest finding), then the further sentences.

    `span` is the length of the run (ns). `planned` is planned work, which was not judged.
    """
    groups = [crossed_group for crossed_group in group_crossed(findings) if crossed_group.severity != "info"]
    answer = find_verdict(findings, doubts)
    if answer == Verdict.NOT_HEALTHY:
        reason, sentences = group_sentence(groups[0]), list[str]()
        reported = {(finding.rule.signal, finding.subject) for group in groups for finding in group.findings}
        doubts = [
            doubt
            for doubt in doubts
            if not doubt.about or (doubt.about.rule.signal, doubt.about.subject) not in reported
        ]
        total = (groups[0].worst.subject and groups[0].worst.subject.instance) or ""
        if is_total(total.replace("__", "_").removesuffix("_")):  # ASP.NET's is __Total__
            sentences += [f"Only {total} was recorded, the total of all: a single one may be far worse."]
        sentences += _advise_planned_work(groups[0])
        if further := len(groups) - 1:
            limits = "its limit" if further == 1 else "their limits"
            reason += f" {format_count(further, 'more signal')} crossed {limits}."
    elif answer == Verdict.UNKNOWN:
        within_limits = {(finding.rule.id, _name_host(finding)) for finding in _list_within_limits(findings)}
        kinds = "warning and critical" if len(within_limits) > 1 else "warning or critical"
        judged = f"{format_count(len(within_limits), f'{kinds} threshold')} held, but "
        judged = judged if within_limits else "No warning or critical threshold could be judged: "
        reason = f"{judged}{doubts[0].sentence}" if doubts else _describe_nothing_judged(findings)
        sentences, doubts = list[str](), doubts[1:]
    else:
        reason = _describe_closest(findings)
        sentences = [
            *_describe_unable(findings),
            *describe_totals_alone(findings),
            *_describe_sparse(findings, span - sum(work.end - work.start for work in planned if not work.rules)),
        ]
    return (
        reason,
        *sentences,
        *_describe_changed_limits(findings),
        *_describe_planned_work(planned),
        *(capitalize(doubt.sentence) for doubt in doubts),
    )


def _describe_changed_limits(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a sentence on the limits that plimsoll.toml changed (judged limits only) or switched off."""
    names = dict.fromkeys(
        finding.rule.id
        for finding in findings
        if finding.override
        and (finding.override.off or finding.rule != finding.override.documented)
        and finding.outcome in (*JUDGED, Outcome.TOO_SHORT, Outcome.OFF)
    )
    if names:
        yield f"plimsoll.toml changes {format_count(len(names), 'limit')}: {join_names(list(names), _MOST_UNABLE)}."


def _advise_planned_work(group: Group) -> Iterator[str]:
    """Yield advice for a signal that crossed limits at one time of day on two days or more, as by a backup."""
    starts = np.concatenate([finding.counted.starts for finding in group.findings])
    since = starts - starts[0] + _DAY // 2  # days end half a day from a crossing: a night with midnight in it is one
    days = len(set((since // _DAY).tolist()))
    if days > 1 and np.ptp(since % _DAY) <= _SAME_TIME:
        when = f"It was so at about the same time on {days} days"
        yield f"{when}. If that is a backup or other planned work, name it under [[run.except]] in plimsoll.toml."


def _describe_planned_work(planned: Sequence[Planned]) -> Iterator[str]:
    """Yield a sentence on the planned work in plimsoll.toml, which was not judged."""
    if planned:
        reasons = [f"{escape(work.reason)}, {format_duration(work.end - work.start)}" for work in planned]
        limits = {name for work in planned for name in work.rules}
        of = f" of {format_count(len(limits), 'limit')}" if all(work.rules for work in planned) else ""
        yield f"Planned work was not judged{of}: {join_names(reasons, 2)}."


def group_sentence(group: Group) -> str:
    """Return a sentence on a crossed signal, on one host or several: `... on 20 of 20 hosts, worst on WEB07: ...`."""
    worst = group.worst
    if worst.subject is None:
        raise ValueError(f"{worst.rule.id} has no subject")
    if len(group.hosts) == 1:
        instances = group.instances_on(worst.subject.host)
        title = format_subject_title(worst) + (f" (worst of {instances})" if instances > 1 else "")
        longer = _find_crossed_longer(group)
        return describe_breach(worst, title) if longer is None else f"{title} {_describe_both(worst, longer)}"
    where = f"{worst.signal.title} crossed its limit {group.on_hosts}, worst on {name_place(worst)}"
    return f"{where}, where it {describe_crossing(worst)}; it {should(worst)}."


def _find_crossed_longer(group: Group) -> Finding | None:
    """Return a finding on another limit of the worst subject that was crossed at least twice as long; else None."""
    worst = group.worst
    longer = [
        other
        for other in group.findings
        if other.subject == worst.subject
        and other.severe
        and other.track
        and _count_crossed(other) >= 2 * _count_crossed(worst)
        and limit_of(other) != limit_of(worst)
    ]
    return max(longer, key=_count_crossed, default=None)


def _count_crossed(finding: Finding) -> int:
    return int(finding.counted.durations.sum())


def _describe_both(worst: Finding, longer: Finding) -> str:
    """Return a clause on two limits: `went above 50 ms 2 times (19 min in all), and above 25 ms throughout; ...`."""
    unit = worst.signal.unit
    higher, lower = (format_limit(limit_of(finding).limit, unit) for finding in (worst, longer))
    side = "below" if limit_of(longer).worse == "lower" else "above"
    throughout = f"throughout{describe_phase(longer).removeprefix(' in')}"
    when = throughout if longer.share_of_time == 1 else describe_length(longer)
    first = describe_crossing(worst).partition(", and did not come back")[0].replace("its limit", higher, 1)
    return f"{first}, and {side} {lower} {when}; it {should(longer)}."


def _describe_nothing_judged(findings: Sequence[Finding]) -> str:
    if not any(finding.subject for finding in findings):
        return "No threshold applies: give counters of a host, too, or limits under [objective] in plimsoll.toml."
    if any(finding.outcome in JUDGED for finding in findings):
        return "None of the warning and critical thresholds could be judged: their counters are not in these logs."
    off = any(finding.outcome == Outcome.OFF for finding in findings)
    switched = ", or they are switched off in plimsoll.toml" if off else ""
    return f"None of the thresholds could be judged: their counters are not in these logs{switched}."


def _describe_closest(findings: Sequence[Finding]) -> str:
    """Return a sentence on the finding closest to its limit: crossed briefly, else with the least room."""
    within_limits = _list_within_limits(findings)
    which = "Every judged warning and critical" if len(within_limits) > 1 else "The one judged warning or critical"
    closest = find_closest(findings)
    if closest is None:
        return f"{which} threshold held."
    start = f"{which} threshold held; closest was"
    if closest.crossed_briefly:
        further = sum(finding.crossed_briefly for finding in within_limits) - 1
        return f"{start} {_describe_crossed_briefly(closest, further)}"
    worst = format_worst(closest, closest.nearest)
    return f"{start} {format_subject_title(closest)} with {worst}, limit {format_threshold(closest)}."


def _list_within_limits(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severe and finding.outcome == Outcome.WITHIN]


def find_closest(findings: Sequence[Finding]) -> Finding | None:
    """Return the finding closest to crossing: crossed briefly for longest, else with least room; None without one."""
    within_limits = _list_within_limits(findings)
    if briefly := [finding for finding in within_limits if finding.crossed_briefly]:
        return max(briefly, key=lambda finding: finding.share_of_time or 0)
    with_room = (finding for finding in within_limits if finding.room is not None)
    return min(with_room, key=lambda finding: finding.room or 0.0, default=None)


def _describe_crossed_briefly(closest: Finding, further: int) -> str:
    counts = f", and {describe_counting(closest)}" if closest.rule.for_ else ""
    were = "was" if further == 1 else "were"
    text = f" {format_count(further, 'other threshold')} {were} crossed briefly, too." if further else ""
    sentence = describe_breach(closest, f"{format_subject_title(closest)}, which").removesuffix(".")
    return f"{sentence}{counts}.{text}"


def _describe_sparse(findings: Sequence[Finding], span: int) -> Iterator[str]:
    """Yield a sentence on thresholds within limits with data for under half of the unplanned time (`span`, ns)."""
    names: dict[str, None] = {}
    for finding in findings:
        kept_to_phase = finding.rule.phase and finding.track is not None and finding.track.is_phase_determined
        if finding.severe and finding.outcome == Outcome.WITHIN and finding.track and not kept_to_phase:
            # Of windows longer than a minute, only whole ones are judged: the first reaches back.
            judged = finding.track.judged * EVALUATION_INTERVAL + max(0, finding.rule.over - _MINUTE)
            if 2 * judged < span:
                names[f"{format_subject_title(finding)} ({format_duration(judged)} of {format_duration(span)})"] = None
    if names:
        yield f"Judged for less than half of the run: {join_names(list(names), _MOST_UNABLE)}."


def _describe_unable(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield sentences on the warning and critical thresholds that could not have fired for lack of data or a phase."""
    unable = [finding for finding in findings if finding.severe and finding.cannot_fire]
    for reason, of_phase in (
        ("Too little was recorded to judge", False),
        ("The phase was not judged that is meant by", True),
    ):
        chosen = (finding for finding in unable if (finding.outcome == Outcome.NOT_JUDGED) == of_phase)
        if names := dict.fromkeys(f"{finding.signal.title} ({finding.rule.id})" for finding in chosen):
            yield f"{reason} {join_names(list(names), _MOST_UNABLE)}."


def group_crossed(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Return the crossed findings in groups by signal, the worst first; `findings` are sorted worst first.

    A crossed old limit belongs to the group of its signal, else to the group of a rule that supersedes it. If neither
    group exists, the old limit forms a group, unless a rule that supersedes it was judged: then it is set aside.
    """
    ordered = list(findings)
    by_signal, old, alone, _ = _split_by_kind(ordered)
    judged: dict[str, set[str]] = {}
    for finding in ordered:
        if finding.subject and finding.track:
            judged.setdefault(finding.rule.signal, set()).add(make_host_key(finding.subject.host))
    return tuple(
        Group(signal, tuple(findings), tuple(old.get(signal, ())), len(judged.get(signal, ())))
        for signal, findings in (by_signal | alone).items()
    )


def set_aside(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the crossed old limits that are in no group, as the current limits that replace them were not crossed."""
    return tuple(_split_by_kind(list(findings))[3])


def _split_by_kind(findings: Sequence[Finding]) -> tuple[_BySignal, _BySignal, _BySignal, list[Finding]]:
    """Return by signal: crossed limits, old limits that belong to them, and lone old limits; last, limits set aside."""
    by_signal: _BySignal = {}
    signal_of: dict[str, str] = {}
    judged: set[tuple[str, str]] = set()
    for finding in findings:
        if finding.outcome in CROSSED and not finding.superseded_by:
            by_signal.setdefault(finding.rule.signal, []).append(finding)
            signal_of.setdefault(finding.rule.id, finding.rule.signal)
        if finding.outcome in JUDGED and finding.subject:
            judged.add((finding.rule.id, finding.subject.key[0]))
    old: _BySignal = {}
    alone: _BySignal = {}
    aside: list[Finding] = []
    for finding in findings:
        if finding.superseded_by and finding.outcome in JUDGED:
            named = (signal_of[name] for name in finding.superseded_by if name in signal_of)
            signal = finding.rule.signal if finding.rule.signal in by_signal else next(named, None)
            if signal is not None:
                old.setdefault(signal, []).append(finding)
            elif finding.outcome in CROSSED and any(
                (name, _name_host(finding)) in judged for name in finding.superseded_by
            ):
                aside.append(finding)
            elif finding.outcome in CROSSED:
                alone.setdefault(finding.rule.signal, []).append(finding)
    return by_signal, old, alone, aside


def _name_host(finding: Finding) -> str:
    return finding.subject.key[0] if finding.subject else ""


def count_severities(groups: Iterable[Group]) -> str:
    """Return the number of groups of each severity: `1 critical, 2 warning`; empty without groups."""
    names = [group.severity for group in groups]
    return ", ".join(f"{names.count(severity):,} {severity}" for severity in SEVERITIES if severity in names)
