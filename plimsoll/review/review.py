"""A review: the logs of one run, judged by the packs that apply to its hosts."""

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property, partial

from plimsoll.hosts.facts import Facts
from plimsoll.model.counter_names.unrecognised import Unrecognised, find_unrecognised
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, Times
from plimsoll.model.remark import Remark, capitalize
from plimsoll.model.run import Phase, Run
from plimsoll.model.series import LOAD_DRIVER, Series, make_host_key
from plimsoll.model.times import Zone
from plimsoll.review import doubts
from plimsoll.review.coverage import Coverage, compute_coverage, remark_brief_recordings, remark_unrecognised
from plimsoll.review.findings import Applied, Doubt, Finding, Outcome, Question
from plimsoll.review.judged_resources import (
    describe_healthy,
    doubt_partly_recorded,
    doubt_unjudged,
    list_resources_judged_everywhere,
)
from plimsoll.review.judging import find_crossed_before, judge
from plimsoll.review.phases.found_phases import FoundPhases, Load, find_loads, find_phases
from plimsoll.review.phases.throughput_loss import ThroughputLoss, find_throughput_loss, list_costs
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_failures import FailureReason, find_failure_reasons, judge_failures
from plimsoll.review.recording.driver_tests import DriverClause, list_doubts
from plimsoll.review.recording.driver_waits import judge_waits
from plimsoll.review.recording.host_spans import (
    LONG_PAUSE,
    doubt_gone_services,
    doubt_pauses,
    doubt_restarts,
    find_pauses,
    find_rows_of_hosts,
    map_recordings,
)
from plimsoll.review.recording.host_work import describe_idle_hosts, find_host_work
from plimsoll.review.recording.impossible import (
    BadCounter,
    doubt_impossible_values,
    find_bad_counters,
    remark_below_zero,
    remark_impossible_values,
)
from plimsoll.review.recording.like_hosts import doubt_hosts_without_share
from plimsoll.review.recording.load_driver import (
    USERS,
    find_clock_offset,
    find_loaded_span,
    is_without_common_time,
    judge_end,
    remark_clock,
)
from plimsoll.review.recording.missing_fields import remark_missing_fields
from plimsoll.review.recording.standstill import doubt_frozen_counters, doubt_stopped_work
from plimsoll.review.recording.throughput_dips import judge_dips
from plimsoll.review.recording.zones import doubt_zones
from plimsoll.review.statistics import Statistic, compute_statistics
from plimsoll.review.unused_settings import list_missing_hosts, list_missing_instances, remark_unused_settings
from plimsoll.review.verdict import (
    VERDICT_TEXTS,
    Group,
    Verdict,
    find_verdict,
    group_crossed,
    list_reasons,
    set_aside,
)
from plimsoll.rules.subjects import Subject, find_host, list_host_tags, map_hosts


