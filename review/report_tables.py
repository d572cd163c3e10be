"""The tables of a report: what held, what could not be judged, and what every judged signal did."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model.numbers import number, percent, quantity
from model.samples import Samples
from model.times import Zone, words
from review.axes import Scale, scale_for
from review.findings import Finding, Outcome
from review.gauge import level, water
from review.report_crossed import brief_crossings
from review.report_signals import Signals, subject_name
from review.review import Review
from review.sentences import extreme, how_long, limit_of, margin, threshold
from review.statistics import WHOLE_RUN, Figures, figures, weights_of
from review.wording import place, reason
from rules.signals import Subject

_SHOWN_ALIKE = 24  # instances listed below the worst of their kind, and how many of them in all
_SHOWN_ALIKE_IN_ALL = 400
_SHOWN_ALIKE_AT_LEAST = 3
_MOST_HELD_ROWS = 90  # with more rows than this, hosts are folded together as well
SHOWN_SUBJECTS = 8  # of one signal in the statistics
_MOST_STATISTICS = 120
_SHOWN_PLACES = 40


@dataclass(frozen=True)
class HeldRow:
    """A rule that held, or that was recorded too briefly to tell, for one subject."""

    rule: str
    title: str
    place: str
    worst: str
    extreme: str
    water: str | None
    threshold: str
    override: str
    margin: str
    crossed: str
    samples: str
    judged: str


@dataclass(frozen=True)
class HeldGroup:
    """The subject nearest its limit, and those like it, nearest first."""

    first: HeldRow
    alike: tuple[HeldRow, ...]
    count: int


@dataclass(frozen=True)
class Unjudged:
    """The rules of one pack in one state: id, title, the places it could not be judged for, and why."""

    pack: str
    why: str
    rules: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True)
class StatisticRow:
    """One signal of one subject in one phase."""

    title: str
    place: str
    unit: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class StatisticTable:
    """One phase; the signals left out are counted. `weighed` is whether samples weigh as much as their time."""

    phase: str
    span: str
    rows: tuple[StatisticRow, ...]
    hidden: int
    open: bool
    weighed: bool


def held(findings: Sequence[Finding]) -> tuple[HeldGroup, ...]:
    """A row for each rule and host, or for each rule where that would be too many, nearest to the limit first."""
    by_host = _grouped(findings, per_host=True)
    groups = by_host if len(by_host) <= _MOST_HELD_ROWS else _grouped(findings, per_host=False)
    ordered = sorted((sorted(group, key=_nearness) for group in groups), key=lambda group: _nearness(group[0]))
    shown = max(_SHOWN_ALIKE_AT_LEAST, min(_SHOWN_ALIKE, _SHOWN_ALIKE_IN_ALL // max(1, len(ordered))))
    return tuple(
        HeldGroup(_held_row(group[0]), tuple(map(_held_row, group[1 : 1 + shown])), len(group) - 1) for group in ordered
    )


def unjudged(review: Review, outcome: Outcome) -> tuple[Unjudged, ...]:
    """The findings of a state that was not judged, by pack and rule."""
    why = {applied.pack.pack: applied.why for applied in review.applied}
    packs: dict[str, list[Finding]] = {}
    for finding in review.of(outcome):
        packs.setdefault(finding.pack.pack, []).append(finding)
    return tuple(
        Unjudged(
            findings[0].pack.title,
            why.get(name, "") if outcome == Outcome.DOES_NOT_APPLY else "",
            tuple(
                (group[0].rule.id, group[0].signal.title, _places(group), why_not)
                for alike in _grouped(findings, per_host=False)
                for why_not, group in _by_reason(alike).items()
            ),
        )
        for name, findings in packs.items()
    )


def statistics(review: Review, signals: Signals, zone: Zone) -> tuple[StatisticTable, ...]:
    """The judged signals over the whole run and in each phase; the longest phase is unfolded."""
    chosen, hidden = _judged_signals(review, signals)
    if not chosen or review.start is None or review.end is None:
        return ()
    spans = [(WHOLE_RUN, review.start, review.end), *((p.name, p.start, p.end) for p in review.phases)]
    weights = [weights_of(samples) for *_, samples in chosen]
    longest = max(range(len(spans)), key=lambda at: (at > 0, spans[at][2] - spans[at][1]))
    return tuple(
        StatisticTable(
            name,
            f"{zone.span(start, end)}, {words(max(0, end - start))}",
            tuple(
                _statistic(title, where, figures(samples, weighing, start, end), unit)
                for (title, unit, where, samples), weighing in zip(chosen, weights, strict=True)
            ),
            hidden,
            at == longest,
            any(weighing is not None for weighing in weights),
        )
        for at, (name, start, end) in enumerate(spans)
    )


def _grouped(findings: Iterable[Finding], *, per_host: bool) -> list[list[Finding]]:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        host = finding.subject.host.casefold() if per_host and finding.subject else ""
        groups.setdefault((finding.rule.id, host), []).append(finding)
    return list(groups.values())


def _by_reason(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings of one rule by why it was not judged, where that is not said by the state itself."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(reason(finding), []).append(finding)
    return groups


def _nearness(finding: Finding) -> float:
    """Orders by how near the limit came; what has no measure of that stands last."""
    return finding.margin if finding.margin is not None else float("inf")


def _held_row(finding: Finding) -> HeldRow:
    return HeldRow(
        rule=finding.rule.id,
        title=finding.signal.title,
        place=place(finding),
        worst=quantity(finding.worst, finding.signal.unit),
        extreme=extreme(finding).removeprefix("highest").strip(),
        water=water(level(finding)),
        threshold=threshold(finding),
        override=finding.override.note if finding.override else "",
        margin=_margin(finding),
        crossed=how_long(finding) if finding.outcome == Outcome.TOO_SHORT else brief_crossings(finding),
        samples=number(len(finding.samples.present.times)) if finding.samples else "",
        judged=number(finding.track.judged) if finding.track else "",
    )


def _margin(finding: Finding) -> str:
    if finding.margin is None:
        return "–" if limit_of(finding).limit == 0 else ""
    return margin(finding)


def _places(group: Sequence[Finding]) -> str:
    names = [name for name in map(place, group) if name]
    more = f" and {number(len(names) - _SHOWN_PLACES)} more" if len(names) > _SHOWN_PLACES else ""
    return ", ".join(names[:_SHOWN_PLACES]) + more


def _judged_signals(review: Review, signals: Signals) -> tuple[list[tuple[str, str, str, Samples]], int]:
    """Title, unit, place and samples of what the rules judge; and how many of them are left out."""
    names = dict.fromkeys(f.rule.signal for f in review.findings if f.track is not None)
    chosen: list[tuple[str, str, str, Samples]] = []
    total = 0
    for name in names:
        signal, found = review.question.signals[name], signals.of(name)
        total += len(found)
        worst = sorted(found.items(), key=lambda item: _mean(item[1]), reverse=signal.worse != "lower")
        shown = sorted(worst[:SHOWN_SUBJECTS], key=lambda item: _by_name(item[0]))
        chosen += [(signal.title, signal.unit, subject_name(subject), samples) for subject, samples in shown]
    return chosen[:_MOST_STATISTICS], total - len(chosen[:_MOST_STATISTICS])


def _by_name(subject: Subject) -> tuple[str, str]:
    return subject.host.casefold(), subject.instance or ""


def _mean(samples: Samples) -> float:
    return float(samples.present.values.mean())


def _statistic(title: str, where: str, found: Figures, unit: str) -> StatisticRow:
    """Mean, p95, p99, highest, lowest, share and mean of the samples that are not zero, samples, missing."""
    counts = number(found.samples), number(found.missing)
    levels = (found.mean, found.p95, found.p99, found.maximum, found.minimum)
    scale = scale_for(max((abs(level) for level in levels if level is not None), default=0), unit)
    share = "–" if found.nonzero_share is None else percent(found.nonzero_share)
    cells = (*(_scaled(level, scale) for level in levels), share, _scaled(found.nonzero_mean, scale), *counts)
    return StatisticRow(title, where, scale.unit, cells)


def _scaled(value: float | None, scale: Scale) -> str:
    return "–" if value is None else number(value * scale.factor)
