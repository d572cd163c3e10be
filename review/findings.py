"""Every rule held against a run: one finding for each rule and subject."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from model.log import Log, Times
from model.run import Phase
from model.samples import Recorded, Samples
from model.series import Series
from model.times import words
from review.facts import Facts, UnknownFact
from rules.crossings import Crossing, crossings, share_of_time, worst_value
from rules.evaluate import Judge, Track, grid
from rules.schema import Pack, Rule, Signal
from rules.signals import Finder, Origin, Subject, Taken, has_object
from rules.states import State


class Outcome(StrEnum):
    """What became of a rule for one subject; only the first two were judged."""

    CROSSED = "crossed"
    HELD = "held"
    NO_DATA = "no-data"
    NOT_JUDGED = "not-judged"
    NOT_RECORDED = "not-recorded"
    DOES_NOT_APPLY = "does-not-apply"


@dataclass(frozen=True, eq=False)
class Finding:
    """One rule for one subject. `subject` is None where the rule's pack applies to no host.

    `samples` are what a chart draws: the signal as recorded, in its unit.
    `notes` say what the judgement rests on: a widened window, an unknown phase, a host fact.
    """

    pack: Pack
    rule: Rule
    signal: Signal
    outcome: Outcome
    subject: Subject | None = None
    track: Track | None = None
    samples: Samples | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """All crossings, in time order."""
        return crossings(self.track) if self.track else ()

    @property
    def breaches(self) -> tuple[Crossing, ...]:
        """The crossings that fired."""
        return tuple(one for one in self.crossings if one.fired_at is not None)

    @property
    def brief(self) -> tuple[Crossing, ...]:
        """The crossings that ended before they fired."""
        return tuple(one for one in self.crossings if one.fired_at is None)

    @cached_property
    def worst(self) -> float:
        """The value nearest to, or furthest past, the limit; NaN without data."""
        return worst_value(self.track) if self.track else float("nan")

    @property
    def share_of_time(self) -> float | None:
        """True evaluations over evaluations with data."""
        return share_of_time(self.track) if self.track else None

    @property
    def margin(self) -> float | None:
        """How far the worst value stayed from the limit, as a share of the limit; None where it has no meaning."""
        if self.track is None or np.isnan(self.worst) or self.track.healthy.limit == 0:
            return None
        distance = self.worst - self.track.healthy.limit
        return (-distance if self.track.healthy.worse == "higher" else distance) / abs(self.track.healthy.limit)


@dataclass(frozen=True)
class Applied:
    """A pack and the hosts it was applied to, and why."""

    pack: Pack
    hosts: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Question:
    """What is to be judged: packs over phases, between two instants (UTC ns, None for open)."""

    packs: Sequence[Pack]
    signals: Mapping[str, Signal]
    phases: Sequence[Phase] = ()
    start: int | None = None
    end: int | None = None
    by_hand: bool = False


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
    return sorted(findings, key=_rank), applied


class _Bench:
    """The run, ready to be judged rule by rule."""

    def __init__(self, logs: Sequence[Log], question: Question, facts: Facts) -> None:
        self._question = question
        self._facts = facts
        self._recorded = Recorded(logs)
        self._cache: dict[object, Samples] = {}
        self._hosts: dict[str, str] = {}
        self._host_series: dict[str, list[Series]] = {}
        self._host_times: dict[str, list[Times]] = {}
        for log in logs:
            for series in log.series:
                self._hosts.setdefault(series.host.casefold(), series.host)
            for host in {series.host.casefold() for series in log.series}:
                self._host_times.setdefault(host, []).append(log.times)
        for series in self._recorded.series:
            self._host_series.setdefault(series.host.casefold(), []).append(series)
        finder = Finder(question.signals, self._recorded.series, lambda one: len(self._samples(one).present.times) > 0)
        self._origins = finder.find
        self._judge = Judge(finder.find, self._samples, facts, question.phases)
        self._grids: dict[str, Times] = {}

    def _samples(self, series: Series) -> Samples:
        if series.key not in self._cache:
            self._cache[series.key] = self._recorded.samples(series)
        return self._cache[series.key]

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
        if self._question.by_hand:
            return (hosts or tuple(self._hosts.values())), "chosen by --pack"
        return hosts, f"{names} recorded" if hosts else f"none of {names} recorded"

    def findings(self, pack: Pack, rule: Rule, hosts: Sequence[str]) -> Iterable[Finding]:
        """One rule of a pack for all hosts the pack applies to."""
        signal = self._question.signals[rule.signal]
        if not hosts:
            yield Finding(pack, rule, signal, Outcome.DOES_NOT_APPLY)
            return
        wanted = {host.casefold() for host in hosts}
        seen: set[str] = set()
        for subject, origin in self._origins(rule.signal).values():
            host = subject.host.casefold()
            if host in wanted:
                seen.add(host)
                yield self._finding(pack, rule, subject, origin)
        for host in hosts:
            if host.casefold() not in seen:
                yield Finding(pack, rule, signal, Outcome.NOT_RECORDED, Subject(host))

    def _finding(self, pack: Pack, rule: Rule, subject: Subject, origin: Origin) -> Finding:
        signal = self._question.signals[rule.signal]
        try:
            track = self._judge.track(rule, subject, origin, self._grid(subject.host.casefold()))
        except UnknownFact as unknown:
            return Finding(pack, rule, signal, Outcome.NOT_JUDGED, subject, notes=(str(unknown),))
        notes = self._notes(rule, track)
        return Finding(pack, rule, signal, _outcome(track), subject, track, self._drawn(origin, track), notes)

    def _grid(self, host: str) -> Times:
        if host not in self._grids:
            parts = self._host_times[host]
            times = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
            full = grid(times, reach=self._reach(times))
            first = 0 if self._question.start is None else np.searchsorted(full, self._question.start, side="left")
            last = len(full) if self._question.end is None else np.searchsorted(full, self._question.end, side="right")
            self._grids[host] = full[first:last]
        return self._grids[host]

    def _reach(self, times: Times) -> int:
        widest = 2 * (Samples(times, np.empty(0)).interval or 0)
        overs = (c.over for pack in self._question.packs for rule in pack.rules for c in rule.conditions)
        return max(widest, *overs)

    def _drawn(self, origin: Origin, track: Track) -> Samples:
        if isinstance(origin, Taken) and not origin.rate:
            samples = self._samples(origin.series)
            values = origin.transform.scale * samples.values + origin.transform.offset
            return Samples(samples.times, values).between(self._question.start, self._question.end)
        return Samples(track.times, track.values)

    def _notes(self, rule: Rule, track: Track) -> tuple[str, ...]:
        notes: list[str] = []
        if not track.phase_known:
            notes.append(f"phase unknown: meant for the {rule.phase} phase, judged throughout")
        if _outcome(track) == Outcome.NOT_JUDGED:
            notes.append(f"no {rule.phase} phase in the part that was judged")
        if track.window > rule.over:
            notes.append(
                f"window widened from {words(rule.over)} to {words(track.window)}, twice the sampling interval"
            )
        if rule.scale:
            notes.append(f"limit {rule.healthy} × {self._facts.explain(track.subject, rule.scale)}")
        if rule.measured_on:
            notes.append(f"measured on {rule.measured_on}")
        return tuple(notes)


def _outcome(track: Track) -> Outcome:
    if any(one.fired_at is not None for one in crossings(track)):
        return Outcome.CROSSED
    if track.judged:
        return Outcome.HELD
    never_inside = len(track.states) and bool((track.states == State.NOT_JUDGED).all())
    return Outcome.NOT_JUDGED if never_inside else Outcome.NO_DATA


_SEVERITY = {"critical": 0, "warning": 1, "info": 2}
_OUTCOME = {outcome: at for at, outcome in enumerate(Outcome)}


def _rank(finding: Finding) -> tuple[object, ...]:
    """Worst first: crossed by severity and duration, held by margin, then what was not judged."""
    longest = max((one.duration for one in finding.breaches), default=0)
    margin = finding.margin
    subject = finding.subject
    return (
        _OUTCOME[finding.outcome],
        _SEVERITY[finding.rule.severity] if finding.outcome == Outcome.CROSSED else 0,
        -longest,
        margin if margin is not None else float("inf"),
        finding.rule.id,
        subject.host.casefold() if subject else "",
        (subject.instance or "") if subject else "",
    )
