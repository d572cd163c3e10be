"""The signals a breached rule says to look at, drawn below the breach and aligned with it in time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.numbers import number, quantity
from model.samples import Samples
from review.chart import Chart, Frame, Line, draw
from review.findings import Finding
from review.report_signals import Signals, subject_name
from review.review import Review
from rules.crossings import Crossing
from rules.schema import Signal
from rules.signals import Subject

MOST = 5
OWN_SCALE = ("sum", "count", "increase")  # reduced values that are no level a sample could have
_LINES = 4
_FEWEST_STEPS = 80
_SHADED = 50
_IDLE = "idle"  # the process that stands for the time nothing ran
_OF_EVERY_HOST = ("cpu.", "memory.", "paging_file.", "disk.", "network.", "process.")


@dataclass(frozen=True)
class Neighbour:
    """One signal to look at."""

    title: str
    place: str
    said: str
    chart: Chart


@dataclass(frozen=True)
class Beside:
    """The signals to look at: those recorded are drawn, the others named."""

    drawn: tuple[Neighbour, ...]
    missing: tuple[str, ...]
    more: tuple[str, ...]


def beside_breaches(review: Review, signals: Signals, finding: Finding, frame: Frame, steps: int) -> Beside | None:
    """What to look at for a breached finding; None if its rule names nothing.

    A signal of another kind of host, such as the database behind a front end, is taken from those that have it.
    """
    if finding.subject is None or not finding.rule.look_at:
        return None
    drawn: list[Neighbour] = []
    missing: list[str] = []
    more: list[str] = []
    for name in finding.rule.look_at:
        signal = review.question.signals.get(name)
        recorded = signals.on(name, finding.subject.host)
        if not recorded and not name.startswith(_OF_EVERY_HOST):
            recorded = signals.of(name)
        if signal is None or not recorded:
            missing.append(signal.title if signal else name)
        elif len(drawn) == MOST:
            more.append(signal.title)
        else:
            limit = _limit(review, name)
            drawn.append(_neighbour(signal, recorded, finding, frame, steps, limit))
    return Beside(tuple(drawn), tuple(missing), tuple(more))


def _neighbour(
    signal: Signal,
    recorded: Mapping[Subject, Samples],
    finding: Finding,
    frame: Frame,
    steps: int,
    limits: Mapping[Subject, float],
) -> Neighbour:
    worst = _worst_first(recorded, finding, lower=signal.worse == "lower")
    first, samples = worst[0]
    said = _inside_and_outside(samples, finding, signal.unit)
    if len(recorded) > 1:
        said += f"; the first {len(worst)} of {number(len(recorded))} drawn" if len(recorded) > len(worst) else ""
    lines = [Line(subject_name(one), "other" if at else "samples", s) for at, (one, s) in enumerate(worst)]
    limit = limits.get(first)
    near = limit is not None and limit <= 1.25 * float(np.max(samples.present.values))
    return Neighbour(
        title=signal.title,
        place=subject_name(first),
        said=said,
        chart=draw(
            frame,
            lines[::-1],
            signal.unit,
            label=f"Chart: {signal.title} of {subject_name(first)}: {said}.",
            limit=(limit, f"threshold {quantity(limit, signal.unit)}") if near and limit is not None else None,
            breaches=((one.start, one.end, "") for one in _longest(finding)),
            severity=finding.rule.severity,
            steps=max(_FEWEST_STEPS, steps // 2 if len(lines) == 1 else steps // 4),
            marks=2,
        ),
    )


def _limit(review: Review, name: str) -> Mapping[Subject, float]:
    """The limits a signal is held against itself, by subject."""
    return {
        finding.subject: finding.track.healthy.limit
        for finding in review.findings
        if finding.rule.signal == name and finding.subject and finding.track and finding.rule.reduce not in OWN_SCALE
    }


def _worst_first(
    recorded: Mapping[Subject, Samples], finding: Finding, *, lower: bool
) -> Sequence[tuple[Subject, Samples]]:
    """The subjects that were worst while the breach lasted; the breached instance itself comes first."""
    own = finding.subject.instance if finding.subject else None

    def rank(item: tuple[Subject, Samples]) -> tuple[bool, bool, float]:
        instance, level = item[0].instance, _mean(item[1], finding, inside=True)
        level = -np.inf if level is None else -level if lower else level
        return (instance != own, (instance or "").casefold() == _IDLE, -level)

    return sorted(recorded.items(), key=rank)[:_LINES]


def _inside_and_outside(samples: Samples, finding: Finding, unit: str) -> str:
    inside, outside = _mean(samples, finding, inside=True), _mean(samples, finding, inside=False)
    parts = [f"mean {quantity(inside, unit)} while crossed"] if inside is not None else ["no samples while crossed"]
    parts += [f"{quantity(outside, unit)} otherwise"] if outside is not None else []
    return ", ".join(parts)


def _mean(samples: Samples, finding: Finding, *, inside: bool) -> float | None:
    """The mean of the samples inside, or outside, the breaches."""
    times, values = samples.present.times, samples.present.values
    starts = np.array([one.start for one in finding.breaches], dtype=np.int64)
    ends = np.array([one.end for one in finding.breaches], dtype=np.int64)
    at = np.searchsorted(starts, times, side="right") - 1
    within = (at >= 0) & (times <= ends[np.maximum(at, 0)])
    chosen = values[within if inside else ~within]
    return float(chosen.mean()) if len(chosen) else None


def _longest(finding: Finding) -> list[Crossing]:
    return sorted(finding.breaches, key=lambda one: -one.duration)[:_SHADED]