@dataclass(frozen=True)
class Review:
    """A run with everything found in it, from which all outputs are made.

    Attributes:
        phases_found: The phases found from the load; None if they are set by hand.
        throughput_loss: The work that fell although the load stayed, or that ended for an unknown reason.
        before_steady: Findings crossed only before the found steady state, which the verdict does not count.
        insight_doubts: Doubts from insights; plimsoll.insights adds them.
        ahead: Sentences on limits that will soon be reached; plimsoll.insights adds them.
    """

    logs: tuple[Log, ...]
    run: Run
    question: Question
    findings: tuple[Finding, ...]
    applied: tuple[Applied, ...]
    remarks: tuple[Remark, ...]
    facts: Facts
    signals: RecordedSignals = field(repr=False, compare=False)
    loads: tuple[Load, ...] = field(repr=False, compare=False)
    phases_found: FoundPhases | None = None
    throughput_loss: ThroughputLoss | None = None
    before_steady: tuple[Finding, ...] = ()
    insight_doubts: tuple[Doubt, ...] = ()
    ahead: tuple[str, ...] = ()

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the run: healthy, not healthy, or not known."""
        return find_verdict(self.findings, self.doubts)

    @property
    def headline(self) -> str:
        """The verdict and its reason, in sentences."""
        return f"{self.word} {self.answer}"

    @cached_property
    def word(self) -> str:
        """The verdict in words: `Healthy.`, or `Processors healthy; nothing else was judged.`"""
        if self.verdict != Verdict.HEALTHY:
            return VERDICT_TEXTS[self.verdict]
        return describe_healthy(self.findings, list_resources_judged_everywhere(self.findings, self.signals.has_values))

    @property
    def answer(self) -> str:
        """The reasons for the verdict as a text."""
        return " ".join(self.reasons)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The reason for the verdict, in a sentence or two; then further sentences, such as limits soon reached."""
        span = (self.end or 0) - (self.start or 0)
        findings = [finding for finding in self.findings if not self._has_nothing_to_share(finding)]
        reasons = list_reasons(findings, self.doubts, span, self.question.planned)
        return (*reasons, *self.question.scope, *self.of_load, *self.ahead)

    def _has_nothing_to_share(self, finding: Finding) -> bool:
        """Return whether a share has no value since its dividend is always 0, as that of a standby adapter."""
        derived = finding.signal.derived
        if finding.outcome != Outcome.NO_DATA or finding.subject is None or derived is None or not derived.ratio:
            return False
        dividend = self.signals.of(derived.ratio[0]).get(finding.subject)
        return dividend is not None and not dividend.present.values.any()

    @cached_property
    def of_load(self) -> tuple[str, ...]:
        """Sentences on failures, delays and pauses in the results of a load driver, and on hosts without work."""
        loss = self.throughput_loss
        if not loss and not self._dips:
            loss = find_throughput_loss(self.loads, *self._part, self.question.planned, is_slight=True)
        slight = [DriverClause(loss.clause)] if loss and not loss.doubt else []
        clauses = (*self._judged_requests, *self._dips, *slight, *self._judged_end)
        idle = () if self.question.in_operation or self.question.apart else describe_idle_hosts(self.signals)
        return (*(f"{capitalize(clause)}." for clause, advice in clauses if not advice), *idle)

    @cached_property
    def failure_reasons(self) -> Sequence[FailureReason]:
        """The most frequent reasons for failed requests of load drivers, and how many failed for each."""
        return find_failure_reasons(self.signals)

    @cached_property
    def _judged_requests(self) -> tuple[DriverClause, ...]:
        return (*judge_failures(self.signals, self.findings), *judge_waits(self.signals, self.findings))

    @cached_property
    def _dips(self) -> tuple[DriverClause, ...]:
        return tuple(judge_dips(self.signals, self.question.phases))

    @cached_property
    def request_doubts(self) -> tuple[Doubt, ...]:
        """Doubts about requests of a load driver that failed, were slow, or were too few."""
        lost = self.throughput_loss and self.throughput_loss.doubt
        return tuple(list_doubts((*self._judged_requests, *(() if lost else self._dips))))

    @cached_property
    def _judged_end(self) -> tuple[DriverClause, ...]:
        return () if self._zone_doubts else tuple(judge_end(self.signals, *self._part))

    @cached_property
    def doubts(self) -> tuple[Doubt, ...]:
        """Reasons not to call the run healthy even if nothing was crossed; the most serious first, without repeats."""
        too_short = tuple(doubts.doubt_short_data(self.findings))
        has_values, judged_by = self.signals.has_values, self.judged_by_found
        reasons = (
            *doubts.doubt_unread(self.remarks),
            *doubts.doubt_contradictions(self.remarks),
            *doubts.doubt_missing_hosts(self.missing_hosts),
            *doubts.doubt_missing_instances(self.missing_instances),
            *doubts.doubt_bad_values(self.bad_counters),
            *doubt_impossible_values(self.findings, self.bad_counters, self.signals.samples),
            *doubt_frozen_counters(self.signals, self.question.signals, self.hosts),
            *doubts.doubt_objective(self.findings),
            *self.request_doubts,
            *doubts.doubt_undecided(self.findings),
            *doubts.doubt_unfinished(self.findings, self.end, judged_by.ramp_down if judged_by else None),
            *doubts.doubt_across_gaps(self.findings),
            *self._zone_doubts,
            *self.interruptions,
            *list_doubts(self._judged_end),
            *doubts.doubt_apart_from_load(is_without_common_time(self.signals)),
            *doubts.doubt_unrecognised_names(self.maybe_needed),
            *too_short,
            *doubts.doubt_without_values(self.findings, has_values),
            *self.insight_doubts,
        )
        if find_verdict(self.findings, ()) != Verdict.NOT_HEALTHY:
            signals, resources = self.question.signals, self.question.resources
            reasons += tuple(doubts.doubt_without_conditions(self.findings, signals, self.signals.is_recorded))
            if not reasons:
                is_short = bool(too_short)
                unjudged = doubt_unjudged(self.findings, resources, self.applied, has_values, too_short=is_short)
                reasons = (*unjudged, *self.partly_recorded)
        return tuple(dict.fromkeys(reasons))  # two rules on one signal give the same sentence

    @cached_property
    def _zone_doubts(self) -> tuple[Doubt, ...]:
        partly = bool(self._partial_hosts) or is_without_common_time(self.signals)
        return tuple(doubt_zones(self.logs, self.signals, partly=partly))

    @cached_property
    def _partial_hosts(self) -> tuple[Doubt, ...]:
        loaded = None if is_without_common_time(self.signals) else find_loaded_span(self.signals)
        rows = find_rows_of_hosts(self.logs, self._part, loaded)
        interval, clock = max(self.intervals, default=0), partial(self.clock, self.zone)
        return tuple(doubts.doubt_partial_hosts(self.spans, rows, interval, clock))

    @cached_property
    def interruptions(self) -> tuple[Doubt, ...]:
        """Doubts about hosts that were not recorded throughout, were restarted, or stopped.

        A system in operation and its recorder may be restarted, so that only late or early ends of a host's recording,
        and pauses of at least a third of the time, are doubts.
        """
        apart, planned, clock = self._partial_hosts, self.question.planned, partial(self.clock, self.zone)
        if self.question.in_operation:
            return (*apart, *doubt_pauses(self._recordings, planned, 1 / 3, clock))
        tests, loss = self.phases_found.tests if self.phases_found else 0, self.throughput_loss
        lost = loss.doubt if loss else None
        if lost and loss and loss.ended:
            part = doubts.advise_part(clock, (self._part[0], loss.start), self._part)
            lost = replace(lost, advice=f"if it ended, {part}" if part else "")
        stopped = tuple(doubt_stopped_work(self.signals, self.question.signals, planned, tests))
        return (
            *apart,
            *((lost,) if lost and not stopped else ()),
            *doubt_pauses(self._recordings, planned, 0, clock),
            *doubt_restarts(self.signals, self.logs, self.remarks, planned),
            *stopped,
            *doubt_hosts_without_share(self.signals, planned),
            *doubt_gone_services(self.logs, self.hosts, self.host_of, self._part, self.question.packs, planned),
        )

    @cached_property
    def partly_recorded(self) -> tuple[Doubt, ...]:
        """Doubts about resources that were not recorded for a part of the run."""
        resources, signals = self.question.resources, self.signals
        return tuple(
            doubt_partly_recorded(self.findings, resources, signals.has_values, signals.times, self._recordings)
        )

    @cached_property
    def _recordings(self) -> dict[str, list[Times]]:
        """The times (UTC ns) of each recording of each host, in the reviewed part of the run."""
        return map_recordings(self.logs, self.hosts, self.host_of, self._part)

    @cached_property
    def pauses(self) -> list[tuple[int, int, str]]:
        """The samples (UTC ns) around each pause of a host's recorder, and the host; empty if all are short."""
        by_host = {host: find_pauses(parts, self.question.planned)[0] for host, parts in self._recordings.items()}
        pauses = [(start, end, host) for host, spans in by_host.items() for start, end in spans]
        return pauses if any(end - start >= LONG_PAUSE for start, end, _ in pauses) else []

    @cached_property
    def coverage(self) -> Coverage:
        """How many of the thresholds that apply were judged, and why the rest was not."""
        return compute_coverage(self.findings)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The crossed findings, grouped by signal, worst first."""
        return group_crossed(self.findings)

    @cached_property
    def set_aside(self) -> tuple[Finding, ...]:
        """Old limits that were crossed while the current limits that replace them were not."""
        return set_aside(self.findings)

    @cached_property
    def unrecognised(self) -> tuple[Unrecognised, ...]:
        """Counters with unknown names that look like counters of Windows in an unsupported language."""
        series = {series.key: series for log in self.logs for series in log.series}.values()
        named = ((recorded, self.host_of(recorded)) for recorded in series)
        return tuple(find_unrecognised(s if s.host == host else replace(s, host=host) for s, host in named))

    @cached_property
    def maybe_needed(self) -> tuple[Unrecognised, ...]:
        """Unrecognised counters of hosts on which a general rule lacks a counter; one of them may be that counter."""
        lacking = {
            make_host_key(finding.subject.host)
            for finding in self.of(Outcome.NOT_RECORDED)
            if finding.subject and finding.pack.applies_to is None
        }
        return tuple(unrecognised for unrecognised in self.unrecognised if make_host_key(unrecognised.host) in lacking)

    @cached_property
    def bad_counters(self) -> tuple[BadCounter, ...]:
        """Counters that rules may need but whose values cannot be used."""
        return find_bad_counters(self.logs, self.question.packs)

    def of(self, *outcomes: Outcome) -> list[Finding]:
        """Return the findings that have one of the given outcomes, worst first."""
        return [finding for finding in self.findings if finding.outcome in outcomes]

    @property
    def phases(self) -> Sequence[Phase]:
        """The phases of the run: set by hand, else found from its load; empty if unknown."""
        return self.phases_found.phases if self.phases_found else self.question.phases

    @property
    def judged_by_found(self) -> FoundPhases | None:
        """The found phases, if rules for a phase were judged in them; else None."""
        found_phases = self.phases_found
        return found_phases if found_phases and found_phases.sure and not self.question.whole_run else None

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The recorded computers, load drivers included, each spelled as first seen."""
        return tuple(map_hosts((series for log in self.logs for series in log.series), self._host_tags).values())

    @cached_property
    def computers(self) -> tuple[str, ...]:
        """The hosts, without hosts known only from the results of a load driver."""
        recorded = {
            make_host_key(self.host_of(series))
            for log in self.logs
            for series in log.series
            if series.measurement not in LOAD_DRIVER
        }
        return tuple(host for host in self.hosts if make_host_key(host) in recorded)

    @cached_property
    def spans(self) -> dict[str, tuple[int, int]]:
        """The first and the last sample (UTC ns) of each host in the reviewed part of the run."""
        items = self._recordings.items()
        return {
            host: (int(min(part[0] for part in parts)), int(max(part[-1] for part in parts))) for host, parts in items
        }

    @property
    def _part(self) -> tuple[int, int]:
        return self.start or 0, self.end or 0

    @cached_property
    def missing_hosts(self) -> tuple[str, ...]:
        """The expected hosts that were not recorded."""
        return list_missing_hosts(self.question.expected_hosts, self.hosts)

    @cached_property
    def missing_instances(self) -> tuple[Subject, ...]:
        """The instances that plimsoll.toml names on recorded hosts but no log has; empty if not all logs are given."""
        if not self.question.expected_hosts:
            return ()
        series = [series for log in self.logs for series in log.series]
        return list_missing_instances(
            self.facts.configured, self.hosts, ((self.host_of(series), series) for series in series)
        )

    @property
    def is_apart(self) -> bool:
        """Whether the hosts are not one system, so that each is examined separately."""
        return self.question.apart and len(self.hosts) > 1

    def only(self, host: str) -> "Review":
        """Return the review restricted to one of its hosts, with the phases that the load of the host shows."""
        key = make_host_key(host)
        logs: list[Log] = []
        for log in self.logs:
            pairs = zip(log.series, log.columns, strict=True)
            kept = [(series, column) for series, column in pairs if make_host_key(self.host_of(series)) == key]
            if kept:
                series, columns = zip(*kept, strict=True)
                logs.append(replace(log, series=series, columns=columns))
        findings = tuple(
            finding for finding in self.findings if finding.subject and make_host_key(finding.subject.host) == key
        )
        signals = RecordedSignals(logs, self.question, self.facts)
        loads = find_loads(signals, self.question.signals)
        start, end = _find_span(logs, self.question)
        phases, loss = self.phases_found, None
        if phases is not None and start is not None and end is not None:
            phases, loss = _find_phases_and_loss(signals, loads, self.question, start, end, self.zone)
        return replace(
            self,
            logs=tuple(logs),
            findings=findings,
            signals=signals,
            loads=loads,
            phases_found=phases,
            throughput_loss=loss,
        )

    def hosts_of(self, log: Log) -> tuple[str, ...]:
        """Return the computers in one log: of an agent that polled other computers, only the polled computers."""
        return tuple(map_hosts(log.series, self._host_tags).values())

    def clock(self, zone: Zone, instant: int) -> str:
        """Return a time of the run as text, with the date if the run spans several days."""
        start, end = self.start or instant, self.end or instant
        return zone.clock(instant, date=zone.local(start).date() != zone.local(end).date())

    def host_of(self, series: Series) -> str:
        """Return the computer to which a series belongs."""
        return find_host(series, self._host_tags)

    @cached_property
    def _host_tags(self) -> tuple[str, ...]:
        return list_host_tags(self.question.signals)

    @cached_property
    def zone(self) -> Zone:
        """The time zone for display: the zone of the first log that states one."""
        return _find_zone(self.logs)

    @cached_property
    def start(self) -> int | None:
        """The first instant reviewed (UTC ns); None if the logs have no rows."""
        return _find_span(self.logs, self.question)[0]

    @cached_property
    def end(self) -> int | None:
        """The last instant reviewed (UTC ns); None if the logs have no rows."""
        return _find_span(self.logs, self.question)[1]

    @cached_property
    def interval(self) -> int | None:
        """The shortest sampling interval (ns) of any log; None if no log has an interval."""
        return min((log.interval for log in self.logs if log.interval), default=None)

    @cached_property
    def intervals(self) -> tuple[int, ...]:
        """The sampling intervals (ns) of all logs, including the differing intervals within a log."""
        return tuple(interval for log in self.logs for interval in log.intervals)

    @cached_property
    def counters(self) -> int:
        """The number of distinct recorded series."""
        return len({series.key for log in self.logs for series in log.series})

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """Statistics of every series, over the whole run and in each phase."""
        return tuple(compute_statistics(self.logs, self.phases, self.question.start, self.question.end))


