"""Judges every rule of the packs on the logs of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from plimsoll.hosts.facts import Drives, Facts, UnknownFact
from plimsoll.model.counter_names.name_clues import is_esxtop
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Log, Times, find_other_intervals, find_sampling_interval, merge_times
from plimsoll.model.remark import format_count
from plimsoll.model.run import Phase, leave_out_planned
from plimsoll.model.samples import Samples
from plimsoll.model.series import LOAD_DRIVER, Series, make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.review.findings import CROSSED, Applied, Finding, Outcome, Question, sort_worst_first
from plimsoll.review.processes import add_processes
from plimsoll.review.recorded_signals import RecordedSignals, compute_signal_samples
from plimsoll.review.sentences import describe_often
from plimsoll.review.superseded import drop_stand_ins, supersede
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.host_filter import describe_hosts, fit_rule
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import ResolvedSeries, ResolvedSource, drop_request_rate
from plimsoll.rules.states import State, list_evaluation_times
from plimsoll.rules.subjects import Subject, find_host, has_object, list_host_tags, map_hosts
from plimsoll.rules.wording import limit_text


def judge(
    logs: Sequence[Log], whole: RecordedSignals, question: Question, facts: Facts, detected: Sequence[Phase] = ()
) -> tuple[list[Finding], list[Applied]]:
    """Return a finding for each rule, host and instance, worst first; and each pack with the hosts it was applied to.

    `whole` has the signals of the whole logs, since windows reach back before the judged part. `detected` are the
    phases to use if none are set by hand.
    """
    phases = question.phases or detected
    run = _RunJudge(logs, whole, question, facts, phases)
    findings: list[Finding] = []
    applied: list[Applied] = []
    for pack in question.packs:
        hosts, why = run.hosts_for(pack)
        applied.append(Applied(pack, hosts, why))
        for rule in pack.rules:
            findings += run.findings(pack, rule, hosts)
    findings = drop_stand_ins(findings)
    findings = supersede(findings, facts.find, question.by_hand)
    findings = add_processes(findings, question.signals, run.recorded, phases)
    return sort_worst_first(findings), applied


def find_crossed_before(
    logs: Sequence[Log], whole: RecordedSignals, question: Question, facts: Facts, judged: Sequence[Finding]
) -> tuple[Finding, ...]:
    """Return findings of rules for a phase: crossed if judged over the whole run, but not in the judged phases."""
    of_phases = [rule for pack in question.packs for rule in pack.rules if rule.phase]
    kept = {name for rule in of_phases for name in (rule.id, *rule.superseded_by)}
    packs = [replace(pack, rules=tuple(rule for rule in pack.rules if rule.id in kept)) for pack in question.packs]
    counted = {(finding.rule.signal, finding.subject) for finding in judged if finding.outcome in CROSSED}
    throughout, _ = judge(logs, whole, replace(question, packs=[pack for pack in packs if pack.rules]), facts)
    return tuple(
        finding
        for finding in throughout
        if finding.rule.phase
        and finding.severe
        and finding.outcome in CROSSED
        and (finding.rule.signal, finding.subject) not in counted
    )


class _RunJudge:
    """Judges the rules of one run; the evaluation times of each host are computed once."""

    def __init__(
        self, logs: Sequence[Log], whole: RecordedSignals, question: Question, facts: Facts, phases: Sequence[Phase]
    ) -> None:
        self._question = question
        self._facts = facts
        self._drives = {subject.key: holds for subject, holds in question.drives.items()}
        self._hosts: dict[str, str] = {}
        self._objects: dict[str, dict[object, Series]] = {}  # for each host, one series of each object
        self._host_times: dict[str, list[Times]] = {}
        tags = list_host_tags(question.signals)
        for log in logs:
            for host, name in map_hosts(log.series, tags).items():
                self._hosts.setdefault(host, name)
                self._host_times.setdefault(host, []).append(log.times)
        for series in whole.series:
            of_host = self._objects.setdefault(make_host_key(find_host(series, tags)), {})
            of_host.setdefault((series.measurement, series.tag("objectname")), series)
        for host, items in self._objects.items():
            # An ESXi host is judged by its own pack: its object Memory is not the one of Windows.
            of_esxtop = {key: series for key, series in items.items() if is_esxtop(series.tag("objectname") or "")}
            self._objects[host] = of_esxtop or items
        self._samples = whole.counter
        self._drawn_samples: dict[object, Samples | None] = {}  # by series and transform: rules share signals
        self._origins = whole.finder.find
        by_hand = bool(question.phases)
        self._judge = RuleEvaluator(
            self._origins, self._samples, facts, phases, question.signals, by_hand, question.planned
        )
        self._grids: dict[str, Times] = {}
        ends = {host: [int(times[-1]) for times in parts if len(times)] for host, parts in self._host_times.items()}
        self._ended = {
            host: min(max(last), question.end or max(last)) // SECOND * SECOND for host, last in ends.items() if last
        }
        self._begun: set[str] = set()  # hosts that were recorded before the judged part

    def hosts_for(self, pack: Pack) -> tuple[tuple[str, ...], str]:
        """Return the hosts to which a pack applies, and the reason as text."""
        # A host with results of a load driver alone is not a computer to judge, and an ESXi host has a pack of its own.
        computers = tuple(
            name
            for host, name in self._hosts.items()
            if any(
                series.measurement not in LOAD_DRIVER and not is_esxtop(series.tag("objectname") or "")
                for series in self._objects[host].values()
            )
        )
        if pack.applies_to is None:
            return computers, "applies to every host"
        objects, measurements = pack.applies_to.objects, pack.applies_to.measurements
        hosts = tuple(
            name
            for host, name in self._hosts.items()
            if any(has_object(series, objects, measurements) for series in self._objects[host].values())
        )
        names = ", ".join((*objects, *measurements))
        if pack.pack in self._question.by_hand:
            return hosts or computers, "chosen by hand"
        return hosts, f"{names} recorded" if hosts else f"none of {names} recorded"

    def recorded(self, name: str, host: str) -> Iterator[tuple[str, Samples]]:
        """Yield the instances of a signal on a host, with their samples in the judged part of the run."""
        for subject, origin in self._origins(name).values() if name in self._question.signals else ():
            if make_host_key(subject.host) == make_host_key(host) and subject.instance is not None:
                samples = compute_signal_samples(origin, self._samples)
                if samples is not None:
                    yield subject.instance, samples.between(self._question.start, self._question.end)

    def findings(self, pack: Pack, rule: Rule, hosts: Sequence[str]) -> Iterator[Finding]:
        """Yield the findings of one rule on all hosts its pack applies to."""
        if not hosts:
            yield Finding(pack, rule, self._question.signals[rule.signal], Outcome.DOES_NOT_APPLY)
            return
        recorded = group_pairs(
            (make_host_key(subject.host), (subject, origin)) for subject, origin in self._origins(rule.signal).values()
        )
        for host in hosts:
            yield from self._judge_on_host(pack, rule, host, recorded.get(make_host_key(host), []))

    def _judge_on_host(
        self, pack: Pack, documented: Rule, host: str, recorded: Sequence[tuple[Subject, ResolvedSource]]
    ) -> Iterator[Finding]:
        """Yield a rule's findings on a host; a single finding if the rule is off, unrecorded or not for the host."""
        rule, override = self._question.overrides.of(documented, host)
        signal = self._question.signals[rule.signal]
        notes = (override.note,) if override else ()
        bare = Finding(pack, rule, signal, Outcome.NOT_RECORDED, Subject(host), notes=notes, override=override)
        if override and override.off:
            yield replace(bare, outcome=Outcome.OFF)
        elif not recorded:
            fitted = self._fit_to_host(bare, host)
            yield fitted if fitted.outcome == Outcome.DOES_NOT_APPLY else bare
        elif (fitted := self._fit_to_host(bare, host)).outcome != Outcome.NOT_RECORDED:
            yield fitted
        else:
            bare, rule = fitted, fitted.rule
            subjects = [pair for pair in recorded if rule.drive is None or self._drives.get(pair[0].key) == rule.drive]
            if not subjects:
                notes = (
                    explain_missing_drive(rule, host, self._question.drives, [subject for subject, _ in recorded]),
                    *bare.notes,
                )
                yield replace(bare, outcome=Outcome.NOT_JUDGED, notes=notes, needs=f'drive = "{rule.drive}"')
            yield from self._judge_subjects(bare, subjects)

    def _fit_to_host(self, bare: Finding, host: str) -> Finding:
        """Return the finding; if `where` does not fit the host, with severity info, as unjudged, or as not applying."""
        subject = Subject(host)
        fit = fit_rule(bare.rule, partial(self._facts.find, subject))
        only = f"it is for {describe_hosts(fit.rule)}"
        if fit.outside:
            facts, where = self._facts, fit.rule.where
            has = " and ".join(facts.explain(subject, fact) for fact in where if facts.find(subject, fact) is not None)
            note = f"{only}; {host} has {has}"
            if fit.judged:
                return replace(bare, rule=fit.rule, notes=(f"a note only: {note}", *bare.notes))
            return replace(bare, outcome=Outcome.DOES_NOT_APPLY, notes=(note, *bare.notes))
        if fit.unknown is None:
            return bare
        missing = str(UnknownFact(fit.unknown, host))
        match fit.rule.where_unknown:
            case "judge":
                return replace(bare, notes=(f"{only}; {missing}", *bare.notes))
            case "info":
                note = f"a note only, as {fit.unknown} is not known and {only}: give it in plimsoll.toml"
                return replace(bare, rule=fit.rule, notes=(note, *bare.notes))
            case "skip":
                return replace(bare, outcome=Outcome.DOES_NOT_APPLY, notes=(only, missing, *bare.notes))
            case None:
                return replace(bare, outcome=Outcome.NOT_JUDGED, notes=(missing, only, *bare.notes), needs=fit.unknown)

    def _judge_subjects(self, bare: Finding, subjects: Sequence[tuple[Subject, ResolvedSource]]) -> Iterator[Finding]:
        """Yield the findings of a rule for the subjects of a host; a subject with an unknown fact is not judged."""
        host = make_host_key(bare.subject.host) if bare.subject else ""
        at = self._find_grid(host) if host else np.empty(0, dtype=np.int64)
        try:
            tracks = [
                *self._judge.evaluate_subjects(bare.rule, subjects, at, begun=host in self._begun, whole_windows=True)
            ]
        except UnknownFact as unknown:
            if len(subjects) == 1:
                notes = (str(unknown), *bare.notes)
                bare = replace(bare, subject=subjects[0][0])
                yield replace(bare, outcome=Outcome.NOT_JUDGED, notes=notes, needs=unknown.fact)
            else:
                for subject in subjects:
                    yield from self._judge_subjects(bare, [subject])
            return
        for (_, origin), track in zip(subjects, tracks, strict=True):
            yield self._make_finding(bare, origin, track)

    def _make_finding(self, bare: Finding, origin: ResolvedSource, track: RuleEvaluation) -> Finding:
        rule = bare.rule
        outcome, samples = find_outcome(rule, track), self._choose_drawn(origin, track)
        ended = self._ended.get(make_host_key(track.subject.host))
        sampled = None
        if rule.reduce == "mean" and rule.over and len(track.crossings):
            recorded = compute_signal_samples(drop_request_rate(origin), self._samples)
            part = recorded and recorded.between(self._question.start, self._question.end).present
            sampled = leave_out_planned(part, self._question.planned, (rule.id,)) if part else None
        is_short = track.judged and track.longest_stretch < track.window
        finding = replace(
            bare,
            subject=track.subject,
            outcome=outcome,
            track=track,
            samples=samples,
            sampled=sampled,
            ended=ended,
            covered=self._judge.coverage(origin, track) if is_short else None,
        )
        notes = list_notes(finding, track, self._facts, self._question.signals)
        return replace(finding, notes=(*bare.notes, *notes)) if notes else finding

    def _find_grid(self, host: str) -> Times:
        if host not in self._grids:
            parts = self._host_times[host]
            times = parts[0] if len(parts) == 1 else merge_times(parts)
            full = list_evaluation_times(times, reach=self._find_reach(host, parts))
            first = 0 if self._question.start is None else np.searchsorted(full, self._question.start, side="left")
            last = len(full) if self._question.end is None else np.searchsorted(full, self._question.end, side="right")
            if first:
                self._begun.add(host)
            self._grids[host] = full[first:last]
        return self._grids[host]

    def _find_reach(self, host: str, recordings: Sequence[Times]) -> int:
        """Return the longest window (ns) of any rule on a host, at least twice the host's longest sampling interval."""
        intervals = [find_sampling_interval(times) or 0 for times in recordings]
        intervals += [part.interval for times in recordings for part in find_other_intervals(times)]
        widest = 2 * max(intervals, default=0)
        documented = (rule for pack in self._question.packs for rule in pack.rules)
        judged = (self._question.overrides.of(rule, host)[0] for rule in documented)
        return max(widest, *(condition.over for rule in judged for condition in rule.conditions))

    def _choose_drawn(self, origin: ResolvedSource, track: RuleEvaluation) -> Samples:
        """Return the samples to draw: as recorded if the signal is a single series, else the judged values."""
        origin = drop_request_rate(origin)
        samples = None
        if isinstance(origin, ResolvedSeries) and not origin.rate:
            key = origin.series.key, id(origin.transform)
            if key not in self._drawn_samples:
                self._drawn_samples[key] = compute_signal_samples(origin, self._samples)
            samples = self._drawn_samples[key]
        if samples is None:
            return Samples(track.times, track.values)
        return samples.between(self._question.start, self._question.end)


