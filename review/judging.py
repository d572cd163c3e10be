"""Every rule held against a run."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from hosts.facts import Facts, UnknownFact
from model.log import Log, Times
from model.remark import counted
from model.samples import Recorded, Samples
from model.sampling import other_intervals, sampling_interval
from model.series import Series
from model.times import words
from review.findings import CROSSED, Applied, Finding, Outcome, Question
from review.processes import with_processes
from review.recorded import drawn
from review.sentences import often
from review.superseded import supersede
from rules.crossings import longest_stretch, share_of_time, time_crossed
from rules.evaluate import Judge, Track, grid
from rules.fields import transformed
from rules.finder import Finder, Origin, Subject, Taken, has_object, host_of, host_tags, hosts_of
from rules.schema import Pack, Rule
from rules.states import State
from rules.where import fitted, wanted
from rules.wording import limit_text


def judge(logs: Sequence[Log], question: Question, facts: Facts) -> tuple[list[Finding], list[Applied]]:
    """Every rule of every pack that applies, for every host and instance, worst first."""
    bench = _Bench(logs, question, facts)
    findings: list[Finding] = []
    applied: list[Applied] = []
    for pack in question.packs:
        hosts, why = bench.hosts_for(pack)
        applied.append(Applied(pack, hosts, why))
        for rule in pack.rules:
            findings += bench.findings(pack, rule, hosts)
    weighed = supersede(findings, question.by_hand)
    return sorted(with_processes(weighed, question.signals, bench.recorded, question.phases), key=_rank), applied


class _Bench:
    """The run, ready to be judged rule by rule."""

    def __init__(self, logs: Sequence[Log], question: Question, facts: Facts) -> None:
        self._question = question
        self._facts = facts
        self._drives = {subject.key: holds for subject, holds in question.drives.items()}
        self._recorded = Recorded(logs)
        self._cache: dict[object, Samples] = {}
        self._hosts: dict[str, str] = {}
        self._host_series: dict[str, list[Series]] = {}
        self._host_times: dict[str, list[Times]] = {}
        tags = host_tags(question.signals)
        for log in logs:
            for host, name in hosts_of(log.series, tags).items():
                self._hosts.setdefault(host, name)
                self._host_times.setdefault(host, []).append(log.times)
        for series in self._recorded.series:
            self._host_series.setdefault(host_of(series, tags).casefold(), []).append(series)
        finder = Finder(question.signals, self._recorded.series, self._filled, facts.known)
        self._origins = finder.find
        self._judge = Judge(finder.find, self._samples, facts, question.phases)
        self._grids: dict[str, Times] = {}

    def _samples(self, series: Series) -> Samples:
        if series.key not in self._cache:
            self._cache[series.key] = self._recorded.samples(series)
        return self._cache[series.key]

    def _filled(self, series: Series) -> bool:
        return len(self._samples(series).present.times) > 0

    def hosts_for(self, pack: Pack) -> tuple[tuple[str, ...], str]:
        """The hosts a pack applies to, and why."""
        if pack.applies_to is None:
            return tuple(self._hosts.values()), "applies to every host"
        objects, measurements = pack.applies_to.objects, pack.applies_to.measurements
        hosts = tuple(
            name
            for host, name in self._hosts.items()
            if any(has_object(series, objects, measurements) for series in self._host_series[host])
        )
        names = ", ".join((*objects, *measurements))
        if pack.pack in self._question.by_hand:
            return (hosts or tuple(self._hosts.values())), "chosen by hand"
        return hosts, f"{names} recorded" if hosts else f"none of {names} recorded"

    def recorded(self, name: str, host: str) -> Iterator[tuple[str, Samples]]:
        """The instances of a signal on a host, with their samples in the part that is judged."""
        for subject, origin in self._origins(name).values() if name in self._question.signals else ():
            if subject.host.casefold() == host.casefold() and subject.instance is not None:
                samples = drawn(origin, self._samples)
                if samples is not None:
                    yield subject.instance, samples.between(self._question.start, self._question.end)

    def findings(self, pack: Pack, rule: Rule, hosts: Sequence[str]) -> Iterator[Finding]:
        """One rule of a pack for all hosts the pack applies to."""
        if not hosts:
            yield Finding(pack, rule, self._question.signals[rule.signal], Outcome.DOES_NOT_APPLY)
            return
        recorded: dict[str, list[tuple[Subject, Origin]]] = {}
        for subject, origin in self._origins(rule.signal).values():
            recorded.setdefault(subject.host.casefold(), []).append((subject, origin))
        for host in hosts:
            yield from self._on_host(pack, rule, host, recorded.get(host.casefold(), []))

    def _on_host(
        self, pack: Pack, documented: Rule, host: str, recorded: Sequence[tuple[Subject, Origin]]
    ) -> Iterator[Finding]:
        rule, override = self._question.overrides.of(documented, host)
        said = (override.note,) if override else ()
        signal = self._question.signals[rule.signal]
        bare = Finding(pack, rule, signal, Outcome.NOT_RECORDED, Subject(host), notes=said, override=override)
        if override and override.off:
            yield replace(bare, outcome=Outcome.OFF)
        elif not recorded:
            fitted = self._fitted(bare, host)
            yield fitted if fitted.outcome == Outcome.DOES_NOT_APPLY else bare
        elif (fitted := self._fitted(bare, host)).outcome != Outcome.NOT_RECORDED:
            yield fitted
        else:
            bare, rule = fitted, fitted.rule
            meant = [one for one in recorded if rule.drive is None or self._holds(one[0]) == rule.drive]
            if not meant:
                notes = (self._no_drive(rule, host, recorded), *bare.notes)
                yield replace(bare, outcome=Outcome.NOT_JUDGED, notes=notes, needs=f'drive = "{rule.drive}"')
            for subject, origin in meant:
                yield self._finding(replace(bare, subject=subject), subject, origin)

    def _fitted(self, bare: Finding, host: str) -> Finding:
        """The finding where the rule is for hosts like this one; else, with its outcome, why it is not judged."""
        found = fitted(bare.rule, partial(self._facts.known, Subject(host)))
        if found.outside:
            has = " and ".join(self._facts.explain(Subject(host), fact) for fact in found.rule.where)
            note = f"it is for {wanted(found.rule)}; {host} has {has}"
            if found.judged:
                return replace(bare, rule=found.rule, notes=(f"a note only: {note}", *bare.notes))
            return replace(bare, outcome=Outcome.DOES_NOT_APPLY, notes=(note, *bare.notes))
        if found.unknown is None:
            return bare
        missing, only = str(UnknownFact(found.unknown, host)), f"it is for {wanted(found.rule)}"
        match found.rule.where_unknown:
            case "judge":
                return replace(bare, notes=(f"{only}; {missing}", *bare.notes))
            case "info":
                note = f"a note only, as {found.unknown} is not known and {only}: give it in plimsoll.toml"
                return replace(bare, rule=found.rule, notes=(note, *bare.notes))
            case "skip":
                return replace(bare, outcome=Outcome.DOES_NOT_APPLY, notes=(only, missing, *bare.notes))
            case None:
                notes = (missing, only, *bare.notes)
                return replace(bare, outcome=Outcome.NOT_JUDGED, notes=notes, needs=found.unknown)

    def _holds(self, subject: Subject) -> str | None:
        return self._drives.get(subject.key)

    def _no_drive(self, rule: Rule, host: str, recorded: Sequence[tuple[Subject, Origin]]) -> str:
        """What to say where no recorded disk is marked as the rule wants it."""
        marked = [
            one.instance
            for one, holds in self._question.drives.items()
            if one.host.casefold() == host.casefold() and holds == rule.drive
        ]
        if not marked:
            return f'tell which drives hold the {rule.drive} in plimsoll.toml (drive = "{rule.drive}")'
        names = ", ".join(f'"{subject.instance}"' for subject, _ in recorded if subject.instance is not None)
        missing = ", ".join(f'"{one}"' for one in marked)
        return f'{missing} (drive = "{rule.drive}" in plimsoll.toml) is not recorded; recorded: {names or "no drives"}'

    def _finding(self, bare: Finding, subject: Subject, origin: Origin) -> Finding:
        rule = bare.rule
        try:
            track = self._judge.track(rule, subject, origin, self._grid(subject.host.casefold()))
        except UnknownFact as unknown:
            return replace(bare, outcome=Outcome.NOT_JUDGED, notes=(str(unknown), *bare.notes), needs=unknown.fact)
        found = replace(bare, outcome=outcome_of(rule, track), track=track, samples=self._drawn(origin, track))
        if found.stretch is not None and found.stretch < track.window:
            found = replace(found, seen=self._judge.seen(origin, track))
        return replace(found, notes=(*bare.notes, *self._notes(found, track)))

    def _grid(self, host: str) -> Times:
        if host not in self._grids:
            parts = self._host_times[host]
            times = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
            full = grid(times, reach=self._reach(host, parts))
            first = 0 if self._question.start is None else np.searchsorted(full, self._question.start, side="left")
            last = len(full) if self._question.end is None else np.searchsorted(full, self._question.end, side="right")
            self._grids[host] = full[first:last]
        return self._grids[host]

    def _reach(self, host: str, recordings: Sequence[Times]) -> int:
        """The longest window of any rule: that of the host's coarsest recording, where it is widened."""
        regular = [sampling_interval(times) or 0 for times in recordings]
        others = [part.interval for times in recordings for part in other_intervals(times)]
        widest = 2 * max([*regular, *others], default=0)
        documented = (rule for pack in self._question.packs for rule in pack.rules)
        judged = (self._question.overrides.of(rule, host)[0] for rule in documented)
        return max(widest, *(condition.over for rule in judged for condition in rule.conditions))

    def _drawn(self, origin: Origin, track: Track) -> Samples:
        if isinstance(origin, Taken) and not origin.rate:
            samples = self._samples(origin.series)
            return Samples(samples.times, transformed(samples.values, origin.transform)).between(
                self._question.start, self._question.end
            )
        return Samples(track.times, track.values)

    def _notes(self, finding: Finding, track: Track) -> tuple[str, ...]:
        rule = finding.rule
        notes: list[str] = []
        if finding.outcome == Outcome.OFTEN:
            notes.append(often(finding))
        if finding.outcome == Outcome.TOO_SHORT:
            notes.append(_too_short(finding))
        if not track.phase_known:
            notes.append(f"phase unknown: meant for the {rule.phase} phase, judged throughout")
        if finding.outcome == Outcome.NOT_JUDGED:
            notes.append(f"no {rule.phase} phase in the part that was judged")
        if track.window > rule.over:
            notes.append(
                f"window widened from {words(rule.over)} to {words(track.window)}, twice the sampling interval"
            )
        for one in track.other_windows:
            how = f"every {words(one // 2)}" if one > rule.over else "more often"
            notes.append(f"window of {words(one)} where the log was sampled {how}")
        if rule.scale:
            limit = limit_text(rule.healthy, finding.signal.unit, rule.scale)
            notes.append(f"limit {limit}: {self._facts.explain(track.subject, rule.scale)}")
        notes += self._weighed(rule, track.subject)
        if rule.measured_on:
            notes.append(f"measured on {rule.measured_on}")
        return tuple(notes)

    def _weighed(self, rule: Rule, subject: Subject) -> Iterator[str]:
        """What counts more than once in the rule's signal, and by which fact."""
        derived = self._question.signals[rule.signal].derived
        for name, weight in derived.weights.items() if derived else ():
            fact = self._facts.known(subject, weight.by)
            times = counted(round(weight.of(fact)), "time")
            by = f"{weight.by} = {fact:g} (plimsoll.toml)" if fact is not None else f"{weight.by} is not known"
            yield f"{self._question.signals[name].title.lower()} counted {times}: {by}"