def review(logs: Sequence[Log], run: Run, question: Question, facts: Facts, remarks: Sequence[Remark] = ()) -> Review:
    """Judge the logs of one run. `remarks` are added to the remarks of the logs."""
    signals = RecordedSignals(logs, question, facts)
    loads = find_loads(signals, question.signals)
    start, end = _find_span(logs, question)
    phases, loss = None, None
    to_judge_by: tuple[Phase, ...] = ()
    if not question.phases and not question.in_operation and start is not None and end is not None:
        phases, loss = _find_phases_and_loss(signals, loads, question, start, end, _find_zone(logs))
        to_judge_by = phases.to_judge_by(start, end) if phases.sure and not question.whole_run else ()
    part = question.start is not None or question.end is not None
    whole = RecordedSignals(logs, replace(question, start=None, end=None), facts) if part else signals
    findings, applied = judge(logs, whole, question, facts, to_judge_by)
    remarks = (*(remark for log in logs for remark in log.remarks), *remarks)
    judged_review = Review(
        tuple(logs),
        run,
        question,
        tuple(findings),
        tuple(applied),
        remarks,
        facts,
        signals,
        loads,
        phases,
        loss,
        find_crossed_before(logs, whole, question, facts, findings) if to_judge_by else (),
    )
    review_remarks = (
        *(remark_unrecognised(unrecognised) for unrecognised in judged_review.unrecognised),
        *remark_below_zero(logs),
        *remark_impossible_values(findings, signals.samples),
        *remark_unused_settings(facts.configured, question, findings, judged_review.hosts),
        *remark_brief_recordings(findings),
        *remark_clock(find_clock_offset(signals)),
        *remark_missing_fields(signals, question.signals),
    )
    return replace(judged_review, remarks=(*remarks, *review_remarks))