def find_outcome(rule: Rule, track: RuleEvaluation) -> Outcome:
    """Return the outcome of a rule from its evaluation for a subject."""
    if not track.judged:
        outside_phase = len(track.states) and bool((track.states == State.NOT_JUDGED).all())
        return Outcome.NOT_JUDGED if outside_phase else Outcome.NO_DATA
    if track.longest_fired is not None:
        return Outcome.CROSSED
    total, share = track.time_crossed, track.share_of_time or 0.0
    if total and total >= rule.for_ and share >= rule.often:
        return Outcome.OFTEN
    return Outcome.TOO_SHORT if track.longest_stretch < rule.for_ else Outcome.WITHIN


def list_notes(finding: Finding, track: RuleEvaluation, facts: Facts, signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Return the notes on an evaluated rule, without the notes that the finding already has."""
    rule = finding.rule
    notes: list[str] = []
    if finding.outcome == Outcome.OFTEN:
        notes.append(describe_often(finding))
    if finding.outcome == Outcome.TOO_SHORT:
        notes.append(_explain_short_data(finding))
    if not track.is_phase_determined:
        notes.append(f"phase unknown: meant for the {rule.phase} phase, judged throughout")
    if finding.outcome == Outcome.NOT_JUDGED:
        notes.append(f"no {rule.phase} phase in the part that was judged")
    notes += _note_windows(rule, track)
    if rule.scale:
        limit = limit_text(rule.healthy, finding.signal.unit, rule.scale)
        notes.append(f"limit {limit}: {facts.explain(track.subject, rule.scale)}")
    notes += _note_weights(rule, track.subject, facts, signals)
    if rule.measured_on:
        notes.append(f"measured on {rule.measured_on}")
    return tuple(notes)


def explain_missing_drive(rule: Rule, host: str, drives: Drives, recorded: Sequence[Subject]) -> str:
    """Return why a rule with `drive` is not judged: no disk is marked for it, or no marked disk was recorded."""
    marked = [
        subject.instance
        for subject, holds in drives.items()
        if make_host_key(subject.host) == make_host_key(host) and holds == rule.drive
    ]
    if not marked:
        return f'tell which drives hold the {rule.drive} in plimsoll.toml (drive = "{rule.drive}")'
    names = ", ".join(f'"{subject.instance}"' for subject in recorded if subject.instance is not None)
    missing = ", ".join(f'"{name}"' for name in marked)
    return f'{missing} (drive = "{rule.drive}" in plimsoll.toml) is not recorded; recorded: {names or "no drives"}'


def _explain_short_data(finding: Finding) -> str:
    counts = f"is shorter than the {format_duration(finding.rule.for_)} that count"
    if finding.crossings:
        part = "throughout" if finding.share_of_time == 1 else "for part of"
        return f"crossed {part} what was recorded, which {counts}"
    longest = format_duration(finding.stretch) if finding.stretch else "one evaluation"
    return f"recorded for {longest} without a break, which {counts}"


def _note_windows(rule: Rule, track: RuleEvaluation) -> Iterator[str]:
    """Yield a note for each window that was widened because samples are too far apart."""
    if track.window > rule.over:
        widened = f"window widened from {format_duration(rule.over)} to {format_duration(track.window)}"
        yield f"{widened}, twice the sampling interval"
    for other_window in track.other_windows:
        text = f"every {format_duration(other_window // 2)}" if other_window > rule.over else "more often"
        yield f"window of {format_duration(other_window)} where the log was sampled {text}"


def _note_weights(rule: Rule, subject: Subject, facts: Facts, signals: Mapping[str, Signal]) -> Iterator[str]:
    """Yield a note on each weighted operand of the rule's signal: how many times it counts, and by which fact."""
    derived = signals[rule.signal].derived
    for name, weight in derived.weights.items() if derived else ():
        fact = facts.find(subject, weight.by)
        times = format_count(round(weight.of(fact)), "time")
        by = f"{weight.by} = {fact:g} (plimsoll.toml)" if fact is not None else f"{weight.by} is not known"
        yield f"{signals[name].title.lower()} counted {times}: {by}"