def _too_short(finding: Finding) -> str:
    counts = f"is shorter than the {words(finding.rule.for_)} that count"
    if finding.crossings:
        part = "throughout" if finding.share_of_time == 1 else "for part of"
        return f"crossed {part} what was recorded, which {counts}"
    longest = words(finding.stretch) if finding.stretch else "one evaluation"
    return f"recorded for {longest} without a break, which {counts}"


def outcome_of(rule: Rule, track: Track) -> Outcome:
    """What became of a rule that was judged for a subject."""
    if not track.judged:
        never_inside = len(track.states) and bool((track.states == State.NOT_JUDGED).all())
        return Outcome.NOT_JUDGED if never_inside else Outcome.NO_DATA
    if (track.states == State.FIRING).any():
        return Outcome.CROSSED
    total, share = time_crossed(track), share_of_time(track) or 0.0
    if total and total >= rule.for_ and share >= rule.often:
        return Outcome.OFTEN
    return Outcome.TOO_SHORT if longest_stretch(track) < rule.for_ else Outcome.HELD


_SEVERITY = {"critical": 0, "warning": 1, "info": 2}
_OUTCOME = {outcome: at for at, outcome in enumerate(Outcome)} | {Outcome.OFTEN: 0}


def _rank(finding: Finding) -> tuple[object, ...]:
    """Worst first: crossed by severity and duration, held by margin, then what was not judged."""
    crossed = finding.outcome in CROSSED
    longest = max((one.duration for one in finding.breaches), default=0)
    margin = finding.margin
    subject = finding.subject
    return (
        _OUTCOME[finding.outcome],
        _SEVERITY[finding.rule.severity] if crossed or finding.outcome == Outcome.TOO_SHORT else 0,
        finding.outcome == Outcome.OFTEN,
        -longest,
        -finding.time_crossed if crossed else 0,
        -finding.times_past if crossed else 0,
        margin if margin is not None else float("inf"),
        finding.rule.id,
        subject.host.casefold() if subject else "",
        (subject.instance or "") if subject else "",
    )