def _find_zone(logs: Sequence[Log]) -> Zone:
    return next((log.zone for log in logs if log.zone.is_specified), logs[0].zone)


def _find_phases_and_loss(
    recorded: RecordedSignals, loads: Sequence[Load], question: Question, start: int, end: int, zone: Zone
) -> tuple[FoundPhases, ThroughputLoss | None]:
    """Return the phases and the loss of throughput of a run, else of the first host whose work fell.

    If work was lost while the offered load stayed, the offered load shows the phases. If the log seems to have several
    tests but its users (of a load driver) show a single test, the users show the phases.
    """
    groups = (loads, *([load] for load in find_host_work(recorded, question.signals)))
    costs = list_costs(recorded, question.signals)
    losses = (find_throughput_loss(group, start, end, question.planned, costs) for group in groups)
    loss = min(filter(None, losses), key=lambda loss: loss.doubt is None, default=None)
    by_offered = (loss.offered, *loads) if loss and loss.offered else loads
    phases = find_phases(by_offered, start, end, zone)
    users = [load for load in loads if load.name == USERS] if phases.tests else []
    by_users = find_phases(users, start, end, zone) if users else phases
    return by_users if by_users.phases and not by_users.tests else phases, loss


def _find_span(logs: Sequence[Log], question: Question) -> tuple[int | None, int | None]:
    """Return the first and last instant reviewed (UTC ns); None if the logs have no rows."""
    filled = [log.times for log in logs if len(log.times)]
    if not filled:
        return None, None
    first, last = min(int(times[0]) for times in filled), max(int(times[-1]) for times in filled)
    return max(first, question.start or first), min(last, question.end or last)
