"""The notes of a finding: what its judgement rests on, or what is needed to judge it."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.hosts.facts import Drives, Facts
from plimsoll.model.remark import counted
from plimsoll.model.series import host_key
from plimsoll.model.times import duration_text
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.sentences import often
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import limit_text


def notes_on(finding: Finding, track: RuleEvaluation, facts: Facts, signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Return the notes of a rule that was evaluated, without those that its finding has already."""
    rule = finding.rule
    notes: list[str] = []
    if finding.outcome == Outcome.OFTEN:
        notes.append(often(finding))
    if finding.outcome == Outcome.TOO_SHORT:
        notes.append(_too_short(finding))
    if not track.is_phase_determined:
        notes.append(f"phase unknown: meant for the {rule.phase} phase, judged throughout")
    if finding.outcome == Outcome.NOT_JUDGED:
        notes.append(f"no {rule.phase} phase in the part that was judged")
    notes += _windows(rule, track)
    if rule.scale:
        limit = limit_text(rule.healthy, finding.signal.unit, rule.scale)
        notes.append(f"limit {limit}: {facts.explain(track.subject, rule.scale)}")
    notes += _weights(rule, track.subject, facts, signals)
    if rule.measured_on:
        notes.append(f"measured on {rule.measured_on}")
    return tuple(notes)


def no_drive(rule: Rule, host: str, drives: Drives, recorded: Sequence[Subject]) -> str:
    """Why a rule for certain drives is not judged: none is marked so, or those that are marked were not recorded."""
    marked = [
        subject.instance
        for subject, holds in drives.items()
        if host_key(subject.host) == host_key(host) and holds == rule.drive
    ]
    if not marked:
        return f'tell which drives hold the {rule.drive} in plimsoll.toml (drive = "{rule.drive}")'
    names = ", ".join(f'"{subject.instance}"' for subject in recorded if subject.instance is not None)
    missing = ", ".join(f'"{name}"' for name in marked)
    return f'{missing} (drive = "{rule.drive}" in plimsoll.toml) is not recorded; recorded: {names or "no drives"}'


def _too_short(finding: Finding) -> str:
    counts = f"is shorter than the {duration_text(finding.rule.for_)} that count"
    if finding.crossings:
        part = "throughout" if finding.share_of_time == 1 else "for part of"
        return f"crossed {part} what was recorded, which {counts}"
    longest = duration_text(finding.stretch) if finding.stretch else "one evaluation"
    return f"recorded for {longest} without a break, which {counts}"


def _windows(rule: Rule, track: RuleEvaluation) -> Iterator[str]:
    """Yield where the window was widened because samples are too far apart for the documented one."""
    if track.window > rule.over:
        widened = f"window widened from {duration_text(rule.over)} to {duration_text(track.window)}"
        yield f"{widened}, twice the sampling interval"
    for other_window in track.other_windows:
        text = f"every {duration_text(other_window // 2)}" if other_window > rule.over else "more often"
        yield f"window of {duration_text(other_window)} where the log was sampled {text}"


def _weights(rule: Rule, subject: Subject, facts: Facts, signals: Mapping[str, Signal]) -> Iterator[str]:
    """Yield which operands of the rule's signal count more than once, and by which fact."""
    derived = signals[rule.signal].derived
    for name, weight in derived.weights.items() if derived else ():
        fact = facts.find(subject, weight.by)
        times = counted(round(weight.of(fact)), "time")
        by = f"{weight.by} = {fact:g} (plimsoll.toml)" if fact is not None else f"{weight.by} is not known"
        yield f"{signals[name].title.lower()} counted {times}: {by}"
